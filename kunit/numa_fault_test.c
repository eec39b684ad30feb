// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa_fault_test.c - suite livemm_numa_fault: when a hint fault brings the next scan forward
 *
 * A case plays the kernel's part: what task_numa_work() and task_numa_placement() write.  The
 * thread of a case has no address space and ends with the case, so nobody else reads or writes
 * those members.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/sched.h>

#include "../module/policy/numa/fault.c"

struct numa_state numa;
struct lmm_policy lmm_numa_policy;

/* Time to the next scan as the kernel and the policy want it. */
#define FAULT_OWN_MS	3600000
#define FAULT_WANT_MS	500

/* Entries that are in use are in a list. */
static struct hlist_head fault_entries;

u64 numa_mm_moved(const struct numa_mm *entry)
{
	return atomic64_read(&entry->slot.moved);
}

/* A case has no old alarm: see the suite numa_alarm_core. */
void numa_mm_alarm_expire(struct numa_mm *entry, u32 now_ms)
{
}

static bool fault_answers;
/* The thread's own period, in ms. */
static unsigned int fault_period;

bool numa_mm_answers(const struct numa_mm *entry)
{
	return fault_answers;
}

static struct fault_scene {
	struct numa_mm *entry;
	struct mm_struct *mm;
} fault_scene;

static int numa_fault_test_init(struct kunit *test)
{
	struct fault_scene *scene = &fault_scene;

	scene->entry = kunit_kzalloc(test, sizeof(*scene->entry), GFP_KERNEL);
	scene->mm = kunit_kzalloc(test, sizeof(*scene->mm), GFP_KERNEL);
	if (!scene->entry || !scene->mm)
		return -ENOMEM;
	/* Last, as nothing calls exit where init fails. */
	lmm_numa_policy.counters = lmm_counters_alloc(NR_COUNTERS);
	if (!lmm_numa_policy.counters)
		return -ENOMEM;
	spin_lock_init(&scene->entry->lock);
	INIT_HLIST_HEAD(&fault_entries);
	hlist_add_head(&scene->entry->node, &fault_entries);
	scene->entry->expedite_ms = FAULT_WANT_MS;
	fault_answers = true;
	fault_period = 1;
	/* The thread has run for longer than the period of 1 ms that most cases give it. */
	while (current->se.sum_exec_runtime < 2 * NSEC_PER_MSEC)
		cond_resched();
	return 0;
}

static void numa_fault_test_exit(struct kunit *test)
{
	free_percpu(lmm_numa_policy.counters);
	lmm_numa_policy.counters = NULL;
}

/* The thread asks at once, as soon as the address space may be scanned. */
static void fault_thread(int seq, unsigned long retry)
{
	current->numa_scan_period = fault_period;
	current->node_stamp = U64_MAX;
	current->numa_scan_seq = seq;
	current->numa_migrate_retry = retry;
}

/* A hint fault of the thread, as the hook delivers it. */
static void fault_has(enum numa_class class)
{
	preempt_disable();
	fault_notice(fault_scene.entry, fault_scene.mm, class);
	preempt_enable();
}

/* A hint fault of the thread; true if the policy has brought the scan forward. */
static bool fault_brings(struct kunit *test)
{
	struct fault_scene *scene = &fault_scene;
	unsigned long from = jiffies, next;
	bool brought;

	fault_has(NUMA_REMOTE_PRIVATE);
	next = scene->mm->numa_next_scan;
	brought = time_in_range(next, from + msecs_to_jiffies(FAULT_WANT_MS),
				jiffies + msecs_to_jiffies(FAULT_WANT_MS));
	KUNIT_EXPECT_EQ(test, brought, current->node_stamp != U64_MAX);
	return brought;
}

/*
 * A scan is to come sooner.  Passes that the thread and the address space have had, and the time in
 * ms from which on the kernel judges a pass, and until the next scan; is the scan brought forward?
 */
static const struct bring_case {
	const char *name;
	int judged, passes;
	int retry_ms, next_ms;
	bool brings;
} bring_cases[] = {
	{ "judged", 5, 5, -60000, FAULT_OWN_MS, true },
	{ "judged at this fault", 4, 5, -60000, FAULT_OWN_MS, false },
	{ "judged later", 4, 5, 600000, FAULT_OWN_MS, true },
	{ "the scan has not begun", 5, 5, -60000, -60000, false },
};

NAMED_CASES(bring, bring_cases);

static unsigned long ms_from_now(int ms)
{
	return ms < 0 ? jiffies - msecs_to_jiffies(-ms) : jiffies + msecs_to_jiffies(ms);
}

static void brings_a_scan_forward(struct kunit *test)
{
	const struct bring_case *one = test->param_value;
	struct numa_mm *entry = fault_scene.entry;
	struct mm_struct *mm = fault_scene.mm;
	unsigned long next = ms_from_now(one->next_ms);

	mm->numa_scan_seq = one->passes;
	mm->numa_next_scan = next;
	set_bit(NUMA_NOTICE_EXPEDITE, &entry->notice);
	fault_thread(one->judged, ms_from_now(one->retry_ms));
	KUNIT_EXPECT_EQ(test, fault_brings(test), one->brings);
	if (one->brings)
		return;
	KUNIT_EXPECT_EQ(test, mm->numa_next_scan, next);
	/* Nor is the wish lost: the kernel has begun the scan, and has judged the one before. */
	mm->numa_next_scan = ms_from_now(FAULT_OWN_MS);
	current->numa_scan_seq = one->passes;
	KUNIT_EXPECT_TRUE(test, fault_brings(test));
}

/* The kernel puts the next scan off for the sake of another thread; the policy puts it back. */
static void keeps_a_scan_brought_forward(struct kunit *test)
{
	struct numa_mm *entry = fault_scene.entry;
	struct mm_struct *mm = fault_scene.mm;
	unsigned long brought, sooner, late;

	mm->numa_next_scan = ms_from_now(FAULT_OWN_MS);
	set_bit(NUMA_NOTICE_EXPEDITE, &entry->notice);
	fault_thread(0, ms_from_now(-60000));
	KUNIT_ASSERT_TRUE(test, fault_brings(test));
	brought = mm->numa_next_scan;

	mm->numa_next_scan = ms_from_now(2 * FAULT_OWN_MS);
	fault_has(NUMA_REMOTE_PRIVATE);
	KUNIT_EXPECT_EQ(test, mm->numa_next_scan, brought);

	/* A sooner scan stays. */
	sooner = brought - 1;
	mm->numa_next_scan = sooner;
	fault_has(NUMA_LOCAL_PRIVATE);
	KUNIT_EXPECT_EQ(test, mm->numa_next_scan, sooner);

	/* The scan has begun, and the next was not brought forward. */
	WRITE_ONCE(entry->notice, 0);
	late = ms_from_now(FAULT_OWN_MS);
	mm->numa_next_scan = late;
	fault_has(NUMA_REMOTE_PRIVATE);
	KUNIT_EXPECT_EQ(test, mm->numa_next_scan, late);
}

/* The last fault of a sample, all of which were remote, raises an alarm. */
static void fault_alarms(struct kunit *test, bool judged, unsigned long next)
{
	struct numa_mm *entry = fault_scene.entry;
	struct mm_struct *mm = fault_scene.mm;

	entry->sample_faults = NUMA_RESAMPLE_FAULTS_MIN;
	atomic_set(&entry->sample_remote, NUMA_RESAMPLE_FAULTS_MIN);
	atomic_set(&entry->sample_left, LMM_ENTRY_EVERY);
	entry->alarm = (struct numa_alarm){ };
	entry->resample_passes = 0;
	WRITE_ONCE(entry->notice, BIT(NUMA_NOTICE_SAMPLE));
	mm->numa_next_scan = next;
	mm->numa_scan_seq = 1;
	fault_thread(judged, ms_from_now(-60000));
	fault_has(NUMA_REMOTE_PRIVATE);
	KUNIT_EXPECT_GT(test, entry->resample_passes, 0U);
}

/*
 * The last fault of a sample raises an alarm: the first full scan comes at once, also where the
 * address space may be scanned already and no thread has asked.
 */
static void alarm_asks_when_the_kernel_has_judged(struct kunit *test)
{
	struct numa_mm *entry = fault_scene.entry;
	struct mm_struct *mm = fault_scene.mm;
	unsigned int one;

	for (one = 0; one < 4; one++) {
		unsigned long late = ms_from_now(one & 2 ? -60000 : FAULT_OWN_MS);
		bool judged = one & 1;

		atomic64_set(&entry->slot.moved, 70 + one);
		fault_alarms(test, judged, late);
		KUNIT_EXPECT_EQ(test, entry->alarm.moved, 70ULL + one);
		if (!judged) {
			KUNIT_EXPECT_EQ(test, mm->numa_next_scan, late);
			KUNIT_EXPECT_EQ(test, current->node_stamp, U64_MAX);
			current->numa_scan_seq = 1;
			fault_has(NUMA_REMOTE_PRIVATE);
		}
		KUNIT_EXPECT_TRUE(test, time_before_eq(mm->numa_next_scan, jiffies));
		KUNIT_EXPECT_NE(test, current->node_stamp, U64_MAX);
	}
}

/* With a full debt, the first full scan comes at the kernel's own time. */
static void alarm_waits_with_a_full_debt(struct kunit *test)
{
	unsigned long late = ms_from_now(FAULT_OWN_MS);

	fault_answers = false;
	fault_alarms(test, true, late);
	fault_has(NUMA_REMOTE_PRIVATE);
	KUNIT_EXPECT_EQ(test, fault_scene.mm->numa_next_scan, late);
	KUNIT_EXPECT_EQ(test, current->node_stamp, U64_MAX);
}

/*
 * A thread that has hardly run brings no scan forward: its period would fall below all floors.  The
 * wish stays, for a thread that has run.
 */
static void a_thread_that_hardly_ran_leaves_the_scan(struct kunit *test)
{
	struct numa_mm *entry = fault_scene.entry;
	struct mm_struct *mm = fault_scene.mm;

	fault_period = 7200000;
	KUNIT_ASSERT_LT(test, current->se.sum_exec_runtime,
			(u64)NUMA_SCAN_DELAY_RUN_MS * NSEC_PER_MSEC);
	mm->numa_next_scan = ms_from_now(FAULT_OWN_MS);
	set_bit(NUMA_NOTICE_EXPEDITE, &entry->notice);
	fault_thread(0, ms_from_now(-60000));
	KUNIT_EXPECT_FALSE(test, fault_brings(test));
	KUNIT_EXPECT_EQ(test, current->numa_scan_period, 7200000U);
	current->numa_scan_period = 1;
	KUNIT_EXPECT_TRUE(test, fault_brings(test));
}

/* Nor does the first full scan after an alarm come by such a thread; another thread asks for it. */
static void an_alarm_of_such_a_thread_waits(struct kunit *test)
{
	unsigned long late = ms_from_now(FAULT_OWN_MS);

	fault_period = 7200000;
	KUNIT_ASSERT_LT(test, current->se.sum_exec_runtime,
			(u64)NUMA_SCAN_DELAY_RUN_MS * NSEC_PER_MSEC);
	fault_alarms(test, true, late);
	KUNIT_EXPECT_EQ(test, fault_scene.mm->numa_next_scan, late);
	KUNIT_EXPECT_EQ(test, current->numa_scan_period, 7200000U);
	current->numa_scan_period = 1;
	fault_has(NUMA_REMOTE_PRIVATE);
	KUNIT_EXPECT_TRUE(test, time_before_eq(fault_scene.mm->numa_next_scan, jiffies));
}

/* A period that the policy has lowered is not taken for the kernel's own. */
static void a_lowered_period_is_not_the_kernels(struct kunit *test)
{
	struct numa_mm *entry = fault_scene.entry;

	fault_thread(0, ms_from_now(-60000));
	current->numa_scan_period = 60000;
	preempt_disable();
	KUNIT_EXPECT_EQ(test, numa_own_period(entry, current), 60000U);
	KUNIT_EXPECT_TRUE(test, period_lower(entry, current, 20000));
	KUNIT_EXPECT_EQ(test, current->numa_scan_period, 20000U);
	KUNIT_EXPECT_EQ(test, numa_own_period(entry, current), 60000U);
	KUNIT_EXPECT_TRUE(test, period_lower(entry, current, 10000));
	KUNIT_EXPECT_EQ(test, numa_own_period(entry, current), 60000U);
	/* The kernel has judged a pass since. */
	current->numa_scan_period = 40000;
	KUNIT_EXPECT_EQ(test, numa_own_period(entry, current), 40000U);
	preempt_enable();
}

static struct kunit_case numa_fault_cases[] = {
	KUNIT_CASE(a_thread_that_hardly_ran_leaves_the_scan),
	KUNIT_CASE(an_alarm_of_such_a_thread_waits),
	KUNIT_CASE(a_lowered_period_is_not_the_kernels),
	KUNIT_CASE(alarm_waits_with_a_full_debt),
	KUNIT_CASE_PARAM(brings_a_scan_forward, bring_gen_params),
	KUNIT_CASE(keeps_a_scan_brought_forward),
	KUNIT_CASE(alarm_asks_when_the_kernel_has_judged),
	{ }
};

static struct kunit_suite numa_fault_suite = {
	.name = "livemm_numa_fault",
	.init = numa_fault_test_init,
	.exit = numa_fault_test_exit,
	.test_cases = numa_fault_cases,
};
