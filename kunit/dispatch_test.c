// SPDX-License-Identifier: GPL-2.0-only
/*
 * dispatch_test.c - events reach the subscribed policies, in order, while these listen
 */
#include <kunit/test.h>
#include <linux/mmzone.h>
#include <linux/string.h>

#include "../module/deliver.c"
#include "../module/dispatch.c"

u64 __percpu *lmm_hook_hits;

/* Calls of the fake policies, a letter each. */
static char dispatch_log[16];

static void dispatch_note(char who)
{
	size_t len = strlen(dispatch_log);

	if (len < sizeof(dispatch_log) - 1)
		dispatch_log[len] = who;
}

static bool dispatch_taken;

static bool taken_a(const struct zone *zone)
{
	return dispatch_taken;
}

static void woken_a(struct zone *zone, unsigned int order)
{
	dispatch_note('a');
}

static void woken_b(struct zone *zone, unsigned int order)
{
	dispatch_note('b');
}

static void woken_c(struct zone *zone, unsigned int order)
{
	dispatch_note(order == 3 ? 'c' : '?');
}

static unsigned long count_a(struct zone *zone, unsigned int order, unsigned long blocks)
{
	return blocks + 1;
}

static unsigned long count_b(struct zone *zone, unsigned int order, unsigned long blocks)
{
	return blocks * 10;
}

static int get_b(struct zone *zone, unsigned int order, unsigned long blocks,
		 struct list_head *list, int migratetype)
{
	dispatch_note('g');
	return blocks;
}

static unsigned int split_b(struct zone *zone, unsigned long *pages, int migratetype)
{
	*pages *= 8;
	return 3;
}

static void filled_a(struct zone *zone, unsigned int order, int migratetype, int pages)
{
	dispatch_note(pages == 28 && migratetype == MIGRATE_MOVABLE ? 'l' : '?');
}

static int put_b(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex,
		 unsigned long caller)
{
	dispatch_note('p');
	pcp->count -= 2 * count;
	return count;
}

static void beyond_a(struct zone *zone, struct per_cpu_pages *pcp, int beyond)
{
	dispatch_note(beyond == 63 && pcp->count == 874 ? 'b' : '?');
}

static int from_b(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex)
{
	return pindex + count;
}

static const struct lmm_events events_a = {
	.zone_is_taken = taken_a, .kswapd_woken = woken_a, .refill_count = count_a,
	.list_filled = filled_a, .drain_beyond = beyond_a,
};

static const struct lmm_events events_b = {
	.kswapd_woken = woken_b, .refill_count = count_b, .depot_get = get_b,
	.depot_put = put_b, .drain_from = from_b, .refill_split = split_b,
};

static const struct lmm_events events_c = { .kswapd_woken = woken_c };

/* A request for a block of order 3 wakes kswapd. */
static void wake(void)
{
	memset(dispatch_log, 0, sizeof(dispatch_log));
	on_wake_kswapd(NULL, &(struct pt_regs){ .dx = 3 });
}

static int dispatch_init(struct kunit *test)
{
	lmm_hook_hits = __alloc_percpu(LMM_NR_HOOKS * sizeof(u64), sizeof(u64));
	dispatch_taken = false;
	return lmm_hook_hits ? 0 : -ENOMEM;
}

static void dispatch_exit(struct kunit *test)
{
	lmm_events_stop(3);
	lmm_events_stop(2);
	lmm_events_stop(1);
	lmm_events_unregister(3);
	lmm_events_unregister(2);
	lmm_events_unregister(1);
	free_percpu(lmm_hook_hits);
}

static void events_come_in_order(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, lmm_events_register(1, &events_a), 0);
	KUNIT_ASSERT_EQ(test, lmm_events_register(2, &events_b), 0);
	wake();
	KUNIT_EXPECT_STREQ(test, dispatch_log, "");
	lmm_events_start(2);
	wake();
	KUNIT_EXPECT_STREQ(test, dispatch_log, "b");
	KUNIT_EXPECT_EQ(test, lmm_on_refill_count(NULL, 0, 1), 10UL);
	lmm_events_start(1);
	wake();
	KUNIT_EXPECT_STREQ(test, dispatch_log, "ab");
	/* The second policy changes the answer of the first. */
	KUNIT_EXPECT_EQ(test, lmm_on_refill_count(NULL, 0, 1), 20UL);
	lmm_events_stop(2);
	wake();
	KUNIT_EXPECT_STREQ(test, dispatch_log, "a");
	KUNIT_EXPECT_EQ(test, lmm_on_refill_count(NULL, 0, 1), 2UL);
	lmm_events_stop(1);
	wake();
	KUNIT_EXPECT_STREQ(test, dispatch_log, "");
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_WAKE_KSWAPD), 5ULL);
}

/* Three policies hear of a wake-up of kswapd, and of no other event. */
static void a_third_policy_hears_of_kswapd(struct kunit *test)
{
	static const struct lmm_events counts = { .refill_count = count_a };

	KUNIT_ASSERT_EQ(test, lmm_events_register(1, &events_a), 0);
	KUNIT_ASSERT_EQ(test, lmm_events_register(2, &events_b), 0);
	KUNIT_EXPECT_EQ(test, lmm_events_register(3, &counts), -EBUSY);
	KUNIT_ASSERT_EQ(test, lmm_events_register(3, &events_c), 0);
	lmm_events_start(3);
	wake();
	KUNIT_EXPECT_STREQ(test, dispatch_log, "c");
	lmm_events_start(1);
	lmm_events_start(2);
	wake();
	KUNIT_EXPECT_STREQ(test, dispatch_log, "abc");
}

/* A zone that one policy has taken is taken for the other policy too. */
static void a_taken_zone_is_left_alone(struct kunit *test)
{
	unsigned long pages = 63;

	KUNIT_ASSERT_EQ(test, lmm_events_register(1, &events_a), 0);
	KUNIT_ASSERT_EQ(test, lmm_events_register(2, &events_b), 0);
	lmm_events_start(2);
	dispatch_taken = true;
	KUNIT_EXPECT_EQ(test, lmm_on_depot_get(NULL, 0, 7, NULL, 0), 7);
	lmm_events_start(1);
	KUNIT_EXPECT_EQ(test, lmm_on_depot_get(NULL, 0, 7, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, lmm_on_refill_split(NULL, &pages, 0), 0U);
	KUNIT_EXPECT_EQ(test, pages, 63UL);
	dispatch_taken = false;
	KUNIT_EXPECT_EQ(test, lmm_on_refill_split(NULL, &pages, 0), 3U);
	KUNIT_EXPECT_EQ(test, pages, 504UL);
	KUNIT_EXPECT_EQ(test, lmm_on_depot_get(NULL, 0, 7, NULL, 0), 7);
}

/* The list sizing learns of pages that another policy put on a list. */
static void a_filled_list_is_told(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, lmm_events_register(1, &events_a), 0);
	KUNIT_ASSERT_EQ(test, lmm_events_register(2, &events_b), 0);
	lmm_events_start(1);
	lmm_events_start(2);
	memset(dispatch_log, 0, sizeof(dispatch_log));
	KUNIT_EXPECT_EQ(test, lmm_on_depot_get(NULL, 2, 7, NULL, MIGRATE_MOVABLE), 7);
	KUNIT_EXPECT_STREQ(test, dispatch_log, "gl");
}

/*
 * A drain of which the list sizing left nothing is offered to nobody, but it was one.  Who sizes
 * lists hears of pages that a depot took beyond the answer.
 */
static void a_list_with_room_offers_nothing(struct kunit *test)
{
	struct per_cpu_pages pcp = { .count = 1000 };

	KUNIT_ASSERT_EQ(test, lmm_events_register(1, &events_a), 0);
	KUNIT_ASSERT_EQ(test, lmm_events_register(2, &events_b), 0);
	lmm_events_start(1);
	lmm_events_start(2);
	memset(dispatch_log, 0, sizeof(dispatch_log));
	KUNIT_EXPECT_EQ(test, lmm_on_depot_put(NULL, 0, &pcp, 0, 0), 0);
	KUNIT_EXPECT_STREQ(test, dispatch_log, "");
	KUNIT_EXPECT_EQ(test, lmm_on_depot_put(NULL, 63, &pcp, 0, 0), 63);
	KUNIT_EXPECT_STREQ(test, dispatch_log, "pb");
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_DRAIN), 2ULL);
}

static void a_policy_says_where_a_drain_begins(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, lmm_events_register(2, &events_b), 0);
	KUNIT_EXPECT_EQ(test, lmm_on_drain_from(NULL, 4, NULL, 1), 1);
	lmm_events_start(2);
	KUNIT_EXPECT_EQ(test, lmm_on_drain_from(NULL, 4, NULL, 1), 5);
	lmm_events_stop(2);
	KUNIT_EXPECT_EQ(test, lmm_on_drain_from(NULL, 4, NULL, 1), 1);
}

static int type_b(struct zone *zone, unsigned int order, unsigned long blocks, int migratetype,
		  unsigned int *alloc_flags)
{
	dispatch_note('t');
	return migratetype + 1;
}

/* The flag of a second subscriber is not tested where an event has room for one. */
static void room_for_one_is_one_flag(struct kunit *test)
{
	static const struct lmm_events one = { .refill_type = type_b };
	unsigned int i;

	KUNIT_ASSERT_EQ(test, lmm_events_register(1, &one), 0);
	static_call_update(lmm_refill_type_1, type_b);
	lmm_listening[EVENT_refill_type][1] = true;
	memset(dispatch_log, 0, sizeof(dispatch_log));
	for (i = 0; i < 2; i++) {
		/* What the policy that is told returns is asked for. */
		KUNIT_EXPECT_EQ(test, lmm_on_refill_type(NULL, 0, 1, 5, NULL), i ? 6 : 5);
		lmm_events_start(1);
	}
	lmm_listening[EVENT_refill_type][1] = false;
	static_call_update(lmm_refill_type_1, NULL);
	KUNIT_EXPECT_STREQ(test, dispatch_log, "t");
}

static void finish_b(const char *name, unsigned long pfn, bool got, unsigned long count)
{
	dispatch_note(got ? 'f' : 'n');
}

static void an_end_is_told(struct kunit *test)
{
	static const struct lmm_events both = { .cma_finish = finish_b };
	struct page page;

	KUNIT_ASSERT_EQ(test, lmm_events_register(1, &both), 0);
	lmm_events_start(1);
	memset(dispatch_log, 0, sizeof(dispatch_log));
	/* With the arguments of the debug kernel, 6.1. */
	on_cma_start(NULL, "area", 1);
	on_cma_finish(NULL, "area", 0, &page, 1);
	on_cma_finish(NULL, "area", 0, NULL, 1);
	KUNIT_EXPECT_STREQ(test, dispatch_log, "fn");
}

static void subscribers_are_bounded(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, lmm_events_register(1, &events_b), 0);
	/* Only one policy may fill a list. */
	KUNIT_EXPECT_EQ(test, lmm_events_register(2, &events_b), -EBUSY);
	lmm_events_start(2);
	lmm_events_start(1);
	wake();
	KUNIT_EXPECT_STREQ(test, dispatch_log, "b");
	/* Policies come in the order of their ids. */
	KUNIT_EXPECT_EQ(test, lmm_events_register(0, &events_a), -EINVAL);
	KUNIT_EXPECT_EQ(test, lmm_events_register(2, NULL), 0);
	KUNIT_ASSERT_EQ(test, lmm_events_register(2, &events_a), 0);
	KUNIT_EXPECT_EQ(test, lmm_events_register(3, &events_a), -EBUSY);
}

/* One hint fault in four is handed on, by chance: any number of faults may lie between two. */
static void hint_faults_are_sampled_by_chance(struct kunit *test)
{
	unsigned int found[2 * LMM_ENTRY_EVERY] = { }, sum = 0, i;

	for (i = 0; i < 7000; i++) {
		int wait;

		preempt_disable();
		lmm_entered_hint_fault(0, 0, 1, 0);
		wait = this_cpu_read(lmm_wait_hint_fault);
		preempt_enable();
		KUNIT_ASSERT_GE(test, wait, 1);
		KUNIT_ASSERT_LT(test, wait, 2 * LMM_ENTRY_EVERY);
		found[wait]++;
		sum += wait;
	}
	for (i = 1; i < 2 * LMM_ENTRY_EVERY; i++)
		KUNIT_EXPECT_GT(test, found[i], 850U);
	KUNIT_EXPECT_GT(test, sum, LMM_ENTRY_EVERY * 7000U * 98 / 100);
	KUNIT_EXPECT_LT(test, sum, LMM_ENTRY_EVERY * 7000U * 102 / 100);
}

/* A row without a handler could not be armed; a handler without a row would never run. */
static void every_probe_has_a_handler(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < LMM_NR_HOOKS; i++)
		KUNIT_EXPECT_EQ_MSG(test, !!lmm_dispatch_handlers.probes[i],
				    lmm_hooks[i].mech == LMM_MECH_KPROBE ||
				    lmm_hooks[i].mech == LMM_MECH_TRACEPOINT, "%s",
				    lmm_hooks[i].name);
}

/* An event without a row would be skipped in silence. */
static void every_event_has_a_row(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, sizeof(struct lmm_events), NR_EVENTS * sizeof(void *));
	for (i = 0; i < NR_EVENTS; i++)
		KUNIT_EXPECT_TRUE(test, events[i].room >= 1 && events[i].room <= SUBSCRIBERS);
}

static struct kunit_case dispatch_cases[] = {
	KUNIT_CASE(events_come_in_order),
	KUNIT_CASE(a_third_policy_hears_of_kswapd),
	KUNIT_CASE(a_taken_zone_is_left_alone),
	KUNIT_CASE(a_filled_list_is_told),
	KUNIT_CASE(a_list_with_room_offers_nothing),
	KUNIT_CASE(a_policy_says_where_a_drain_begins),
	KUNIT_CASE(room_for_one_is_one_flag),
	KUNIT_CASE(an_end_is_told),
	KUNIT_CASE(subscribers_are_bounded),
	KUNIT_CASE(hint_faults_are_sampled_by_chance),
	KUNIT_CASE(every_probe_has_a_handler),
	KUNIT_CASE(every_event_has_a_row),
	{ }
};

static struct kunit_suite dispatch_suite = {
	.name = "livemm_dispatch",
	.init = dispatch_init,
	.exit = dispatch_exit,
	.test_cases = dispatch_cases,
};
