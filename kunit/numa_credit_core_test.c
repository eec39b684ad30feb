// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_credit_core_test.c - the account of scans
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/prandom.h>

#include "../module/policy/numa/core_credit.c"

#define CREDIT_STRIDE	16

/* The kernel's own scan, by a thread that has run for its period of @own_ms. */
static struct numa_ask own_ask(u32 own_ms, u32 elapsed_ms)
{
	return (struct numa_ask){ own_ms, own_ms, elapsed_ms, false };
}

/*
 * A process of two threads that sleep for 6/7 of the time, as traced on 6.1: when a thread asks, in
 * ms since the first ask; the period of a pass then.  The kernel makes the first three scans, the
 * policy two of these, and then samples only.
 */
static void a_mostly_idle_process_has_a_pass_less(struct kunit *test)
{
	static const struct {
		u32 elapsed_ms, ran_ms, own_ms, period_ms;
		bool brought, full, covers;
	} asks[] = {
		{ 0, 1000, 1000, 1000, false, true, false },
		{ 13952, 2000, 2000, 250, false, true, false },
		/* By the clock the period of 5.2 s is over. */
		{ 6552, 2600, 2600, 5200, false, false, true },
		{ 3880, 507, 4000, 8000, true, false, true },
		/* As is the period of 8 s here. */
		{ 4860, 586, 4946, 8004, true, false, true },
	};
	struct numa_credit credit = { };
	int i;

	for (i = 0; i < ARRAY_SIZE(asks); i++) {
		const struct numa_ask ask = {
			asks[i].ran_ms, asks[i].own_ms, asks[i].elapsed_ms, asks[i].brought,
		};
		/* Nothing was scanned before the first pass, so no period is asked for. */
		u32 period_ms = i ? asks[i].period_ms : 0;

		numa_credit_ask(&credit, &ask);
		KUNIT_EXPECT_EQ_MSG(test, numa_credit_full(&credit, period_ms), asks[i].full,
				    "ask %d", i);
		if (asks[i].full)
			numa_credit_pass(&credit);
		numa_credit_spend(&credit, asks[i].full ? 1 : CREDIT_STRIDE);
		/* Is the next sampling scan brought forward? */
		KUNIT_EXPECT_EQ_MSG(test, numa_credit_covers(&credit, CREDIT_STRIDE),
				    asks[i].covers, "ask %d", i);
	}
}

/* A thread that never sleeps: full passes are as far apart as the clock says. */
static void a_busy_process_runs_by_the_clock(struct kunit *test)
{
	const struct numa_ask own = own_ask(1000, 1000);
	const struct numa_ask half = { 500, 1000, 500, true };
	struct numa_credit credit = { };

	numa_credit_ask(&credit, &own);
	numa_credit_spend(&credit, 1);
	numa_credit_pass(&credit);
	numa_credit_ask(&credit, &own);
	KUNIT_EXPECT_TRUE(test, numa_credit_full(&credit, 1000));
	KUNIT_EXPECT_FALSE(test, numa_credit_full(&credit, 1001));
	numa_credit_spend(&credit, CREDIT_STRIDE);
	numa_credit_ask(&credit, &half);
	KUNIT_EXPECT_FALSE(test, numa_credit_full(&credit, 1501));
	/* 15/16 of a scan are left. */
	KUNIT_EXPECT_FALSE(test, numa_credit_full(&credit, 1500));
	numa_credit_spend(&credit, CREDIT_STRIDE);
	numa_credit_ask(&credit, &half);
	/* Two halves make a scan of the kernel's. */
	KUNIT_EXPECT_TRUE(test, numa_credit_full(&credit, 2000));
	KUNIT_EXPECT_EQ(test, credit.saved, 2 * NUMA_CREDIT_SCAN - 2 * NUMA_CREDIT_SCAN / 16);
	numa_credit_pass(&credit);
	KUNIT_EXPECT_FALSE(test, numa_credit_full(&credit, 1));
}

/* Bounds of the account. */
static void the_account_has_bounds(struct kunit *test)
{
	const struct numa_ask never_ran = { 0, 0, 0, true };
	struct numa_ask ask = own_ask(1000, 60000);
	struct numa_credit credit = { };
	int i;

	KUNIT_EXPECT_FALSE(test, numa_credit_covers(&credit, 1));
	KUNIT_EXPECT_FALSE(test, numa_credit_covers(&credit, U32_MAX));
	/* Scans that must be made empty the account, and are owed. */
	numa_credit_spend(&credit, 1);
	KUNIT_EXPECT_EQ(test, credit.saved, 0U);
	KUNIT_EXPECT_EQ(test, credit.owed, NUMA_CREDIT_SCAN);
	for (i = 0; i < 99; i++)
		numa_credit_spend(&credit, 1);
	KUNIT_EXPECT_EQ(test, credit.owed, NUMA_CREDIT_MAX);
	credit.owed = NUMA_CREDIT_SCAN;
	/* A period of 0 divides nothing: the kernel scans at each tick. */
	numa_credit_ask(&credit, &never_ran);
	KUNIT_EXPECT_EQ(test, credit.saved, NUMA_CREDIT_SCAN);
	/* Half of what is left pays at the next scan, not of the scan itself. */
	KUNIT_EXPECT_EQ(test, credit.owed, NUMA_CREDIT_SCAN);
	numa_credit_ask(&credit, &never_ran);
	KUNIT_EXPECT_EQ(test, credit.saved, 3 * NUMA_CREDIT_SCAN / 2);
	KUNIT_EXPECT_EQ(test, credit.owed, NUMA_CREDIT_SCAN / 2);
	for (i = 0; i < 99; i++)
		numa_credit_ask(&credit, &ask);
	KUNIT_EXPECT_EQ(test, credit.saved, NUMA_CREDIT_MAX);
	KUNIT_EXPECT_EQ(test, credit.busy_ms, 99000U);
	/* No more CPU time than time; and busy_ms does not wrap. */
	ask = own_ask(U32_MAX, U32_MAX);
	numa_credit_ask(&credit, &ask);
	KUNIT_EXPECT_EQ(test, credit.busy_ms, U32_MAX);
	ask = own_ask(U32_MAX, 7);
	numa_credit_pass(&credit);
	numa_credit_ask(&credit, &ask);
	KUNIT_EXPECT_EQ(test, credit.busy_ms, 7U);
}

/*
 * Whatever is asked for: scans that the account covers are never more than the kernel's own would
 * have been.
 */
static void never_more_than_the_kernel(struct kunit *test)
{
	struct numa_credit credit = { };
	struct rnd_state rnd;
	u64 kernel = 0, made = 0;
	int i;

	prandom_seed_state(&rnd, 11);
	for (i = 0; i < 20000; i++) {
		u32 own = 100 + prandom_u32_state(&rnd) % 4000;
		bool brought = prandom_u32_state(&rnd) % 4;
		u32 ran = brought ? prandom_u32_state(&rnd) % own : own;
		u32 stride = prandom_u32_state(&rnd) % 3 ? CREDIT_STRIDE : 1;
		const struct numa_ask ask = { ran, own, ran, brought };

		numa_credit_ask(&credit, &ask);
		kernel += (u64)ran * NUMA_CREDIT_SCAN / own;
		if (numa_credit_covers(&credit, stride)) {
			numa_credit_spend(&credit, stride);
			made += NUMA_CREDIT_SCAN / stride;
		}
		KUNIT_ASSERT_LE(test, made, kernel);
	}
	/* And not far fewer. */
	KUNIT_EXPECT_GT(test, made, kernel / 3);
}

/* A process of one scan in which alarms follow one another, and what has become of it. */
struct row_of_alarms {
	u32 own_ms, gap_ms, samples, stride;
	bool brought;
	u64 ran_ms, made;
};

/* The @nth scan since an alarm: the first three full if the account allows, then samples. */
static bool scan_after_alarm(struct numa_credit *credit, struct row_of_alarms *row, u32 nth)
{
	u32 ms = row->brought ? row->gap_ms : row->own_ms;
	const struct numa_ask ask = { ms, row->own_ms, ms, row->brought };
	bool full, alarm = nth == 2 + row->samples;

	row->ran_ms += ms;
	numa_credit_ask(credit, &ask);
	/* The scan may have been brought forward for a sample. */
	full = nth < 3 && numa_credit_answers(credit, 1);
	numa_credit_spend(credit, full ? 1 : row->stride);
	row->made += NUMA_CREDIT_SCAN / (full ? 1 : row->stride);
	row->brought = nth < 2 || alarm ? numa_credit_answers(credit, 1) :
					  numa_credit_covers(credit, row->stride);
	return full;
}

/*
 * Pages that move to and fro: each alarm helps by chance, and after some samples, brought forward,
 * comes the next.  All scans together are never more than the kernel's and the largest debt.
 */
static void alarms_in_a_row_stay_within_the_debt(struct kunit *test)
{
	struct row_of_alarms rows[] = {
		{ 60000, 500, 7, 16 }, { 60000, 500, 1, 16 }, { 60000, 15000, 3, 4 },
		{ 10000, 500, 1, 16 }, { 1000, 100, 1, 16 }, { 1000, 100, 0, 16 },
		{ 1000, 100, 2, 1 },
	};
	int i, scans;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct numa_credit credit = { };

		for (scans = 0; scans < 10000; scans++) {
			u32 nth = scans % (3 + rows[i].samples);
			bool full = scan_after_alarm(&credit, &rows[i], nth);

			/* The first alarms are answered at once. */
			KUNIT_ASSERT_TRUE(test, full || nth > 2 || scans > 12);
			KUNIT_ASSERT_LE(test, rows[i].made,
					(rows[i].ran_ms / rows[i].own_ms + 1) * NUMA_CREDIT_SCAN +
					NUMA_CREDIT_MAX);
		}
	}
}

/* In debt as out of debt, a scan in the kernel's own period may be a full one. */
static void a_debt_leaves_the_kernels_own_scans(struct kunit *test)
{
	static const u32 strides[] = { 1, 4, 16 };
	const struct numa_ask own = own_ask(1000, 1000);
	int i, round;

	for (i = 0; i < ARRAY_SIZE(strides); i++) {
		struct numa_credit credit = { .owed = NUMA_CREDIT_MAX };

		KUNIT_EXPECT_FALSE(test, numa_credit_answers(&credit, 1));
		for (round = 0; round < 100; round++) {
			numa_credit_ask(&credit, &own);
			KUNIT_EXPECT_TRUE(test, numa_credit_full(&credit, 1000));
			KUNIT_EXPECT_TRUE(test, numa_credit_answers(&credit, 1));
			numa_credit_spend(&credit, strides[i]);
		}
		KUNIT_EXPECT_EQ(test, credit.owed, strides[i] == 1 ? NUMA_CREDIT_MAX : 0U);
	}
}

/* After an alarm a small process is scanned soon; a larger one where a scan was saved. */
static void an_alarm_of_a_large_process_is_covered(struct kunit *test)
{
	const u32 most = NUMA_CREDIT_MAX / NUMA_CREDIT_SCAN;
	struct numa_credit credit = { };

	KUNIT_EXPECT_TRUE(test, numa_credit_alarm(&credit, most));
	KUNIT_EXPECT_FALSE(test, numa_credit_alarm(&credit, most + 1));
	credit.saved = NUMA_CREDIT_SCAN;
	KUNIT_EXPECT_TRUE(test, numa_credit_alarm(&credit, most + 1));
	/* But for the first scan. */
	credit.saved = 0;
	KUNIT_EXPECT_TRUE(test, numa_credit_answers(&credit, most + 1));
}

static struct kunit_case numa_credit_core_cases[] = {
	KUNIT_CASE(an_alarm_of_a_large_process_is_covered),
	KUNIT_CASE(alarms_in_a_row_stay_within_the_debt),
	KUNIT_CASE(a_debt_leaves_the_kernels_own_scans),
	KUNIT_CASE(a_mostly_idle_process_has_a_pass_less),
	KUNIT_CASE(a_busy_process_runs_by_the_clock),
	KUNIT_CASE(the_account_has_bounds),
	KUNIT_CASE(never_more_than_the_kernel),
	{ }
};

static struct kunit_suite numa_credit_core_suite = {
	.name = "livemm_numa_credit_core",
	.test_cases = numa_credit_core_cases,
};
