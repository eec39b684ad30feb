// SPDX-License-Identifier: GPL-2.0-only
/*
 * core.c - arithmetic of NUMA balancing; see core.h
 */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core.h"

/*
 * A window counts at most 1 << NUMA_COUNT_BITS pages, 1 EiB of memory, so the sum of a
 * history cannot wrap.
 */
#define NUMA_COUNT_BITS	48

/*
 * @of * @part / @whole, at most @of.  Exact while @whole fits into 32 bits; for a larger
 * @whole the low bits of @part and @whole are dropped.
 */
static u32 share_of(u64 part, u64 whole, u32 of)
{
	int excess = max(fls64(whole) - 32, 0);

	if (part >= whole)
		return of;
	return div_u64((part >> excess) * of, whole >> excess);
}

const char *const numa_reason_words[NUMA_NR_REASONS] = {
	[NUMA_BY_FEW] = "few",
	[NUMA_BY_WAIT] = "wait",
	[NUMA_BY_FALL] = "fall",
	[NUMA_BY_RISE] = "rise",
	[NUMA_BY_SHARED] = "shared",
	[NUMA_BY_SETTLED] = "settled",
	[NUMA_BY_STABLE] = "stable",
	[NUMA_BY_STEADY] = "steady",
};

const char *const numa_limit_words[NUMA_NR_LIMITS] = {
	[NUMA_LIMIT_NONE] = "none",
	[NUMA_LIMIT_FIRST_PASS] = "first_pass",
	[NUMA_LIMIT_SCAN_DELAY] = "scan_delay",
	[NUMA_LIMIT_KERNEL] = "kernel",
	[NUMA_LIMIT_CALM] = "calm",
};

/**
 * numa_scans_of_pass() - how many scans is a pass over the whole address space?
 * @resident: resident pages
 * @scan_pages: pages of one scan
 *
 * The kernel's own rule, task_nr_scan_windows(): by resident pages, because the kernel walks
 * ranges without pages fast.
 *
 * Return: number of scans, at least 1.
 */
u32 numa_scans_of_pass(u64 resident, u32 scan_pages)
{
	if (!scan_pages)
		return 1;
	return clamp_t(u64, div_u64(resident + scan_pages - 1, scan_pages), 1, U32_MAX);
}

/**
 * numa_scan_floor() - shortest period in which a thread may scan
 * @scan_mib: MiB of one scan
 *
 * The kernel's own rule, task_scan_min(): no thread scans more than NUMA_SCAN_MIB_PER_S.
 *
 * Return: the period of a scan, in ms, at least 1.
 */
u32 numa_scan_floor(u32 scan_mib)
{
	return max(1000 / max(NUMA_SCAN_MIB_PER_S / max(scan_mib, 1U), 1U), 1U);
}

/**
 * numa_settings_per_scan() - turn periods of a pass into periods of a scan
 * @settings: with the bounds of a whole pass; changed
 * @scans: scans of a pass, at least 1
 * @scan_mib: MiB of one scan
 *
 * The kernel's own rule, task_scan_min() and task_scan_max(): the periods of a large address
 * space are shorter by the number of scans, but no thread scans more than NUMA_SCAN_MIB_PER_S.
 */
void numa_settings_per_scan(struct numa_settings *settings, u32 scans, u32 scan_mib)
{
	settings->period_min_ms = max(settings->period_min_ms / scans, numa_scan_floor(scan_mib));
	settings->period_max_ms = max(settings->period_max_ms / scans, settings->period_min_ms);
}

/**
 * numa_counts_take() - end a window that has enough faults
 * @closed: the counters when the window before ended; set to @now when this one ends
 * @now: the counters now
 * @window: receives the counts of the window
 *
 * Return: false if the window goes on; @closed is then unchanged and no fault is lost.
 */
bool numa_counts_take(struct numa_counts *closed, const struct numa_counts *now,
		      struct numa_counts *window)
{
	u64 largest = 0;
	int i, excess;

	window->faults = now->faults - closed->faults;
	if (window->faults < NUMA_MIN_FAULTS)
		return false;
	for (i = 0; i < NUMA_NR_CLASSES; i++) {
		window->pages[i] = now->pages[i] - closed->pages[i];
		largest = max(largest, window->pages[i]);
	}
	/* All classes lose the same bits: only their ratio matters. */
	excess = max(fls64(largest) - NUMA_COUNT_BITS, 0);
	for (i = 0; i < NUMA_NR_CLASSES; i++)
		window->pages[i] >>= excess;
	*closed = *now;
	return true;
}

static void decay(u64 *history, unsigned int shift, u64 window)
{
	*history = *history - (*history >> shift) + window;
}

/**
 * numa_history_add() - add a window to the history
 * @history: of the address space
 * @window: from numa_counts_take()
 */
void numa_history_add(struct numa_history *history, const struct numa_counts *window)
{
	const u64 *pages = window->pages;

	decay(&history->local, NUMA_LOCALITY_SHIFT,
	      pages[NUMA_LOCAL_PRIVATE] + pages[NUMA_LOCAL_SHARED]);
	decay(&history->remote, NUMA_LOCALITY_SHIFT,
	      pages[NUMA_REMOTE_PRIVATE] + pages[NUMA_REMOTE_SHARED]);
	decay(&history->private, NUMA_SHARING_SHIFT,
	      pages[NUMA_LOCAL_PRIVATE] + pages[NUMA_REMOTE_PRIVATE]);
	decay(&history->shared, NUMA_SHARING_SHIFT,
	      pages[NUMA_LOCAL_SHARED] + pages[NUMA_REMOTE_SHARED]);
}

/**
 * numa_remote_rate() - percent of remote hint faults
 * @history: of the address space
 *
 * Return: percent, 1..100; never 0, because rates are divided by each other.
 */
unsigned int numa_remote_rate(const struct numa_history *history)
{
	return max(share_of(history->remote, history->local + history->remote + 1, 100), 1U);
}

/**
 * numa_private_share() - tenths of private hint faults
 * @history: of the address space
 *
 * Return: tenths, 0..10.
 */
unsigned int numa_private_share(const struct numa_history *history)
{
	return share_of(history->private, history->private + history->shared + 1, 10);
}

/* Change of the rate over two windows; these three enums are sets, so a rule can match several. */
enum change { FELL = 1, STABLE = 2, ROSE = 4 };

/* A trend, or the trend that a window intends. */
enum course { SHORTEN = 1, LENGTHEN = 2, EITHER = 3 };

/* Reasons to lengthen the period whatever the rate did. */
enum plea { NO_PLEA = 1, SHARED = 2, SETTLED = 4, NOT_SHARED = 5, A_PLEA = 6, ANY_PLEA = 7 };

/**
 * enum slope_kind - source of the slope
 * @KEEP: the slope of the window before
 * @TURN: the change of the rate one window ago, which made the trend turn
 * @FOLLOW: the change of the rate in this window
 * @BY_SHARE: grows as the share of private faults falls
 * @LITTLE: NUMA_SETTLED_PCT
 * @STEADILY: steady_pct, for this window only
 */
enum slope_kind { KEEP, TURN, FOLLOW, BY_SHARE, LITTLE, STEADILY };

/**
 * struct rule - effect of a window on the trend
 * @change: set of changes of the rate that the rule is for
 * @trend: set of present trends that the rule is for
 * @intended: set of intentions of the window before that the rule is for
 * @plea: set of reasons to lengthen that the rule is for
 * @then: the trend from now on
 * @intends: the intention of this window
 * @slope: source of the slope
 * @apply: divide the period by the slope now; otherwise a later window uses the slope
 * @reason: reported in the decision
 *
 * The trend turns when two windows in a row intend the turn.  A stable window intends to
 * shorten unless there is a plea, so the policy answers a rise after a quiet time at once.
 */
struct rule {
	u8 change;
	u8 trend;
	u8 intended;
	u8 plea;
	u8 then;
	u8 intends;
	u8 slope;
	bool apply;
	u8 reason;
};

static const struct rule rules[] = {
	{ FELL, SHORTEN, LENGTHEN, ANY_PLEA, LENGTHEN, LENGTHEN, TURN, true, NUMA_BY_FALL },
	{ FELL, LENGTHEN, LENGTHEN, ANY_PLEA, LENGTHEN, LENGTHEN, FOLLOW, true, NUMA_BY_FALL },
	{ FELL, SHORTEN, SHORTEN, SHARED, LENGTHEN, LENGTHEN, BY_SHARE, false, NUMA_BY_SHARED },
	{ FELL, SHORTEN, SHORTEN, NOT_SHARED, SHORTEN, LENGTHEN, KEEP, false, NUMA_BY_WAIT },
	{ FELL, LENGTHEN, SHORTEN, ANY_PLEA, LENGTHEN, LENGTHEN, KEEP, false, NUMA_BY_WAIT },

	{ ROSE, SHORTEN, SHORTEN, NOT_SHARED, SHORTEN, SHORTEN, FOLLOW, true, NUMA_BY_RISE },
	/* Here alone the series went on shortening what is shared. */
	{ ROSE, SHORTEN, SHORTEN, SHARED, SHORTEN, LENGTHEN, KEEP, false, NUMA_BY_SHARED },
	{ ROSE, LENGTHEN, SHORTEN, NOT_SHARED, SHORTEN, SHORTEN, TURN, true, NUMA_BY_RISE },
	{ ROSE, LENGTHEN, SHORTEN, SHARED, LENGTHEN, LENGTHEN, KEEP, true, NUMA_BY_SHARED },
	{ ROSE, SHORTEN, LENGTHEN, SHARED, LENGTHEN, LENGTHEN, BY_SHARE, false, NUMA_BY_SHARED },
	{ ROSE, SHORTEN, LENGTHEN, NOT_SHARED, SHORTEN, SHORTEN, KEEP, false, NUMA_BY_WAIT },
	{ ROSE, LENGTHEN, LENGTHEN, ANY_PLEA, LENGTHEN, SHORTEN, KEEP, false, NUMA_BY_WAIT },

	{ STABLE, LENGTHEN, EITHER, ANY_PLEA, LENGTHEN, SHORTEN, STEADILY, true, NUMA_BY_STEADY },
	{ STABLE, SHORTEN, LENGTHEN, SHARED, LENGTHEN, LENGTHEN, BY_SHARE, true, NUMA_BY_SHARED },
	{ STABLE, SHORTEN, LENGTHEN, SETTLED, LENGTHEN, LENGTHEN, LITTLE, true, NUMA_BY_SETTLED },
	{ STABLE, SHORTEN, SHORTEN, A_PLEA, SHORTEN, LENGTHEN, KEEP, false, NUMA_BY_WAIT },
	{ STABLE, SHORTEN, EITHER, NO_PLEA, SHORTEN, SHORTEN, KEEP, true, NUMA_BY_STABLE },
};

static const struct rule *rule_for(const struct numa_trend *trend, enum change change,
				   enum plea plea)
{
	enum course course = trend->lengthening ? LENGTHEN : SHORTEN;
	enum course intended = trend->intended ? LENGTHEN : SHORTEN;
	const struct rule *rule = rules;

	/* The rules cover every case; the last rule matches what the others leave. */
	while (rule < rules + ARRAY_SIZE(rules) - 1 &&
	       !(rule->change & change && rule->trend & course &&
		 rule->intended & intended && rule->plea & plea))
		rule++;
	return rule;
}

static u32 ratio(u32 numerator, u32 denominator)
{
	return div_u64((u64)numerator * NUMA_SLOPE_ONE, denominator);
}

static u32 slope_of(enum slope_kind kind, const struct numa_trend *trend,
		    const struct numa_sight *sight, const struct numa_settings *settings)
{
	switch (kind) {
	case TURN:
		return ratio(trend->rate, trend->older);
	case FOLLOW:
		return ratio(sight->rate, trend->rate);
	case BY_SHARE:
		return ratio(100, 100 + (NUMA_PRIVATE_TENTHS - sight->private) *
				  NUMA_SHARED_STEP_PCT);
	case LITTLE:
		return ratio(100, NUMA_SETTLED_PCT);
	case STEADILY:
		return ratio(100, settings->steady_pct);
	default:
		return trend->slope;
	}
}

/*
 * A slope must not contradict the trend: of a rate that went 50, 20, 30 the last change
 * says "shorten", though the rate fell over both windows.
 */
static u32 slope_limit(u32 slope, bool lengthening, const struct numa_settings *settings)
{
	u32 least = ratio(100, settings->step_max_pct);
	u32 most = ratio(settings->step_max_pct, 100);

	if (lengthening)
		most = NUMA_SLOPE_ONE;
	else
		least = NUMA_SLOPE_ONE;
	return clamp(slope, least, most);
}

/* The rate has not moved although every page was scanned: scanning does not help. */
static bool stuck(u32 moved, u32 pass)
{
	return pass - moved >= NUMA_STUCK_PASSES;
}

/* The rate has moved away from @anchor, the rate at the last move; 0: no rate was seen yet. */
static bool leaves(unsigned int rate, unsigned int anchor)
{
	return !anchor || abs((int)rate - (int)anchor) > NUMA_STABLE_POINTS;
}

/* The rate no longer rises, and every page was scanned. */
static bool settled(const struct numa_trend *trend, const struct numa_sight *sight)
{
	return trend->older >= trend->rate && trend->rate >= sight->rate &&
	       sight->pass > NUMA_SETTLED_PASSES;
}

/**
 * numa_trend_window() - the change of the period after a window
 * @trend: of the address space; updated
 * @sight: the figures of the window
 * @settings: the policy's
 *
 * Return: the step to take.
 */
struct numa_step numa_trend_window(struct numa_trend *trend, const struct numa_sight *sight,
				   const struct numa_settings *settings)
{
	int difference = (int)sight->rate - trend->older;
	bool shared = sight->private < NUMA_PRIVATE_TENTHS;
	struct numa_step step = { .slope = NUMA_SLOPE_ONE };
	enum change change = STABLE;
	enum plea plea = NO_PLEA;
	const struct rule *rule;
	u32 slope;

	if (difference > NUMA_STABLE_POINTS)
		change = ROSE;
	else if (difference < -NUMA_STABLE_POINTS)
		change = FELL;
	if (change != STABLE)
		trend->moved = sight->pass;
	if (shared)
		plea = SHARED;
	else if (settled(trend, sight) ||
		 (settings->steady_pct > 100 && stuck(trend->moved, sight->pass)))
		plea = SETTLED;

	rule = rule_for(trend, change, plea);
	step.reason = rule->reason;
	trend->lengthening = rule->then == LENGTHEN;
	trend->intended = rule->intends == LENGTHEN;
	slope = slope_limit(slope_of(rule->slope, trend, sight, settings),
			    trend->lengthening, settings);
	trend->older = trend->rate;
	trend->rate = sight->rate;
	if (rule->slope != STEADILY)
		trend->slope = slope;
	if (rule->apply && (rule->slope != STEADILY || plea == SHARED ||
			    sight->rate <= NUMA_STEADY_REMOTE_PCT ||
			    stuck(trend->moved, sight->pass)))
		step.slope = slope;
	return step;
}

/**
 * numa_period_divide() - change the period by a slope
 * @period_us: the period, in microseconds
 * @slope: divisor, in units of NUMA_SLOPE_ONE, not 0
 * @settings: the policy's
 *
 * Return: the new period in microseconds, rounded to the nearest, within the bounds.
 */
u32 numa_period_divide(u32 period_us, u32 slope, const struct numa_settings *settings)
{
	u64 period = div_u64((u64)period_us * NUMA_SLOPE_ONE + slope / 2, slope);

	return clamp_t(u64, period, settings->period_min_ms * 1000ULL,
		       settings->period_max_ms * 1000ULL);
}

/**
 * numa_first_pass_max() - the longest period during the first pass
 * @facts: of the address space
 * @settings: the policy's
 *
 * The bound grows with the share of resident pages that was scanned, so the period is not
 * long before every page was seen.  Only resident pages can fault.  When @facts counts
 * ranges without pages as scanned, the period is long too soon, with no other harm.
 *
 * Return: milliseconds, within the bounds.
 */
u32 numa_first_pass_max(const struct numa_facts *facts, const struct numa_settings *settings)
{
	if (facts->pass)
		return settings->period_max_ms;
	return max(share_of(facts->scanned, facts->resident, settings->period_max_ms),
		   settings->period_min_ms);
}

/**
 * numa_period_begin() - begin to learn the period of an address space
 * @period: set up here
 * @now: the counters of the address space
 * @facts: the address space
 * @settings: the policy's
 */
void numa_period_begin(struct numa_period *period, const struct numa_counts *now,
		       const struct numa_facts *facts, const struct numa_settings *settings)
{
	memset(period, 0, sizeof(*period));
	period->closed = *now;
	numa_trend_begin(&period->trend, facts->pass);
	period->moved = facts->pass;
	period->looked = facts->pass;
	period->period_us = clamp(facts->kernel_ms, settings->period_min_ms,
				  settings->period_max_ms) * 1000;
}

/*
 * Look at the rate once a pass: between two passes only a part of the memory was scanned,
 * which may have any rate.  Unlike the trend, the anchor also sees slow movement.
 */
static void look_at_rate(struct numa_period *period, unsigned int rate, u32 pass)
{
	if (pass == period->looked)
		return;
	period->looked = pass;
	if (leaves(rate, period->anchor)) {
		period->anchor = rate;
		period->moved = pass;
	}
}

/* Faster scanning than the kernel's is useless: few faults are remote, or none can be helped. */
static bool futile(const struct numa_period *period, const struct numa_decision *decision,
		   const struct numa_facts *facts, const struct numa_settings *settings)
{
	return decision->recent <= NUMA_STEADY_REMOTE_PCT || decision->shared ||
	       (settings->steady_pct > 100 && stuck(period->moved, facts->pass));
}

/*
 * Limits apply to this window only and leave the learnt period, except that the learnt
 * period rises to the kernel's: from far below, lengthening would take many windows.
 */
static void limit(struct numa_period *learnt, struct numa_decision *decision, bool enough,
		  const struct numa_facts *facts, const struct numa_settings *settings)
{
	u32 kernel = clamp(facts->kernel_ms, settings->period_min_ms, settings->period_max_ms);
	u32 period = decision->learnt_ms;
	u32 bound = numa_first_pass_max(facts, settings);

	decision->limit = NUMA_LIMIT_NONE;
	if (period > bound) {
		period = bound;
		decision->limit = NUMA_LIMIT_FIRST_PASS;
	}
	if (period < kernel && !numa_past_scan_delay(facts)) {
		period = kernel;
		decision->limit = NUMA_LIMIT_SCAN_DELAY;
	} else if (period < kernel && futile(learnt, decision, facts, settings)) {
		period = kernel;
		decision->limit = NUMA_LIMIT_KERNEL;
	}
	if (enough && (decision->recent <= NUMA_STABLE_POINTS || decision->shared)) {
		bound = decision->shared ? NUMA_CALM_SHARED : NUMA_CALM;
		bound = min_t(u64, (u64)kernel * bound, settings->period_max_ms);
		if (period < bound) {
			period = bound;
			decision->limit = NUMA_LIMIT_CALM;
		}
	}
	if (decision->limit >= NUMA_LIMIT_SCAN_DELAY)
		learnt->period_us = max(learnt->period_us, kernel * 1000);
	decision->period_ms = period;
}

/* Percent of remote faults in one window. */
static unsigned int window_rate(const struct numa_counts *window)
{
	u64 remote = window->pages[NUMA_REMOTE_PRIVATE] + window->pages[NUMA_REMOTE_SHARED];
	u64 local = window->pages[NUMA_LOCAL_PRIVATE] + window->pages[NUMA_LOCAL_SHARED];

	return remote ? share_of(remote, local + remote, 100) : 0;
}

/**
 * numa_period_window() - end a window and decide on the period
 * @period: what the policy has learnt about the address space; updated
 * @now: the counters of the address space
 * @facts: the address space
 * @settings: the policy's; may have changed since the last window
 *
 * Return: the decision; both periods are within the bounds.
 */
struct numa_decision numa_period_window(struct numa_period *period, const struct numa_counts *now,
					const struct numa_facts *facts,
					const struct numa_settings *settings)
{
	struct numa_step step = { .slope = NUMA_SLOPE_ONE, .reason = NUMA_BY_FEW };
	struct numa_sight sight = { .pass = facts->pass };
	struct numa_decision decision;
	struct numa_counts window;
	bool enough;

	enough = numa_counts_take(&period->closed, now, &window);
	if (enough)
		numa_history_add(&period->history, &window);
	sight.rate = numa_remote_rate(&period->history);
	sight.private = numa_private_share(&period->history);
	if (enough)
		step = numa_trend_window(&period->trend, &sight, settings);
	period->period_us = numa_period_divide(period->period_us, step.slope, settings);
	decision = (struct numa_decision){
		.learnt_ms = DIV_ROUND_CLOSEST(period->period_us, 1000U),
		.rate = sight.rate,
		.private = sight.private,
		.slope = step.slope,
		.lengthening = period->trend.lengthening,
		.shared = enough && sight.private < NUMA_PRIVATE_TENTHS,
		.reason = step.reason,
	};
	if (enough) {
		decision.recent = window_rate(&window);
		look_at_rate(period, sight.rate, facts->pass);
	}
	limit(period, &decision, enough, facts, settings);
	return decision;
}
