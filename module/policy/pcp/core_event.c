// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_event.c - arithmetic of mode `event`; see core_event.h
 */
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core_event.h"

static void use_begin(struct pcp_use *use, const struct pcp_sample *sample)
{
	*use = (struct pcp_use){
		.net = sample->net,
		.most = sample->count,
		.least = sample->count,
	};
}

static void use_see(struct pcp_use *use, const struct pcp_sample *sample)
{
	use->net = min(use->net, sample->net);
	use->most = max(use->most, sample->count);
	use->least = min(use->least, sample->count);
}

/*
 * A tick or a drain sees the list.  The CPU took the pages that the list has lost otherwise than by
 * drains.  A bound that came down since took pages too, at most as many as were above the bound.
 * Pages that compaction or hotplug drained look as if the CPU had taken them.
 */
static void list_see(struct pcp_event *event, const struct pcp_sample *sample,
		     const struct pcp_limits *limits)
{
	struct pcp_use *use = &event->use[event->now];
	int seen = min(event->seen, limits->now ?: limits->def);

	use_see(use, sample);
	if (seen > sample->count)
		use->missing += seen - sample->count;
	event->seen = sample->count;
}

/*
 * Fewest pages that the list may have had in PCP_USE_TICKS.  Where refills are not seen, the list
 * may have been empty between two looks: pages that the CPU could have taken in one tick do not
 * count.  A CPU may take all its pages from lists of other nodes, so a batch must be missing here.
 */
static int fewest(const struct pcp_event *event, const struct pcp_sample *sample,
		  const struct pcp_limits *limits)
{
	const struct pcp_use *use = &event->use[event->now];
	unsigned long at_once = max(event->at_once, sample->allocated - event->allocated);
	int least = min(event->least, use->least);

	if (limits->sees_refills || event->missing + use->missing < limits->batch)
		return least;
	return least > 0 && least > at_once ? least - at_once : 0;
}

/* Pages that the CPU has out and that, by its recent past, will come back.  The counts wrap. */
static long outstanding(const struct pcp_event *event, const struct pcp_sample *sample)
{
	long least = min3(event->net, event->use[event->now].net, sample->net);

	return (unsigned long)sample->net - (unsigned long)least;
}

/**
 * pcp_event_tuned() - does a bound that the kernel has tuned count as raised?
 * @tuned: the bound, in pages; 0 where the kernel does not tune
 * @low: the lowest bound that the kernel may choose
 * @batch: the list's batch, in pages
 *
 * Not if it is a few batches above @low, nor if it is what the kernel needs to drain as much as it
 * wants while the CPU only frees.  A policy that lowered the list would have the kernel raise the
 * bound again at the next free, and the list fill up again; meanwhile the depot, if there is one,
 * gets no page.
 *
 * Return: @tuned, or 0 if the list is not raised.
 */
int pcp_event_tuned(int tuned, int low, int batch)
{
	return tuned > max(low + batch * PCP_SPARE_BATCHES, batch * (PCP_FREED_BATCHES + 1)) ?
	       tuned : 0;
}

/**
 * pcp_event_begin() - start to learn about a list
 * @event: state of the list
 * @sample: the list now
 * @allocated: pages that the CPU has allocated from zones of this kind since boot
 *
 * For the first PCP_USE_TICKS every page counts as in use.
 */
void pcp_event_begin(struct pcp_event *event, const struct pcp_sample *sample,
		     unsigned long allocated)
{
	const struct pcp_sample empty = { .net = sample->net };
	int i;

	memset(event, 0, sizeof(*event));
	for (i = 0; i < PCP_USE_TICKS; i++)
		use_begin(&event->use[i], &empty);
	use_see(&event->use[event->now], sample);
	event->seen = sample->count;
	event->net = sample->net;
	event->allocated = allocated;
}

/**
 * pcp_event_refill() - pages came from the buddy
 * @event: state of the list
 * @sample: the list before the refill
 * @pages: pages that came
 */
void pcp_event_refill(struct pcp_event *event, const struct pcp_sample *sample, int pages)
{
	struct pcp_use *use = &event->use[event->now];

	use_see(use, sample);
	use->refilled[sample->type] += pages;
	event->least = min(event->least, sample->count);
}

/*
 * Pages by which the list is too small.  Outstanding pages come back; pages that lay in the list
 * all the time can make room for them.  Where refills are seen, the shortage is at most what
 * refills had to fetch of the migratetype that is freed now: outstanding pages are those of all
 * migratetypes, and the CPU may take pages of one for the page cache, and free those of another
 * that come by a pipe.  Elsewhere a list of which half cannot have been used has no shortage.
 */
static long shortage(const struct pcp_event *event, const struct pcp_sample *sample,
		     const struct pcp_limits *limits)
{
	const struct pcp_use *use = &event->use[event->now];
	unsigned long refilled = event->refilled[sample->type] + use->refilled[sample->type];
	int least = fewest(event, sample, limits);
	int high = limits->now ?: limits->def;
	long out = outstanding(event, sample);

	if (limits->sees_refills)
		return min_t(long, out, refilled) - least;
	return least > max(limits->def, high / 2) ? 0 : out;
}

/**
 * pcp_event_drain() - should a full list be larger?
 * @event: state of the list
 * @sample: the list now
 * @limits: limits of the list
 *
 * Not if the CPU only frees, because nothing is outstanding, nor if the CPU takes pages from other
 * lists only.  A drain at most doubles a list, and the list must fill before the next raise.  A CPU
 * that allocates for ever, with small dips, thus gets no list for all pages that it has out.
 *
 * Return: the decision.  @high is above limits->now, or the list stays and @reason says why.
 */
struct pcp_decision pcp_event_drain(struct pcp_event *event, const struct pcp_sample *sample,
				    const struct pcp_limits *limits)
{
	struct pcp_decision decision = { .high = limits->now ?: limits->def };
	s64 want = 0;
	long missing;

	list_see(event, sample, limits);
	decision.reason = pcp_blocked(limits);
	if (decision.reason)
		return decision;
	decision.reason = PCP_BY_USE;
	missing = shortage(event, sample, limits);
	/* A batch more, because a list is drained when it reaches its bound. */
	if (missing >= limits->batch)
		want = sample->count + min_t(s64, (s64)missing + limits->batch, decision.high);
	if (want > limits->max) {
		want = limits->max;
		decision.reason = PCP_BY_MAX;
	}
	if (want <= decision.high)
		return decision;
	if (limits->near) {
		decision.reason = PCP_BY_WATERMARK;
		return decision;
	}
	decision.high = want;
	return decision;
}

/**
 * pcp_event_drain_count() - how much of a full list to drain
 * @event: state of the list
 * @sample: the list now
 * @asked: pages that the kernel wants to drain
 * @limits: limits of the list
 *
 * Nothing goes if the list has just been raised and has room again.  In a mix, drained pages are
 * fetched again.  So only the outstanding pages get room, and at most a small share of the list.
 * If none are outstanding, a batch goes.  When the CPU takes nothing from the list, or more has
 * gone already than the list holds, as at the end of a process, the kernel's doubling stands.  A
 * batch doubles PCP_BATCH_SCALE times at most.
 *
 * Return: pages, at most @asked.
 */
int pcp_event_drain_count(const struct pcp_event *event, const struct pcp_sample *sample, int asked,
			  const struct pcp_limits *limits)
{
	const struct pcp_use *use = &event->use[event->now];
	int high = limits->now ?: limits->def;
	bool taken = fewest(event, sample, limits) <= high / 2;
	int most = limits->batch << PCP_BATCH_SCALE;
	long out;

	if (pcp_blocked(limits) || limits->near)
		return asked;
	if (sample->count < high)
		return 0;
	if (taken && event->drained + use->drained <= high) {
		out = max(outstanding(event, sample), 0L);
		/* A batch more, because a list is drained when it reaches its bound. */
		most = min3((long)most, out + limits->batch,
			    max_t(long, limits->batch, high >> PCP_DRAIN_SHIFT));
	}
	return min(asked, most);
}

/**
 * pcp_event_drained() - pages of this list have gone to the buddy, or to a depot
 * @event: state of the list
 * @pages: pages that went
 *
 * Otherwise the pages would look as if the CPU had taken them from the list.
 */
void pcp_event_drained(struct pcp_event *event, int pages)
{
	event->use[event->now].drained += pages;
	event->seen -= pages;
}

/**
 * pcp_event_hold() - limit a bound to what is allowed, needed or not
 * @limits: limits of the list; @now is 0 while the kernel's bound stands
 *
 * Return: the decision; never above limits->now, nor below the default.
 */
struct pcp_decision pcp_event_hold(const struct pcp_limits *limits)
{
	struct pcp_decision decision = { .high = limits->def };

	decision.reason = pcp_blocked(limits);
	if (decision.reason) {
		decision.hands_off = decision.reason >= PCP_BY_SYSCTL;
	} else if (limits->now > limits->max) {
		decision.high = max(limits->max, limits->def);
		decision.reason = PCP_BY_MAX;
	} else if (limits->now > limits->def) {
		decision.high = limits->now;
		decision.reason = PCP_BY_USE;
	}
	return decision;
}

/* The last PCP_USE_TICKS, as only a tick needs them. */
struct window {
	int most;		/* pages in the list */
	unsigned long used;	/* allocated by the CPU */
};

/* Close the current tick, and update what hooks need to know of the past. */
static struct window tick_close(struct pcp_event *event, const struct pcp_sample *sample,
				unsigned long allocated, const struct pcp_limits *limits)
{
	struct pcp_use *use = &event->use[event->now];
	struct window window = { };
	unsigned int i, type;

	list_see(event, sample, limits);
	use->allocated = allocated - event->allocated;
	event->allocated = allocated;

	event->net = use->net;
	event->least = use->least;
	event->at_once = 0;
	event->drained = 0;
	event->missing = 0;
	memset(event->refilled, 0, sizeof(event->refilled));
	for (i = 0; i < PCP_USE_TICKS; i++) {
		const struct pcp_use *past = &event->use[i];

		event->net = min(event->net, past->net);
		for (type = 0; type < PCP_TYPES; type++)
			event->refilled[type] += past->refilled[type];
		event->least = min(event->least, past->least);
		event->drained += past->drained;
		event->missing += past->missing;
		window.most = max(window.most, past->most);
		window.used += past->allocated;
		event->at_once = max(event->at_once, past->allocated);
	}
	event->now = (event->now + 1) % PCP_USE_TICKS;
	use_begin(&event->use[event->now], sample);
	return window;
}

/**
 * pcp_event_tick() - lower the bound to what is still needed after a tick
 * @event: state of the list
 * @sample: the list now
 * @allocated: pages that the CPU has allocated from zones of this kind since boot
 * @limits: limits of the list; @now is 0 while the kernel's bound stands
 *
 * Spare pages are those that an idle list always had in PCP_USE_TICKS.  Between two samples the
 * list may have had fewer, so pages that the CPU could have taken in a single tick are not spare.
 *
 * Return: the decision; never above limits->now, nor below the default.
 */
struct pcp_decision pcp_event_tick(struct pcp_event *event, const struct pcp_sample *sample,
				   unsigned long allocated, const struct pcp_limits *limits)
{
	struct pcp_decision decision = pcp_event_hold(limits);
	const struct window window = tick_close(event, sample, allocated, limits);
	int spare, unused, high;

	if (decision.high <= limits->def) {
		if (decision.reason == PCP_BY_DEFAULT && !window.used)
			decision.reason = PCP_BY_IDLE;
		return decision;
	}
	high = decision.high;
	spare = window.used < high && event->least > event->at_once ?
		event->least - event->at_once : 0;
	unused = high - window.most - limits->batch;
	if (unused > 0)
		high -= max(unused >> PCP_UNUSED_SHIFT, 1);
	high -= spare;
	if (high == decision.high)
		return decision;
	/* The last few pages are not worth a bound of their own. */
	decision.high = high < limits->def + limits->batch ? limits->def : high;
	decision.reason = PCP_BY_DECAY;
	return decision;
}
