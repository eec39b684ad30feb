// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow_test.c - a refill and a drain are shown in order to the policies that are told, other events
 * too
 */
#include <kunit/test.h>
#include <linux/mmzone.h>
#include <linux/string.h>

#include "../module/flow/deliver.c"
#include "../module/flow/drain.c"
#include "../module/flow/hooks.c"
#include "../module/flow/refill.c"
#include "../module/hook/kcall.c"

u64 __percpu *lmm_hook_hits;

/* Calls of the fake policies and of the fake kernel, a letter each. */
static char flow_log[16];

static void flow_note(char who)
{
	size_t len = strlen(flow_log);

	if (len < sizeof(flow_log) - 1)
		flow_log[len] = who;
}

/* What the fakes are to do. */
static struct {
	bool taken;
	int stock;
	unsigned int split;
	int from;
	bool nothing_once;
	int keep;
	int store;
} flow_does;

/* What the kernel was asked for last, and the refill or drain at its end. */
static unsigned int asked_order, asked_flags;
static unsigned long asked_blocks;
static int asked_type, asked_pindex;
static struct lmm_refill ended_refill;
static struct lmm_drain ended_drain;
static struct pglist_data flow_node;
static struct zone *const flow_zone = &flow_node.node_zones[ZONE_NORMAL];
static struct per_cpu_pages flow_pages;

static int kernel_refill(struct zone *zone, unsigned int order, unsigned long blocks,
			 struct list_head *list, int migratetype, unsigned int alloc_flags)
{
	flow_note('K');
	asked_order = order;
	asked_blocks = blocks;
	asked_type = migratetype;
	asked_flags = alloc_flags;
	if (order == flow_does.split && order)
		return 0;
	return xchg(&flow_does.nothing_once, false) ? 0 : blocks;
}

static void kernel_drain(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex)
{
	flow_note('K');
	asked_pindex = pindex;
	/* Blocks go whole. */
	pcp->count -= count + 7;
}

/* As above, by the entry. */
static void entry_drain(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex)
{
	flow_note('E');
}

static bool on_is_taken(unsigned int slot)
{
	return flow_does.taken;
}

static void on_stock(struct lmm_refill *refill)
{
	flow_note('s');
	refill->got = flow_does.stock;
}

static void on_split(struct lmm_refill *refill)
{
	flow_note('p');
	if (!flow_does.split)
		return;
	refill->split = flow_does.split;
	refill->split_pages = refill->split_pages * 8;
}

static void on_from(struct lmm_refill *refill)
{
	flow_note('f');
	refill->from += flow_does.from;
}

static void on_refilled(struct lmm_refill *refill)
{
	flow_note('e');
	ended_refill = *refill;
}

static void on_drain_size(struct lmm_drain *drain)
{
	flow_note('z');
	drain->count -= flow_does.keep;
}

static void on_drain_store(struct lmm_drain *drain)
{
	flow_note(drain->by_policy ? 'd' : 's');
	drain->pcp->count -= flow_does.store;
	drain->stored = flow_does.store;
}

static void on_drained(struct lmm_drain *drain)
{
	flow_note('e');
	ended_drain = *drain;
}

static void lacks_a(struct zone *zone, unsigned int order, bool huge)
{
	flow_note('a');
}

static void lacks_b(struct zone *zone, unsigned int order, bool huge)
{
	flow_note('b');
}

static void woken_c(struct zone *zone, unsigned int order)
{
	flow_note(order == 3 ? 'c' : '?');
}

/* Who stores, and who sizes and owns: the kinds of policies that there are. */
static const struct lmm_events events_a = {
	.refill_stock = on_stock, .refill_split = on_split, .drain_store = on_drain_store,
	.zone_lacks = lacks_a,
};

static const struct lmm_events events_b = {
	.refill_from = on_from, .refilled = on_refilled,
	.zone_is_taken = on_is_taken, .drain_size = on_drain_size, .drained = on_drained,
	.zone_lacks = lacks_b,
};

static void lacks_c(struct zone *zone, unsigned int order, bool huge)
{
	flow_note(zone != flow_zone ? '?' : order ? 'B' : 'P');
}

static const struct lmm_events events_c = { .kswapd_woken = woken_c, .zone_lacks = lacks_c };

static const char *log_of(void)
{
	static char copy[sizeof(flow_log)];

	strscpy(copy, flow_log, sizeof(copy));
	memset(flow_log, 0, sizeof(flow_log));
	return copy;
}

/* A request for a block of order 3 wakes kswapd. */
static const char *wake(void)
{
	on_wake_kswapd(NULL, &(struct pt_regs){ .di = (unsigned long)flow_zone, .dx = 3 });
	return log_of();
}

/* Seven blocks of movable pages; the flags are 5. */
static int flow_refill(unsigned int order)
{
	LIST_HEAD(list);
	int got;

	preempt_disable();
	got = lmm_refill(flow_zone, order, 7, &list, MIGRATE_MOVABLE, 5);
	preempt_enable();
	return got;
}

static void flow_drain(int count)
{
	preempt_disable();
	lmm_drain(flow_zone, count, &flow_pages, 1, 0);
	preempt_enable();
}

static int flow_init(struct kunit *test)
{
	lmm_hook_hits = __alloc_percpu(LMM_NR_HOOKS * sizeof(u64), sizeof(u64));
	flow_zone->zone_pgdat = &flow_node;
	flow_zone->per_cpu_pageset = alloc_percpu(struct per_cpu_pages);
	if (!lmm_hook_hits || !flow_zone->per_cpu_pageset)
		return -ENOMEM;
	memset(&flow_does, 0, sizeof(flow_does));
	memset(&ended_drain, 0, sizeof(ended_drain));
	memset(flow_log, 0, sizeof(flow_log));
	flow_zone->present_pages = 0;
	flow_pages.count = 1000;
	static_call_update(lmm_orig_refill, kernel_refill);
	static_call_update(lmm_orig_drain, kernel_drain);
	static_call_update(lmm_kcall_drain, entry_drain);
	lmm_events_register(1, &events_a);
	lmm_events_register(2, &events_b);
	return 0;
}

static void flow_exit(struct kunit *test)
{
	unsigned int id;

	for (id = 1; id <= 3; id++) {
		lmm_events_stop(id);
		lmm_events_unregister(id);
	}
	free_percpu(flow_zone->per_cpu_pageset);
	free_percpu(lmm_hook_hits);
}

static void both_start(void)
{
	lmm_events_start(1);
	lmm_events_start(2);
}

/* Two zones without a free block, the lower of which a request may use. */
static void zones_empty(void)
{
	unsigned int i, type;

	flow_zone[1].present_pages = 1000;
	flow_zone->present_pages = 1000;
	flow_zone->_watermark[WMARK_HIGH] = 100;
	for (i = 0; i < ARRAY_SIZE(flow_zone->free_area); i++)
		for (type = 0; type < MIGRATE_TYPES; type++)
			INIT_LIST_HEAD(&flow_zone->free_area[i].free_list[type]);
}

static void a_list_of_policies_is_told_in_order(struct kunit *test)
{
	zones_empty();
	lmm_events_register(3, &events_c);
	KUNIT_EXPECT_STREQ(test, wake(), "");
	lmm_events_start(3);
	lmm_events_start(2);
	KUNIT_EXPECT_STREQ(test, wake(), "cbB");
	lmm_events_start(1);
	KUNIT_EXPECT_STREQ(test, wake(), "cabB");
	lmm_events_stop(2);
	KUNIT_EXPECT_STREQ(test, wake(), "caB");
	lmm_events_stop(1);
	lmm_events_stop(3);
	KUNIT_EXPECT_STREQ(test, wake(), "");
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_WAKE_KSWAPD), 5ULL);
}

/* Of the zones that a request may use, those that lack its block, or pages. */
static void zones_that_lack_are_told(struct kunit *test)
{
	struct free_area *area = &flow_zone->free_area[3];
	LIST_HEAD(block);

	zones_empty();
	lmm_events_register(3, &events_c);
	lmm_events_start(3);
	KUNIT_EXPECT_STREQ(test, wake(), "cB");
	list_add(&block, &area->free_list[MIGRATE_MOVABLE]);
	KUNIT_EXPECT_STREQ(test, wake(), "cP");
	atomic_long_set(&flow_zone->vm_stat[NR_FREE_PAGES], 100);
	KUNIT_EXPECT_STREQ(test, wake(), "c");
}

static void a_refill_is_shown_in_order(struct kunit *test)
{
	/* With nobody told, as without livemm. */
	KUNIT_EXPECT_EQ(test, flow_refill(0), 7);
	KUNIT_EXPECT_STREQ(test, log_of(), "K");
	both_start();
	KUNIT_EXPECT_EQ(test, flow_refill(0), 7);
	KUNIT_EXPECT_STREQ(test, log_of(), IS_ENABLED(CONFIG_CMA) ? "spfKe" : "spKe");
	KUNIT_EXPECT_EQ(test, ended_refill.slot, lmm_zone_slot(flow_zone));
	KUNIT_EXPECT_EQ(test, ended_refill.got, 7);
	KUNIT_EXPECT_FALSE(test, ended_refill.stocked);
	/* Larger blocks are not split. */
	flow_refill(2);
	KUNIT_EXPECT_STREQ(test, log_of(), IS_ENABLED(CONFIG_CMA) ? "sfKe" : "sKe");
	lmm_events_stop(2);
	KUNIT_EXPECT_EQ(test, flow_refill(0), 7);
	KUNIT_EXPECT_STREQ(test, log_of(), "spK");
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_REFILL), 4ULL);
}

static void a_list_that_a_policy_fills_asks_no_buddy(struct kunit *test)
{
	both_start();
	flow_does.stock = 3;
	KUNIT_EXPECT_EQ(test, flow_refill(2), 3);
	KUNIT_EXPECT_STREQ(test, log_of(), "se");
	KUNIT_EXPECT_TRUE(test, ended_refill.stocked);
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_REFILL), 1ULL);
}

/* A zone that one policy has taken is taken for the other policy too. */
static void a_taken_zone_is_left_alone(struct kunit *test)
{
	both_start();
	flow_does.taken = true;
	KUNIT_EXPECT_EQ(test, flow_refill(0), 7);
	KUNIT_EXPECT_STREQ(test, log_of(), IS_ENABLED(CONFIG_CMA) ? "fKe" : "Ke");
	lmm_events_stop(2);
	flow_refill(0);
	KUNIT_EXPECT_STREQ(test, log_of(), "spK");
}

/* A split that yields nothing is followed by what would have been asked for without it. */
static void blocks_to_split_are_asked_for_first(struct kunit *test)
{
	both_start();
	flow_does.split = 3;
	KUNIT_EXPECT_EQ(test, flow_refill(0), 7);
	KUNIT_EXPECT_STREQ(test, log_of(), IS_ENABLED(CONFIG_CMA) ? "spKfKe" : "spKKe");
	KUNIT_EXPECT_EQ(test, ended_refill.split_pages, 56UL);
	KUNIT_EXPECT_EQ(test, asked_order, 0U);
	KUNIT_EXPECT_EQ(test, asked_blocks, 7UL);
}

static void where_pages_come_from_is_tried_once(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_CMA))
		kunit_skip(test, "no CMA");
	lmm_events_start(2);
	flow_does.from = 2;
	KUNIT_EXPECT_EQ(test, flow_refill(0), 7);
	KUNIT_EXPECT_STREQ(test, log_of(), "fKe");
	KUNIT_EXPECT_EQ(test, asked_type, MIGRATE_MOVABLE + 2);
	flow_does.nothing_once = true;
	KUNIT_EXPECT_EQ(test, flow_refill(0), 7);
	KUNIT_EXPECT_STREQ(test, log_of(), "fKKe");
	KUNIT_EXPECT_EQ(test, asked_type, MIGRATE_MOVABLE);
	KUNIT_EXPECT_EQ(test, asked_flags, 5U);
}

static void a_drain_is_shown_in_order(struct kunit *test)
{
	flow_drain(63);
	KUNIT_EXPECT_STREQ(test, log_of(), "K");
	KUNIT_EXPECT_EQ(test, asked_pindex, 1);
	both_start();
	flow_pages.count = 1000;
	flow_does.keep = 13;
	flow_does.store = 40;
	flow_drain(63);
	KUNIT_EXPECT_STREQ(test, log_of(), "zsKe");
	KUNIT_EXPECT_EQ(test, asked_pindex, 1);
	KUNIT_EXPECT_EQ(test, ended_drain.left, 10);
	KUNIT_EXPECT_EQ(test, ended_drain.gone, 57);
	KUNIT_EXPECT_EQ(test, flow_pages.count, 943);
	KUNIT_EXPECT_FALSE(test, ended_drain.is_here);
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_DRAIN), 2ULL);
}

/*
 * A drain of which the list sizing left nothing is offered to nobody, but it was one.  Who sizes
 * lists hears of pages that a depot took beyond the answer.
 */
static void a_list_with_room_offers_nothing(struct kunit *test)
{
	both_start();
	flow_does.keep = 63;
	flow_drain(63);
	KUNIT_EXPECT_STREQ(test, log_of(), "z");
	flow_does.keep = 0;
	flow_does.store = 63;
	flow_drain(63);
	KUNIT_EXPECT_STREQ(test, log_of(), "zse");
	KUNIT_EXPECT_EQ(test, ended_drain.gone, 63);
	flow_does.store = 126;
	flow_drain(63);
	KUNIT_EXPECT_STREQ(test, log_of(), "zse");
	KUNIT_EXPECT_EQ(test, ended_drain.gone, 126);
	KUNIT_EXPECT_LE(test, ended_drain.left, 0);
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_DRAIN), 3ULL);
}

static void a_policy_drains_by_another(struct kunit *test)
{
	flow_does.store = 40;
	preempt_disable();
	KUNIT_EXPECT_EQ(test, lmm_drain_down(flow_zone, &flow_pages, 500), 0);
	both_start();
	KUNIT_EXPECT_EQ(test, lmm_drain_down(flow_zone, &flow_pages, 500), 40);
	preempt_enable();
	KUNIT_EXPECT_STREQ(test, log_of(), "d");
}

/* What a policy drains goes past our wrapper, but not past what others have at the function. */
static void a_policy_drains_past_our_wrapper_alone(struct kunit *test)
{
	both_start();
	preempt_disable();
	lmm_drain_by_kernel(flow_zone, 10, &flow_pages);
	KUNIT_EXPECT_STREQ(test, log_of(), "E");
	lmm_hooks[LMM_HOOK_DRAIN].only_ours = true;
	lmm_drain_by_kernel(flow_zone, 10, &flow_pages);
	KUNIT_EXPECT_STREQ(test, log_of(), "K");
	lmm_hooks[LMM_HOOK_DRAIN].only_ours = false;
	preempt_enable();
}

static void record_refill(const struct lmm_refill *refill)
{
	flow_note(refill->got == 7 ? 'r' : '?');
}

static void record_drain(const struct lmm_drain *drain)
{
	flow_note(drain->count == 50 ? 'r' : '?');
}

/* The recorder sees what policies have made of a refill and of a drain. */
static void the_recorder_is_told_last(struct kunit *test)
{
	static const struct lmm_recorder recorder = { record_refill, record_drain };

	lmm_events_start(2);
	flow_does.keep = 13;
	lmm_recorder_set(&recorder);
	flow_refill(0);
	KUNIT_EXPECT_STREQ(test, log_of(), IS_ENABLED(CONFIG_CMA) ? "fKer" : "Ker");
	flow_drain(63);
	KUNIT_EXPECT_STREQ(test, log_of(), "zrKe");
	lmm_recorder_set(NULL);
	flow_drain(63);
	KUNIT_EXPECT_STREQ(test, log_of(), "zKe");
}

LMM_ON_TRACEPOINT(PCP, MIXED, (void *data, int order), flow_note(order == 2 ? 'm' : '?'))
LMM_ON_KPROBE(PCP, MM_EXIT, flow_note(LMM_PROBED(0) == 4 ? 'x' : '?'))

/* A hook of one policy counts whether or not the policy is told. */
static void a_probe_acts_while_its_policy_is_told(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		probe_MIXED(NULL, 2);
		KUNIT_EXPECT_EQ(test, probe_MM_EXIT(NULL, &(struct pt_regs){ .di = 4 }), 0);
		KUNIT_EXPECT_STREQ(test, log_of(), i ? "mx" : "");
		lmm_events_start(LMM_PCP);
	}
	lmm_events_stop(LMM_PCP);
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_MIXED), 2ULL);
	KUNIT_EXPECT_EQ(test, lmm_counter_read(lmm_hook_hits, LMM_HOOK_MM_EXIT), 2ULL);
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

/* An event without a row would be skipped in silence. */
static void every_event_has_a_row(struct kunit *test)
{
	enum { EVENTS(EVENT_ID, EVENT_NONE) SINGLE };
	enum { EVENTS(EVENT_NONE, EVENT_ID) LISTED };

	KUNIT_EXPECT_EQ(test, sizeof(struct lmm_events), (SINGLE + LISTED) * sizeof(void *));
}

static struct kunit_case flow_cases[] = {
	KUNIT_CASE(a_list_of_policies_is_told_in_order),
	KUNIT_CASE(zones_that_lack_are_told),
	KUNIT_CASE(a_refill_is_shown_in_order),
	KUNIT_CASE(a_list_that_a_policy_fills_asks_no_buddy),
	KUNIT_CASE(a_taken_zone_is_left_alone),
	KUNIT_CASE(blocks_to_split_are_asked_for_first),
	KUNIT_CASE(where_pages_come_from_is_tried_once),
	KUNIT_CASE(a_drain_is_shown_in_order),
	KUNIT_CASE(a_list_with_room_offers_nothing),
	KUNIT_CASE(a_policy_drains_by_another),
	KUNIT_CASE(a_policy_drains_past_our_wrapper_alone),
	KUNIT_CASE(the_recorder_is_told_last),
	KUNIT_CASE(a_probe_acts_while_its_policy_is_told),
	KUNIT_CASE(hint_faults_are_sampled_by_chance),
	KUNIT_CASE(every_event_has_a_row),
	{ }
};

static struct kunit_suite flow_suite = {
	.name = "livemm_flow",
	.init = flow_init,
	.exit = flow_exit,
	.test_cases = flow_cases,
};
