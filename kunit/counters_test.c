// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters_test.c - suite livemm-counters
 */
#include <kunit/test.h>

#include <linux/smp.h>

#include "../module/counters.c"

#define COUNTERS_NR	3

static int counters_test_init(struct kunit *test)
{
	struct lmm_policy *policy;

	policy = kunit_kzalloc(test, sizeof(*policy), GFP_KERNEL);
	if (!policy)
		return -ENOMEM;
	policy->nr_counters = COUNTERS_NR;
	policy->counters = lmm_counters_alloc(COUNTERS_NR);
	test->priv = policy;
	return policy->counters ? 0 : -ENOMEM;
}

static void counters_test_exit(struct kunit *test)
{
	struct lmm_policy *policy = test->priv;

	if (policy)
		free_percpu(policy->counters);
}

static void counters_test_start_at_zero(struct kunit *test)
{
	struct lmm_policy *policy = test->priv;
	unsigned int i;

	for (i = 0; i < COUNTERS_NR; i++)
		KUNIT_EXPECT_EQ(test, 0ULL, lmm_counter_read(policy->counters, i));
}

static void counters_add_two(void *arg)
{
	lmm_count(arg, 1, 2);
}

static void counters_test_sum_over_cpus(struct kunit *test)
{
	struct lmm_policy *policy = test->priv;

	on_each_cpu(counters_add_two, policy, 1);
	KUNIT_EXPECT_EQ(test, 2ULL * num_online_cpus(), lmm_counter_read(policy->counters, 1));
	KUNIT_EXPECT_EQ(test, 0ULL, lmm_counter_read(policy->counters, 0));
	KUNIT_EXPECT_EQ(test, 0ULL, lmm_counter_read(policy->counters, 2));
}

static void counters_test_beyond_32_bits(struct kunit *test)
{
	struct lmm_policy *policy = test->priv;

	lmm_count(policy, 2, U32_MAX);
	lmm_count(policy, 2, U32_MAX);
	lmm_count(policy, 2, 2);
	KUNIT_EXPECT_EQ(test, 1ULL << 33, lmm_counter_read(policy->counters, 2));
}

/* A possible CPU that was never online has counters too. */
static void counters_test_every_possible_cpu(struct kunit *test)
{
	struct lmm_policy *policy = test->priv;
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(policy->counters, cpu)[0] = cpu + 1;
	KUNIT_EXPECT_EQ(test, (u64)nr_cpu_ids * (nr_cpu_ids + 1) / 2,
			lmm_counter_read(policy->counters, 0));
}

static void counters_test_none(struct kunit *test)
{
	u64 __percpu *none = lmm_counters_alloc(0);

	KUNIT_EXPECT_TRUE(test, none);
	free_percpu(none);
}

static struct kunit_case lmm_counters_cases[] = {
	KUNIT_CASE(counters_test_start_at_zero),
	KUNIT_CASE(counters_test_sum_over_cpus),
	KUNIT_CASE(counters_test_beyond_32_bits),
	KUNIT_CASE(counters_test_every_possible_cpu),
	KUNIT_CASE(counters_test_none),
	{}
};

static struct kunit_suite lmm_counters_suite = {
	.name = "livemm-counters",
	.init = counters_test_init,
	.exit = counters_test_exit,
	.test_cases = lmm_counters_cases,
};
