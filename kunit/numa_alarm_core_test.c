// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_alarm_core_test.c - which samples are an alarm
 */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../module/policy/numa/core_alarm.c"

/* Percent that an area never sampled is expected to have. */
#define ALARM_RATE	10

static void areas_of_a_process(struct kunit *test)
{
	/* Turn, stride, scans of this pass before and of a pass, and the area. */
	static const struct {
		u32 turn, stride, scan, scans;
		unsigned int area;
	} cases[] = {
		/* A small process: its slices. */
		{ 0, 16, 0, 1, 0 }, { 1, 16, 0, 1, 1 }, { 15, 16, 0, 1, 15 }, { 16, 16, 0, 1, 0 },
		{ 511, 512, 0, 1, 63 }, { 7, 512, 0, 1, 0 }, { 8, 512, 0, 1, 1 },
		/* A larger one: places, and slices of each. */
		{ 0, 16, 1, 4, 16 }, { 3, 16, 3, 4, 51 }, { 15, 16, 3, 4, 63 },
		{ 15, 16, 0, 32, 1 }, { 7, 16, 31, 32, 62 },
		/* Very large: places alone. */
		{ 5, 16, 0, 256, 0 }, { 5, 16, 3, 256, 0 }, { 5, 16, 4, 256, 1 },
		{ 5, 16, 255, 256, 63 }, { 9, 16, 70, 100, 44 },
		/* A pass had more scans than its size says. */
		{ 0, 16, 9, 4, 48 }, { U32_MAX, 512, U32_MAX, U32_MAX, 63 },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, numa_sample_area(cases[i].turn, cases[i].stride,
							   cases[i].scan, cases[i].scans),
				    cases[i].area, "case %d", i);
}

/* Samples of areas, a second after each other, and what is said of each. */
static void alarms_one_by_one(struct kunit *test)
{
	static const struct {
		unsigned int area, share;
		enum numa_verdict verdict;
	} samples[] = {
		/* As expected by the rate of all, and up to 20 points above. */
		{ 0, 0, NUMA_AS_EXPECTED }, { 1, 30, NUMA_AS_EXPECTED },
		/* More: full passes, and the same area again.  It helped. */
		{ 2, 31, NUMA_ALARM }, { 2, 15, NUMA_AS_EXPECTED },
		{ 3, 100, NUMA_ALARM }, { 3, 50, NUMA_AS_EXPECTED },
		/* It did not: this area is known, and others are not believed for a time. */
		{ 4, 100, NUMA_ALARM }, { 4, 51, NUMA_HELD_BACK },
		{ 5, 100, NUMA_HELD_BACK }, { 4, 71, NUMA_AS_EXPECTED },
		/* Which teaches half of the way. */
		{ 5, 75, NUMA_AS_EXPECTED },
	};
	struct numa_alarm alarm = { };
	u32 now = U32_MAX - 5000;
	int i;

	for (i = 0; i < ARRAY_SIZE(samples); i++, now += 1000)
		KUNIT_EXPECT_EQ_MSG(test, numa_alarm_judge(&alarm, samples[i].area,
							   samples[i].share, ALARM_RATE, now),
				    samples[i].verdict, "sample %d", i);
	/* While it is not known whether it helped, there is no other alarm. */
	alarm = (struct numa_alarm){ };
	KUNIT_EXPECT_EQ(test, numa_alarm_judge(&alarm, 0, 90, ALARM_RATE, now), NUMA_ALARM);
	KUNIT_EXPECT_EQ(test, numa_alarm_judge(&alarm, 1, 90, ALARM_RATE, now), NUMA_HELD_BACK);
	/* Nor in the time after a pass without an answer. */
	numa_alarm_unanswered(&alarm, now);
	KUNIT_EXPECT_EQ(test, numa_alarm_judge(&alarm, 2, 90, ALARM_RATE, now + 29999),
			NUMA_HELD_BACK);
	KUNIT_EXPECT_EQ(test, numa_alarm_judge(&alarm, 3, 90, ALARM_RATE, now + 30000),
			NUMA_ALARM);
	/* Without an alarm there is nothing to answer. */
	alarm = (struct numa_alarm){ };
	numa_alarm_unanswered(&alarm, now);
	KUNIT_EXPECT_EQ(test, alarm.wait_ms, 0U);
}

/*
 * Full passes of a large process take minutes.  When memory has moved, and is remote again by then,
 * the alarm has helped, and there is another one.  Where nothing moved the alarm was in vain.
 */
static void a_change_after_long_passes_is_an_alarm(struct kunit *test)
{
	static const struct {
		u32 after_ms;
		u64 moved;
		enum numa_verdict elsewhere, there;
	} answers[] = {
		{ 30000, 1000, NUMA_ALARM, NUMA_ALARM },
		{ 164000, 8000, NUMA_ALARM, NUMA_ALARM },
		{ 164000, 999, NUMA_HELD_BACK, NUMA_HELD_BACK },
		{ 29999, 8000, NUMA_HELD_BACK, NUMA_HELD_BACK },
	};
	u32 now = U32_MAX - 5000;
	int i;

	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		struct numa_alarm alarm = { }, again;

		KUNIT_ASSERT_EQ(test, numa_alarm_judge(&alarm, 21, 100, ALARM_RATE, now),
				NUMA_ALARM);
		alarm.moved = 500;
		now += answers[i].after_ms;
		numa_alarm_expire(&alarm, 500 + answers[i].moved, 8000, now);
		again = alarm;
		KUNIT_EXPECT_EQ_MSG(test, numa_alarm_judge(&alarm, 0, 100, ALARM_RATE, now),
				    answers[i].elsewhere, "answer %d", i);
		KUNIT_EXPECT_EQ_MSG(test, numa_alarm_judge(&again, 21, 100, ALARM_RATE, now),
				    answers[i].there, "answer %d", i);
	}
}

/* A process of one scan, sampled as the glue does: after an alarm the same slice once more. */
#define SAMPLED_STRIDE	16
#define SAMPLED_GAP_MS	1000
#define SAMPLED_FULL_MS	1500	/* full passes after an alarm */

struct sampled_process {
	struct numa_alarm alarm;
	u32 turn;
	u32 now_ms;
	u32 alarms;
	u32 last_ms;	/* when the last alarm was */
	u32 most;	/* alarms in any 60 s */
	u32 times[1000];
};

static void process_sample(struct sampled_process *process, const u8 *share)
{
	unsigned int area = numa_sample_area(process->turn, SAMPLED_STRIDE, 0, 1), first;
	bool again = process->alarm.pending;

	process->now_ms += SAMPLED_GAP_MS;
	if (numa_alarm_judge(&process->alarm, area, share[area], ALARM_RATE, process->now_ms) !=
	    NUMA_ALARM) {
		if (again)
			numa_alarm_unanswered(&process->alarm, process->now_ms);
		process->turn++;
		return;
	}
	process->times[process->alarms++] = process->now_ms;
	for (first = 0; process->now_ms - process->times[first] >= 60000; first++)
		;
	process->most = max(process->most, process->alarms - first);
	process->last_ms = process->now_ms;
	process->now_ms += SAMPLED_FULL_MS;
}

/* 30 % of the memory stays remote: two alarms a minute at the most, and then none. */
static void what_cannot_be_helped_is_known(struct kunit *test)
{
	static struct sampled_process process;
	u8 share[SAMPLED_STRIDE] = { [3] = 100, [4] = 100, [5] = 100, [6] = 100, [11] = 100 };
	int i;

	memset(&process, 0, sizeof(process));
	for (i = 0; i < 3600; i++)
		process_sample(&process, share);
	KUNIT_EXPECT_LE(test, process.most, 2U);
	KUNIT_EXPECT_LE(test, process.alarms, 4U);
	KUNIT_EXPECT_LE(test, process.last_ms, 300000U);
}

/* Threads swap their memory every 12 s, and full passes move the memory: each time an alarm. */
static void a_phase_change_is_seen_at_once(struct kunit *test)
{
	static struct sampled_process process;
	u8 share[SAMPLED_STRIDE];
	u32 phase, begun, alarms;

	memset(&process, 0, sizeof(process));
	for (phase = 0; phase < 100; phase++) {
		memset(share, phase ? 100 : 0, sizeof(share));
		begun = process.now_ms;
		alarms = process.alarms;
		while (process.now_ms - begun < 12000) {
			process_sample(&process, share);
			if (process.alarms > alarms)
				memset(share, 0, sizeof(share));
		}
		KUNIT_ASSERT_EQ_MSG(test, process.alarms - alarms, phase ? 1U : 0U, "phase %u",
				    phase);
		KUNIT_ASSERT_TRUE(test, !phase || process.last_ms - begun <= 2000);
	}
}

/* Random use of memory is an alarm now and then, and ever more rarely. */
static void chance_is_no_alarm(struct kunit *test)
{
	static struct sampled_process process;
	u8 share[SAMPLED_STRIDE];
	struct rnd_state rnd;
	int i, area;

	memset(&process, 0, sizeof(process));
	prandom_seed_state(&rnd, 5);
	for (i = 0; i < 3600; i++) {
		for (area = 0; area < SAMPLED_STRIDE; area++)
			share[area] = 40 + prandom_u32_state(&rnd) % 21;
		process_sample(&process, share);
		KUNIT_ASSERT_LE(test, process.alarm.wait_ms, (u32)NUMA_ALARM_WAIT_MAX_MS);
	}
	KUNIT_EXPECT_LE(test, process.most, 2U);
	KUNIT_EXPECT_LE(test, process.alarms, 4U);
}

static struct kunit_case numa_alarm_core_cases[] = {
	KUNIT_CASE(areas_of_a_process),
	KUNIT_CASE(alarms_one_by_one),
	KUNIT_CASE(a_change_after_long_passes_is_an_alarm),
	KUNIT_CASE(what_cannot_be_helped_is_known),
	KUNIT_CASE(a_phase_change_is_seen_at_once),
	KUNIT_CASE(chance_is_no_alarm),
	{ }
};

static struct kunit_suite numa_alarm_core_suite = {
	.name = "livemm_numa_alarm_core",
	.test_cases = numa_alarm_core_cases,
};
