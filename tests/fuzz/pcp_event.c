// SPDX-License-Identifier: GPL-2.0-only
/*
 * pcp_event.c - fuzz the sizing of lists by event, with a list that follows each decision
 */
#include "input.h"

#include "policy/pcp/core.c"
#include "policy/pcp/core_event.c"

/**
 * struct list - a per-CPU list as the kernel keeps it
 * @event: what the policy knows of the list
 * @sample: pages in the list, and the CPU's net
 * @allocated: pages that the CPU has allocated
 * @limits: limits of the list
 * @block: pages in each block of the list
 */
struct list {
	struct pcp_event event;
	struct pcp_sample sample;
	unsigned long allocated;
	struct pcp_limits limits;
	int block;
};

static int bound(const struct list *list)
{
	return list->limits.now ?: list->limits.def;
}

/* Counts since boot wrap. */
static void count(struct list *list, long pages)
{
	list->sample.net = (unsigned long)list->sample.net + pages;
	if (pages > 0)
		list->sample.allocated += pages;
}

static void refill(struct list *list)
{
	int pages = list->limits.batch;

	pcp_event_refill(&list->event, &list->sample, pages);
	list->sample.count += pages;
}

/* A bound above the default is ours; the default is the kernel's own. */
static void follow(struct list *list, struct pcp_decision decision)
{
	list->limits.now = decision.hands_off || decision.high <= list->limits.def ? 0 :
			   decision.high;
}

/* The last block goes whole, where the list has so many pages. */
static void went(struct list *list, int pages)
{
	int moved = min(DIV_ROUND_UP(pages, list->block) * list->block, list->sample.count);

	pcp_event_drained(&list->event, moved);
	list->sample.count -= moved;
}

static void drain(struct list *list)
{
	int before = bound(list), pages, asked;
	struct pcp_decision decision;

	decision = pcp_event_drain(&list->event, &list->sample, &list->limits);
	MUST(decision.high, >=, before);
	MUST(decision.high, <=, max(before, list->limits.max));
	if (pcp_blocked(&list->limits) || list->limits.near)
		MUST(decision.high, ==, before);
	follow(list, decision);
	if (list->sample.count < bound(list))
		return;
	asked = min(list->sample.count, list->limits.batch << 3);
	pages = pcp_event_drain_count(&list->event, &list->sample, asked, &list->limits);
	MUST(pages, <=, asked);
	MUST(pages, >=, min(asked, list->limits.batch));
	went(list, pages);
}

static void tick(struct list *list)
{
	struct pcp_decision held = pcp_event_hold(&list->limits), decision;

	decision = pcp_event_tick(&list->event, &list->sample, list->allocated, &list->limits);
	MUST(held.high, >=, list->limits.def);
	MUST(held.high, <=, max(list->limits.now, list->limits.def));
	MUST(decision.high, >=, list->limits.def);
	MUST(decision.high, <=, held.high);
	MUST(decision.hands_off, ==, list->limits.disabled || list->limits.sysctl);
	MUST(decision.reason, <, PCP_NR_REASONS);
	follow(list, decision);
	while (list->sample.count > bound(list))
		list->sample.count -= min(list->sample.count, list->limits.batch);
}

/* A list that nobody uses gives all back in decay_ms, and some time for halving. */
static void fade(struct list *list)
{
	unsigned int ticks;

	list->limits.disabled = false;
	list->limits.sysctl = false;
	for (ticks = 0; list->limits.now && ticks < 64; ticks++)
		tick(list);
	MUST(list->limits.now, ==, 0);
	MUST(list->sample.count, <=, list->limits.def);
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input input = { data, size };
	int batch = take_within(&input, 1, 63);
	int def = take_within(&input, batch * 4, 2048);
	struct list list = {
		.limits = {
			.def = def,
			.max = def + take_within(&input, 0, 1 << 16),
			.batch = batch,
			.sees_refills = take_bool(&input),
		},
		.sample.net = take(&input, 8),
		.allocated = take(&input, 8),
	};

	/* Both are the CPU's one count. */
	list.sample.allocated = list.allocated;
	pcp_event_begin(&list.event, &list.sample, list.allocated);
	while (input.left) {
		int pages = take_within(&input, 1, 512);
		u8 what = take(&input, 1);

		list.block = 1 << (what >> 6);
		list.sample.type = (what >> 3) % PCP_TYPES;
		switch (what % 8) {
		case 0:
			tick(&list);
			break;
		case 1:
			list.limits.near = what & 8;
			list.limits.reclaim = what & 16;
			list.limits.oom = !(what & 0xe0);
			list.limits.sysctl = (what & 0xe0) == 0x20;
			list.limits.disabled = (what & 0xe0) == 0x40;
			break;
		case 2:
			list.limits.max = def + take_within(&input, 0, 1 << 16);
			break;
		case 3:
		case 4:
		case 5:
			for (; pages; pages--) {
				if (!list.sample.count)
					refill(&list);
				list.sample.count--;
				list.allocated++;
				count(&list, 1);
			}
			break;
		default:
			for (; pages; pages--) {
				list.sample.count++;
				count(&list, -1);
				if (list.sample.count >= bound(&list))
					drain(&list);
			}
		}
	}
	fade(&list);
	return 0;
}
