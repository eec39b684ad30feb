/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - arithmetic of NUMA balancing: how often to scan an address space
 *
 * The algorithm of the period is that of "[RFC PATCH v0 3/3] sched/numa: Add adaptive
 * scan period calculation" (Disha Talreja, Wei Huang, Bharata B Rao, 2022-01-28,
 * 20220128052851.17162-4-bharata@amd.com).  Hint faults of all threads of an address
 * space are summed up in windows.  A window is a pass over the address space, or at least
 * NUMA_WINDOW_MS of a longer pass.  A decayed history gives a rate of remote faults.  The
 * period is lengthened when the rate falls and shortened when the rate rises.  The trend
 * turns only when two windows in a row intend the turn.
 *
 * The review asked for more (Mel Gorman, 2022-01-31 to 2022-02-07, in the same thread):
 * an address space is not scanned faster than by the kernel before its scan delay is
 * over.
 *
 * A hint fault is local when the page is on the node of the CPU that faulted, otherwise
 * remote.  A fault is private when the same thread had the last fault on the page,
 * otherwise shared.  The kernel counts both for each thread and places the thread by
 * the counts; here the counts of all threads are summed up and set the period only.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_H
#define LIVEMM_POLICY_NUMA_CORE_H

#include <linux/kernel.h>
#include <linux/types.h>

/*
 * Figures of the series.  Reasons are from the authors' answers to the review
 * (2022-02-02 and 2022-02-03).
 */

/* Least hint faults of a window ("could be a good minimum"). */
#define NUMA_MIN_FAULTS		100

/*
 * A window takes 1/4 off the history of local and remote faults, and 1/2 off the history
 * of private and shared faults: with 1/2 the rate of remote faults oscillated.
 */
#define NUMA_LOCALITY_SHIFT	2
#define NUMA_SHARING_SHIFT	1

/* Percentage points by which the rate of remote faults may move and still be stable. */
#define NUMA_STABLE_POINTS	5

/*
 * Tenths of faults that are private.  With more than 30 % shared faults, faster scanning
 * does not help.  The kernel's own NUMA_PERIOD_THRESHOLD.
 */
#define NUMA_PRIVATE_TENTHS	7

/*
 * Percent that the period grows for each tenth of private faults below
 * NUMA_PRIVATE_TENTHS, and percent of the period after growth when the rate has settled.
 */
#define NUMA_SHARED_STEP_PCT	10
#define NUMA_SETTLED_PCT	110

/* Passes over the whole address space after which a rate can have settled. */
#define NUMA_SETTLED_PASSES	1

/*
 * Figures of livemm.
 */

/*
 * Up to this percentage of remote faults a stable period may be lengthened, and no
 * period is shorter than the kernel's.  100 % less the kernel's NUMA_PERIOD_THRESHOLD.
 */
#define NUMA_STEADY_REMOTE_PCT	30

/*
 * Least period in multiples of the kernel's, after a window with hardly any remote
 * faults, and after a window with mostly shared faults.  The history would take some
 * windows to say the same.
 */
#define NUMA_CALM		2
#define NUMA_CALM_SHARED	4

/*
 * Passes over the whole address space without a change of the rate, after which faster
 * scanning is taken for useless: every page was tried twice, and the kernel moves a page
 * after two faults from one node.
 */
#define NUMA_STUCK_PASSES	2

/*
 * Milliseconds after which a window may end in the middle of a pass.  A pass over a large
 * address space takes minutes, in which the period would not change.
 */
#define NUMA_WINDOW_MS		15000

/*
 * Milliseconds of the shortest and the longest period of a pass.  The shortest is the kernel's own
 * floor: 256 MiB in 100 ms is its fastest scan.  The longest is four times the kernel's own, for
 * the sampling scans in between: with the series' 5000 there would be more faults than with the
 * kernel's.
 */
#define NUMA_PERIOD_MIN_MS	100
#define NUMA_PERIOD_MAX_MS	240000

/*
 * Percent: the largest change of the period by one window, four times or a quarter, and the period
 * after a stable window when scanning is not needed or does not help.
 */
#define NUMA_STEP_MAX_PCT	400
#define NUMA_STEADY_PCT		200

/*
 * Milliseconds that an address space must have been known, and that the scanning thread must have
 * run, before a scan may be faster than the kernel's.  The first is also the age from which on mode
 * promote takes a process.
 */
#define NUMA_SCAN_DELAY_MS	4000
#define NUMA_SCAN_DELAY_RUN_MS	1000

/* Most MiB a second that the kernel scans: its own MAX_SCAN_WINDOW. */
#define NUMA_SCAN_MIB_PER_S	2560

/* A slope of 100 % in fixed point: the period stays as it is. */
#define NUMA_SLOPE_ONE		0x10000U

/**
 * enum numa_class - what a hint fault was
 * @NUMA_LOCAL_PRIVATE: page on the node of the CPU, last fault by the same thread
 * @NUMA_LOCAL_SHARED: page on the node of the CPU, last fault by another thread
 * @NUMA_REMOTE_PRIVATE: page on another node, last fault by the same thread
 * @NUMA_REMOTE_SHARED: page on another node, last fault by another thread
 * @NUMA_NR_CLASSES: number of the above
 *
 * The first fault on a page is private, as for the kernel.
 */
enum numa_class {
	NUMA_LOCAL_PRIVATE,
	NUMA_LOCAL_SHARED,
	NUMA_REMOTE_PRIVATE,
	NUMA_REMOTE_SHARED,
	NUMA_NR_CLASSES
};

/**
 * struct numa_counts - hint faults of an address space, in all or in one window
 * @faults: number of faults
 * @pages: pages of these faults, by enum numa_class; a huge page counts all its pages
 *
 * Counters are never reset.  A window is a difference, which is exact also when a
 * counter wraps.
 */
struct numa_counts {
	u64 faults;
	u64 pages[NUMA_NR_CLASSES];
};

/**
 * struct numa_history - decayed sums over the windows so far, in pages
 * @local: local faults; every window takes off 1/4
 * @remote: remote faults; every window takes off 1/4
 * @private: private faults; every window takes off 1/2
 * @shared: shared faults; every window takes off 1/2
 */
struct numa_history {
	u64 local;
	u64 remote;
	u64 private;
	u64 shared;
};

/**
 * struct numa_settings - what bounds the period of an address space
 * @period_min_ms: shortest period, at least 1: of a whole pass, of one scan after
 *	numa_settings_per_scan()
 * @period_max_ms: longest period, at least @period_min_ms, of the same
 * @step_max_pct: NUMA_STEP_MAX_PCT; 10000, as in the series, is no limit
 * @steady_pct: NUMA_STEADY_PCT; 100, as in the series, leaves the period
 */
struct numa_settings {
	u32 period_min_ms;
	u32 period_max_ms;
	u32 step_max_pct;
	u32 steady_pct;
};

/**
 * enum numa_reason - the result of a window
 * @NUMA_BY_FEW: too few faults; the window goes on
 * @NUMA_BY_WAIT: the window intends a turn of the trend, the window before did not
 * @NUMA_BY_FALL: the remote rate fell; lengthened
 * @NUMA_BY_RISE: the remote rate rose; shortened
 * @NUMA_BY_SHARED: too many faults are shared for faster scanning to help; lengthened
 * @NUMA_BY_SETTLED: the remote rate no longer moves; lengthened
 * @NUMA_BY_STABLE: the remote rate is stable, trend shortening: changed as before
 * @NUMA_BY_STEADY: the remote rate is stable, trend lengthening: left, or lengthened
 * @NUMA_NR_REASONS: number of the above
 */
enum numa_reason {
	NUMA_BY_FEW,
	NUMA_BY_WAIT,
	NUMA_BY_FALL,
	NUMA_BY_RISE,
	NUMA_BY_SHARED,
	NUMA_BY_SETTLED,
	NUMA_BY_STABLE,
	NUMA_BY_STEADY,
	NUMA_NR_REASONS
};

/**
 * struct numa_trend - the direction of the period of an address space
 * @lengthening: the trend; a longer period costs less and notices changes later
 * @intended: the window before intended to lengthen
 * @rate: percent of remote faults after the last window
 * @older: percent of remote faults one window earlier
 * @slope: last slope, in units of NUMA_SLOPE_ONE; the period is divided by the slope, so
 *	a slope above 100 % shortens
 * @moved: pass of the last change of the rate
 */
struct numa_trend {
	bool lengthening;
	bool intended;
	u8 rate;
	u8 older;
	u32 slope;
	u32 moved;
};

/**
 * struct numa_sight - what a window tells the trend
 * @rate: percent of remote faults, 1..100
 * @private: tenths of private faults, 0..10
 * @pass: passes over the whole address space so far
 */
struct numa_sight {
	unsigned int rate;
	unsigned int private;
	u32 pass;
};

/**
 * struct numa_step - a change of the period
 * @slope: divisor of the period, in units of NUMA_SLOPE_ONE
 * @reason: cause of the change
 */
struct numa_step {
	u32 slope;
	enum numa_reason reason;
};

/**
 * enum numa_limit - the limit that was applied to the learnt period
 * @NUMA_LIMIT_NONE: no limit
 * @NUMA_LIMIT_FIRST_PASS: shortened until the whole address space was scanned once
 * @NUMA_LIMIT_SCAN_DELAY: not shorter than the kernel's: the address space may end soon
 * @NUMA_LIMIT_KERNEL: not shorter than the kernel's: few faults of the last window were
 *	remote, or faster scanning has not made the remote faults fewer
 * @NUMA_LIMIT_CALM: not shorter than NUMA_CALM times the kernel's after a window with
 *	hardly any remote faults, or NUMA_CALM_SHARED times after a window with mostly
 *	shared faults
 * @NUMA_NR_LIMITS: number of the above
 */
enum numa_limit {
	NUMA_LIMIT_NONE,
	NUMA_LIMIT_FIRST_PASS,
	NUMA_LIMIT_SCAN_DELAY,
	NUMA_LIMIT_KERNEL,
	NUMA_LIMIT_CALM,
	NUMA_NR_LIMITS
};

/**
 * struct numa_facts - an address space at the end of a window
 * @pass: passes over the whole address space so far, without those of sampling scans
 * @scanned: pages whose entries were looked at since the policy knows the address space
 * @resident: resident pages
 * @lived_ms: time since the policy knows the address space
 * @run_ms: CPU time of the scanning thread
 * @kernel_ms: the period that the kernel itself would use
 */
struct numa_facts {
	u32 pass;
	u64 scanned;
	u64 resident;
	u64 lived_ms;
	u64 run_ms;
	u32 kernel_ms;
};

/**
 * struct numa_period - what the policy has learnt about an address space
 * @closed: the counters when the last window ended
 * @history: decayed sums over the windows so far
 * @trend: direction of the period
 * @period_us: the learnt period, in microseconds, so that small steps are not rounded away
 * @anchor: percent of remote faults at the last change, seen once a pass; 0 before the
 *	first look
 * @moved: pass of the last change of @anchor
 * @looked: pass of the last look at the rate
 */
struct numa_period {
	struct numa_counts closed;
	struct numa_history history;
	struct numa_trend trend;
	u32 period_us;
	u8 anchor;
	u32 moved;
	u32 looked;
};

/**
 * struct numa_decision - the period of an address space
 * @period_ms: the period to use
 * @learnt_ms: the learnt period, before @limit
 * @rate: percent of remote faults
 * @recent: percent of remote faults of the last window; 0 when no window ended
 * @private: tenths of private faults
 * @slope: divisor of the learnt period, in units of NUMA_SLOPE_ONE
 * @lengthening: the trend
 * @shared: too many faults are shared for faster scanning to help
 * @reason: cause of the learnt period
 * @limit: cause of the difference between @period_ms and @learnt_ms
 */
struct numa_decision {
	u32 period_ms;
	u32 learnt_ms;
	unsigned int rate;
	unsigned int recent;
	unsigned int private;
	u32 slope;
	bool lengthening;
	bool shared;
	enum numa_reason reason;
	enum numa_limit limit;
};

/* Words of `state` and of tracepoints. */
extern const char *const numa_reason_words[NUMA_NR_REASONS];
extern const char *const numa_limit_words[NUMA_NR_LIMITS];

u32 numa_scans_of_pass(u64 resident, u32 scan_pages);
u32 numa_scan_floor(u32 scan_mib);
void numa_settings_per_scan(struct numa_settings *settings, u32 scans, u32 scan_mib);
bool numa_counts_take(struct numa_counts *closed, const struct numa_counts *now,
		      struct numa_counts *window);
void numa_history_add(struct numa_history *history, const struct numa_counts *window);
unsigned int numa_remote_rate(const struct numa_history *history);
unsigned int numa_private_share(const struct numa_history *history);
struct numa_step numa_trend_window(struct numa_trend *trend, const struct numa_sight *sight,
				   const struct numa_settings *settings);
u32 numa_period_divide(u32 period_us, u32 slope, const struct numa_settings *settings);
u32 numa_first_pass_max(const struct numa_facts *facts, const struct numa_settings *settings);
void numa_period_begin(struct numa_period *period, const struct numa_counts *now,
		       const struct numa_facts *facts, const struct numa_settings *settings);
struct numa_decision numa_period_window(struct numa_period *period, const struct numa_counts *now,
					const struct numa_facts *facts,
					const struct numa_settings *settings);

/**
 * numa_class() - the class of a hint fault
 * @local: the page is on the node of the CPU
 * @private: the same thread had the last fault on the page, or the fault is the first
 *
 * Return: its class.
 */
static inline enum numa_class numa_class(bool local, bool private)
{
	return (local ? NUMA_LOCAL_PRIVATE : NUMA_REMOTE_PRIVATE) + !private;
}

/**
 * numa_trend_begin() - a trend without history
 * @trend: set up here
 * @pass: passes over the whole address space so far
 */
static inline void numa_trend_begin(struct numa_trend *trend, u32 pass)
{
	*trend = (struct numa_trend){
		.rate = 1,
		.older = 1,
		.slope = NUMA_SLOPE_ONE,
		.moved = pass,
	};
}

/**
 * numa_past_scan_delay() - may the address space be scanned faster than by the kernel?
 * @facts: the address space
 *
 * A young address space may end soon, and a thread that hardly runs has little to gain.
 *
 * Return: true if both scan delays are over.
 */
static inline bool numa_past_scan_delay(const struct numa_facts *facts)
{
	return facts->lived_ms >= NUMA_SCAN_DELAY_MS && facts->run_ms >= NUMA_SCAN_DELAY_RUN_MS;
}

/**
 * numa_thread_may_ask() - may a thread be let ask for a scan before its own period is over?
 * @run_ms: CPU time of the thread
 * @own_ms: the thread's scan period
 *
 * A period cannot end before the thread has run for that long, so the period of a thread that has
 * run for less is lowered to its CPU time.  A thread that has hardly run would get a period below
 * all floors.
 *
 * Return: true if so.
 */
static inline bool numa_thread_may_ask(u64 run_ms, u32 own_ms)
{
	/* No floor of a scan is longer (numa_scan_floor()). */
	return run_ms >= own_ms || run_ms >= NUMA_SCAN_DELAY_RUN_MS;
}

#endif /* LIVEMM_POLICY_NUMA_CORE_H */
