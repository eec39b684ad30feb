/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core.h - arithmetic of NUMA balancing: how often to scan an address space
 *
 * The algorithm of the period is that of "[RFC PATCH v0 3/3] sched/numa: Add adaptive
 * scan period calculation" (Disha Talreja, Wei Huang, Bharata B Rao, 2022-01-28,
 * 20220128052851.17162-4-bharata@amd.com): hint faults of all threads of an address
 * space are summed up in windows, from one scan to the next; a decayed history gives
 * a rate of remote faults; if that rate falls, the period is lengthened, if it rises,
 * shortened, and the trend turns only when two windows in a row intended it.
 *
 * What the review asked for (Mel Gorman, 2022-01-31 to 2022-02-07, in the same
 * thread) is here too, each part a function of its own: nothing is scanned faster
 * before the scan delay is over; a thread that is worse off than the average bounds the
 * period.  What is left out of a scan is in core_vma.h.
 *
 * A hint fault is local or remote: is the page on the node of the CPU that faulted?
 * And private or shared: was the thread the last one, too, that faulted on it?  The
 * kernel counts both for each thread, for placing it; here they are summed up for
 * the address entry, for the period only.
 *
 * Pure: no kernel state, no lock, no clock.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_H
#define LIVEMM_POLICY_NUMA_CORE_H

#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/types.h>

/*
 * Figures of the series.  Reasons, where it gave any, are from the authors' answers
 * to the review (2022-02-02 and 2022-02-03).
 */

/* Hint faults; fewer are no basis for a decision ("could be a good minimum"). */
#define NUMA_MIN_FAULTS		100

/*
 * A window takes 1/4 off the history of local and remote, 1/2 off that of private
 * and shared: with 1/2 the rate of remote faults oscillated.
 */
#define NUMA_LOCALITY_SHIFT	2
#define NUMA_SHARING_SHIFT	1

/* Percentage points by which the rate of remote faults may move and still be stable. */
#define NUMA_STABLE_POINTS	5

/*
 * Tenths of faults that are private.  With fewer, that is with more than 30 % shared,
 * scanning faster does not help.  The kernel's own NUMA_PERIOD_THRESHOLD.
 */
#define NUMA_PRIVATE_TENTHS	7

/*
 * Percent of the period.  It grows to so much for each tenth that private faults are
 * short of NUMA_PRIVATE_TENTHS, and to so much when the rate has settled.
 */
#define NUMA_SHARED_STEP_PCT	10
#define NUMA_SETTLED_PCT	110

/* The rate settles when the address space has been scanned more often than this. */
#define NUMA_SETTLED_PASSES	1

/*
 * Figures of ours.
 */

/*
 * Percent of remote faults with which a stable period may be lengthened on, and none
 * is made shorter than the kernel's: its NUMA_PERIOD_THRESHOLD again, seen from the
 * other side.
 */
#define NUMA_STEADY_REMOTE_PCT	30

/*
 * Periods of the kernel's that a calm window is good for, and one of which the faults
 * are shared.  History takes some windows to forget what was before; so it need not be
 * waited for.
 */
#define NUMA_CALM		2
#define NUMA_CALM_SHARED	4

/*
 * Passes over the whole address space in which a rate has not moved.  Every page has
 * then been tried twice, which is how often the kernel wants to see a page from one
 * node before it moves it: more of the same is hopeless.
 */
#define NUMA_STUCK_PASSES	2

/* Windows without a fault, after which a thread is forgotten. */
#define NUMA_THREAD_IDLE	4

/*
 * Slots for threads, and bits for them in a VMA; threads that meet in one are taken
 * for one, as in the kernel's own pids_active (fc137c0ddab2, 6.4).
 */
#define NUMA_THREAD_BITS	6
#define NUMA_THREADS		64

/* A slope of 100 %, which leaves the period as it is, in fixed point. */
#define NUMA_SLOPE_ONE		0x10000U

/**
 * enum numa_class - what a hint fault was
 * @NUMA_LOCAL_PRIVATE: page on the node of the CPU, last faulted on by the same thread
 * @NUMA_LOCAL_SHARED: on the node of the CPU, last faulted on by another thread
 * @NUMA_REMOTE_PRIVATE: on another node, last faulted on by the same thread
 * @NUMA_REMOTE_SHARED: on another node, last faulted on by another thread
 * @NUMA_NR_CLASSES: number of the above
 *
 * A page that nobody has faulted on yet is private, as for the kernel.
 */
enum numa_class {
	NUMA_LOCAL_PRIVATE,
	NUMA_LOCAL_SHARED,
	NUMA_REMOTE_PRIVATE,
	NUMA_REMOTE_SHARED,
	NUMA_NR_CLASSES
};

/**
 * struct numa_counts - hint faults, of an address space ever, or of one window
 * @faults: number of faults
 * @pages: pages they were for, by enum numa_class; a huge page is many
 *
 * Counters are never reset: a window is a difference, exact even where one wraps.
 */
struct numa_counts {
	u64 faults;
	u64 pages[NUMA_NR_CLASSES];
};

/**
 * struct numa_history - what the windows so far come to, in pages
 * @local: of local faults, with 1/4 taken off by every window
 * @remote: of remote faults, with 1/4 taken off by every window
 * @private: of private faults, with 1/2 taken off by every window
 * @shared: of shared faults, with 1/2 taken off by every window
 */
struct numa_history {
	u64 local;
	u64 remote;
	u64 private;
	u64 shared;
};

/**
 * struct numa_settings - how to balance
 * @period_min_ms: shortest period, at least 1
 * @period_max_ms: longest period, @period_min_ms..3600000
 * @min_faults: windows with fewer hint faults change nothing
 * @step_max_pct: a window changes the period to so many percent at most, or to as much
 *	of it at least, 100..10000; the last, as in the series, is no limit
 * @steady_pct: when scanning is not needed, or does not help, a stable window lengthens
 *	the period to so many percent, 100..1000; 100, as in the series, leaves it
 * @scan_delay_ms: until it has lived so long, an address space is not scanned faster than
 *	the kernel would
 * @scan_delay_run_ms: nor until a thread that scans has run so long
 * @thread_period_min_ms: shortest period for the sake of one thread; 0 never looks at one
 * @full_pass_interval: passes after which all of a VMA is scanned again, whatever it was used
 *	for; 1 leaves nothing out
 * @skip_by_thread: leave out VMAs that the scanning thread has not faulted in of late
 * @skip_by_region: leave out regions of a VMA that nobody has used of late
 */
struct numa_settings {
	u32 period_min_ms;
	u32 period_max_ms;
	u32 min_faults;
	u32 step_max_pct;
	u32 steady_pct;
	u32 scan_delay_ms;
	u32 scan_delay_run_ms;
	u32 thread_period_min_ms;
	u32 full_pass_interval;
	bool skip_by_thread;
	bool skip_by_region;
};

/**
 * enum numa_reason - what a window came to
 * @NUMA_BY_FEW: too few faults; the window goes on
 * @NUMA_BY_WAIT: it intends a turn of the trend, and the one before did not
 * @NUMA_BY_FALL: fewer faults are remote; lengthened
 * @NUMA_BY_RISE: more faults are remote; shortened
 * @NUMA_BY_SHARED: so many are shared that scanning faster is of no use
 * @NUMA_BY_SETTLED: the rate of remote faults no longer moves; lengthened
 * @NUMA_BY_STABLE: it does not move, while shortening: changed as before
 * @NUMA_BY_STEADY: it does not move, while lengthening: left, or lengthened on
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
 * struct numa_trend - where the period of an address space is going
 * @lengthening: the trend; a longer period is less scanning, at less cost and later
 *	noticed changes
 * @intended: the window before intended to lengthen
 * @rate: percent of remote faults after the last window
 * @older: the same one window earlier
 * @slope: the slope that was set last, in units of NUMA_SLOPE_ONE; the period is
 *	divided by it, so above 100 % shortens
 * @moved: pass in which the rate was last seen to move
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
 * struct numa_sight - what one window has to say to the trend
 * @rate: percent of remote faults, 1..100
 * @private: tenths of private faults, 0..10
 * @pass: how often the whole address space has been scanned
 */
struct numa_sight {
	unsigned int rate;
	unsigned int private;
	u32 pass;
};

/**
 * struct numa_step - what to do with the period
 * @slope: divide by this, in units of NUMA_SLOPE_ONE
 * @reason: why
 */
struct numa_step {
	u32 slope;
	enum numa_reason reason;
};

/**
 * enum numa_limit - what else had a say in the period
 * @NUMA_LIMIT_NONE: nothing
 * @NUMA_LIMIT_FIRST_PASS: shortened, as not all of the address space has been seen
 * @NUMA_LIMIT_THREAD: no longer than suits a thread that is worse off than the average
 * @NUMA_LIMIT_SCAN_DELAY: not shorter than the kernel's own, as it may not live long
 * @NUMA_LIMIT_KERNEL: not shorter than the kernel's own, as few faults of the last
 *	window were remote, or as many were and scanning faster has not helped
 * @NUMA_LIMIT_CALM: not shorter than NUMA_CALM times the kernel's own, as hardly any
 *	were, or NUMA_CALM_SHARED times, as so many were shared that scanning faster
 *	is of no use
 * @NUMA_NR_LIMITS: number of the above
 */
enum numa_limit {
	NUMA_LIMIT_NONE,
	NUMA_LIMIT_FIRST_PASS,
	NUMA_LIMIT_THREAD,
	NUMA_LIMIT_SCAN_DELAY,
	NUMA_LIMIT_KERNEL,
	NUMA_LIMIT_CALM,
	NUMA_NR_LIMITS
};

/**
 * struct numa_facts - an address space at the end of a window
 * @pass: how often it has been scanned as a whole (numa_scan_seq)
 * @scanned: pages whose entries were looked at since it began
 * @resident: pages it has
 * @lived_ms: time since it began
 * @run_ms: time that the thread which scans has run
 * @kernel_ms: the period that the kernel itself would use
 * @worst: percent of remote faults of its worst thread, or 0
 */
struct numa_facts {
	u32 pass;
	u64 scanned;
	u64 resident;
	u64 lived_ms;
	u64 run_ms;
	u32 kernel_ms;
	unsigned int worst;
};

/**
 * struct numa_period - what is known of an address space
 * @closed: its counters when the last window ended
 * @history: of the windows so far
 * @trend: of its period
 * @period_us: the period that was learnt, in microseconds, so that small steps count
 * @anchor: percent of remote faults when last seen to move, looked at once in a pass;
 *	0 before the first look
 * @moved: pass in which that was
 * @looked: pass of the last look, or in which it began
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
 * @period_ms: to use
 * @learnt_ms: as learnt, before @limit
 * @rate: percent of remote faults
 * @recent: percent of remote faults of the window that has just ended; 0 if none has
 * @private: tenths of private faults
 * @slope: by which the learnt period was divided, in units of NUMA_SLOPE_ONE
 * @lengthening: the trend
 * @shared: so many faults are shared that scanning faster is of no use
 * @reason: why it was learnt
 * @limit: why another is to be used
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

/**
 * struct numa_tally - pages of the hint faults of a thread
 * @faults: all of them
 * @remote: those that were remote
 * @shared: those that were remote and shared
 */
struct numa_tally {
	u32 faults;
	u32 remote;
	u32 shared;
};

/**
 * struct numa_thread - a thread, or those that meet in its slot
 * @now: its faults so far, for numa_worst_thread(); may wrap, zero until the first
 * @closed: @now when its last window ended
 * @history: of its windows, with 1/4 taken off by every one
 * @looked: now.faults when it was last looked at
 * @moved: pass in which its rate was last seen to move
 * @rate: percent of remote faults when it last moved; 0 before the first window
 * @recent: percent of remote faults of the last window alone
 * @idle: looks in a row that found no fault
 */
struct numa_thread {
	struct numa_tally now;
	struct numa_tally closed;
	struct numa_tally history;
	u32 looked;
	u32 moved;
	u8 rate;
	u8 recent;
	u8 idle;
};

const char *numa_reason_word(enum numa_reason reason);
const char *numa_limit_word(enum numa_limit limit);
bool numa_counts_take(struct numa_counts *closed, const struct numa_counts *now,
		      u64 min_faults, struct numa_counts *window);
void numa_history_add(struct numa_history *history, const struct numa_counts *window);
unsigned int numa_remote_rate(const struct numa_history *history);
unsigned int numa_private_share(const struct numa_history *history);
struct numa_step numa_trend_window(struct numa_trend *trend,
				   const struct numa_sight *sight,
				   const struct numa_settings *settings);
u32 numa_period_divide(u32 period_us, u32 slope, const struct numa_settings *settings);
u32 numa_first_pass_max(const struct numa_facts *facts,
			const struct numa_settings *settings);
u32 numa_thread_bound(u32 period_ms, unsigned int rate, unsigned int worst,
		      const struct numa_settings *settings);
void numa_period_begin(struct numa_period *period, const struct numa_counts *now,
		       const struct numa_facts *facts,
		       const struct numa_settings *settings);
struct numa_decision numa_period_window(struct numa_period *period,
					const struct numa_counts *now,
					const struct numa_facts *facts,
					const struct numa_settings *settings);
unsigned int numa_worst_thread(struct numa_thread *threads, unsigned int nr, u32 pass,
			       u32 min_faults);

/**
 * numa_class() - what is this hint fault?
 * @local: the page is on the node of the CPU
 * @private: the thread was the last, too, to fault on it, or the first ever
 *
 * Context: any; pure.
 * Return: its class.
 */
static inline enum numa_class numa_class(bool local, bool private)
{
	return (local ? NUMA_LOCAL_PRIVATE : NUMA_REMOTE_PRIVATE) + !private;
}

/**
 * numa_thread_slot() - where a thread is counted
 * @tid: its number
 *
 * Context: any; pure.
 * Return: index below NUMA_THREADS.
 */
static inline unsigned int numa_thread_slot(u32 tid)
{
	return hash_32(tid, NUMA_THREAD_BITS);
}

/**
 * numa_trend_begin() - nothing is known of an address space
 * @trend: of its period
 * @pass: how often it has been scanned as a whole
 *
 * Context: any; pure.
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
 * numa_past_scan_delay() - is it worth while to look at an address space closely?
 * @facts: of it
 * @settings: the policy's
 *
 * One that has just begun may end soon; one that hardly runs has little to gain.
 *
 * Context: any; pure.
 * Return: true if it has lived and run long enough.
 */
static inline bool numa_past_scan_delay(const struct numa_facts *facts,
					const struct numa_settings *settings)
{
	return facts->lived_ms >= settings->scan_delay_ms &&
	       facts->run_ms >= settings->scan_delay_run_ms;
}

#endif /* LIVEMM_POLICY_NUMA_CORE_H */
