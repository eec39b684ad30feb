// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters_test.c - suite livemm-counters
 */
#include <kunit/test.h>

#include <linux/smp.h>

#include "../module/counters.c"

#define COUNTERS_NR	3

static struct lmm_policy counters_policy;

static u64 counters_read(unsigned int counter)
{
	return lmm_counter_read(counters_policy.counters, counter);
}

static int counters_test_init(struct kunit *test)
{
	counters_policy.nr_counters = COUNTERS_NR;
	counters_policy.counters = lmm_counters_alloc(COUNTERS_NR);
	return counters_policy.counters ? 0 : -ENOMEM;
}

static void counters_test_exit(struct kunit *test)
{
	free_percpu(counters_policy.counters);
}

static void counters_test_start_at_zero(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < COUNTERS_NR; i++)
		KUNIT_EXPECT_EQ(test, 0ULL, counters_read(i));
}

static void counters_add_two(void *arg)
{
	lmm_count(&counters_policy, 1, 2);
}

static void counters_test_sum_over_cpus(struct kunit *test)
{
	on_each_cpu(counters_add_two, NULL, 1);
	KUNIT_EXPECT_EQ(test, 2ULL * num_online_cpus(), counters_read(1));
	KUNIT_EXPECT_EQ(test, 0ULL, counters_read(0));
	KUNIT_EXPECT_EQ(test, 0ULL, counters_read(2));
}

static void counters_test_beyond_32_bits(struct kunit *test)
{
	lmm_count(&counters_policy, 2, U32_MAX);
	lmm_count(&counters_policy, 2, U32_MAX);
	lmm_count(&counters_policy, 2, 2);
	KUNIT_EXPECT_EQ(test, 1ULL << 33, counters_read(2));
}

/* A possible CPU that was never online has counters too. */
static void counters_test_every_possible_cpu(struct kunit *test)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(counters_policy.counters, cpu)[0] = cpu + 1;
	KUNIT_EXPECT_EQ(test, (u64)nr_cpu_ids * (nr_cpu_ids + 1) / 2, counters_read(0));
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
