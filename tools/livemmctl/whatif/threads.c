// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads.c - when the threads of a process ask the kernel for a scan
 *
 * A model of kernel/sched/fair.c.  Each thread has a scan period of its own, and asks for a scan
 * each time that it has run for its period (task_tick_numa()).  All threads share
 * mm->numa_next_scan: the first to ask from then on scans, and sets the time of the next scan by
 * its own period (task_numa_work()).  A thread that asks sooner has asked in vain, and asks again
 * after one more period.  Faults change the period of the thread that has them, once a pass
 * (update_task_scan_period()), and only if the thread has not looked for a better node just before
 * (numa_migrate_preferred()).
 */
#include <string.h>

#include "threads.h"

/* The kernel's NUMA_PERIOD_SLOTS and NUMA_PERIOD_THRESHOLD. */
#define PERIOD_SLOTS	10
#define PERIOD_LIMIT	7
/* Ticks by which the thread that has scanned asks later, and times of what the scan has cost. */
#define WINNER_TICKS	2
#define WINNER_TIMES	32
/* Parts of a period, and ms at most, for which a thread looks for no better node. */
#define RETRY_PARTS	16
#define RETRY_MAX_MS	1000
/* Least share of a CPU with which a thread can ask; and time over which a share is reckoned. */
#define SHARE_MIN	0.01
#define SHARE_NS	(500 * NS_PER_MS)

/**
 * threads_get() - a thread by its number
 * @threads: those of the process
 * @pid: the number
 *
 * Return: the thread; one that is new has @pid and nothing else.  With more than MODEL_THREADS
 * threads some share a place.
 */
struct thread *threads_get(struct threads *threads, int pid)
{
	int i, at = (unsigned int)pid % MODEL_THREADS;
	struct thread *thread;

	for (i = 0; i < MODEL_THREADS; i++) {
		thread = &threads->thread[(at + i) % MODEL_THREADS];
		if (!thread->pid)
			thread->pid = pid;
		if (thread->pid == pid)
			return thread;
	}
	return &threads->thread[at];
}

/**
 * thread_told() - the recording says what a thread is at
 * @thread: the thread
 * @at: when
 * @period: its scan period, in ms
 * @run_ms: its CPU time
 * @stamp_ms: CPU time when its last period ended
 */
void thread_told(struct thread *thread, int64_t at, uint32_t period, int64_t run_ms,
		 int64_t stamp_ms)
{
	thread->at = at;
	thread->run = run_ms * NS_PER_MS;
	thread->stamp = stamp_ms * NS_PER_MS;
	thread->period = period;
}

/*
 * The CPU time of a thread at a time is recorded: what share of a CPU has the thread since it was
 * recorded first?
 */
static void share_learn(struct thread *thread, int64_t time, int64_t run_ms)
{
	double took = time - thread->at;

	if (!thread->at) {
		thread->at = time;
		thread->run = run_ms * NS_PER_MS;
	} else if (took > SHARE_NS) {
		thread->share = clamp((run_ms * NS_PER_MS - thread->run) / took, 0.0, 1.0);
	}
}

/**
 * threads_begin() - the threads of a process at its first recorded scan
 * @threads: gets the threads
 * @space: the process
 * @period: scan period of threads of which nothing is recorded, in ms
 *
 * Threads of which the recording does not tell have begun with the one that scans.
 */
void threads_begin(struct threads *threads, const struct space *space, uint32_t period)
{
	const struct scan *scan = &space->scans[0];
	long i;

	memset(threads, 0, sizeof(*threads));
	threads->cost = space->cost;
	threads->seq = scan->seq;
	for (i = 0; i < space->nr_scans; i++) {
		struct thread *thread = threads_get(threads, scan[i].pid);

		thread->share = thread->share ?: space->share;
		share_learn(thread, scan[i].time, scan[i].run_ms);
	}
	/* Where CPU time is not recorded, a thread that never scans is taken not to run. */
	for (i = 0; i < space->nr_faults; i++) {
		const struct fault *fault = &space->faults[i];
		struct thread *thread = threads_get(threads, fault->pid);

		if (fault->period)
			share_learn(thread, fault->time, fault->run_ms);
	}
	for (i = 0; i < MODEL_THREADS; i++) {
		struct thread *thread = &threads->thread[i];

		thread_told(thread, scan->time, period, scan->run_ms, scan->run_ms);
		thread->seq = scan->seq;
	}
}

/**
 * thread_run() - CPU time of a thread at a time
 * @thread: the thread
 * @time: the time
 *
 * Return: the CPU time, in ns.
 */
int64_t thread_run(const struct thread *thread, int64_t time)
{
	return thread->run + (int64_t)((time - thread->at) * thread->share);
}

/**
 * threads_scan() - a thread scans
 * @threads: those of the process
 * @thread: the thread
 * @time: when
 * @part: how much of a full scan
 * @ends: the scan ends a pass
 */
void threads_scan(struct threads *threads, struct thread *thread, int64_t time, double part,
		  bool ends)
{
	int64_t cost = threads->cost * part;

	if (threads->bump && threads->bump <= time)
		threads->seq++;
	threads->bump = ends ? time + cost : 0;
	threads->next_scan = time + thread->period * NS_PER_MS;
	thread->stamp += WINNER_TICKS * TICK_NS + WINNER_TIMES * cost;
}

/* The kernel's update_task_scan_period(). */
static void period_change(struct threads *threads, struct thread *thread, int64_t at,
			  const struct period_bounds *bounds)
{
	const double *seen = thread->seen;
	int64_t local = seen[NUMA_LOCAL_PRIVATE] + seen[NUMA_LOCAL_SHARED];
	int64_t remote = seen[NUMA_REMOTE_PRIVATE] + seen[NUMA_REMOTE_SHARED];
	int64_t private = seen[NUMA_LOCAL_PRIVATE] + seen[NUMA_REMOTE_PRIVATE];
	int64_t shared = seen[NUMA_LOCAL_SHARED] + seen[NUMA_REMOTE_SHARED];
	int64_t slot = DIV_ROUND_UP(thread->period, PERIOD_SLOTS), by_node, by_thread, change;

	memset(thread->seen, 0, sizeof(thread->seen));
	if (local + shared == 0) {
		thread->period = min(thread->period * 2, bounds->most);
		threads->next_scan = at + thread->period * NS_PER_MS;
		return;
	}
	by_node = local * PERIOD_SLOTS / (local + remote);
	by_thread = private * PERIOD_SLOTS / (private + shared);
	if (by_thread >= PERIOD_LIMIT)
		change = max(by_thread - PERIOD_LIMIT, (int64_t)1);
	else if (by_node >= PERIOD_LIMIT)
		change = max(by_node - PERIOD_LIMIT, (int64_t)1);
	else
		change = max(by_node, by_thread) - PERIOD_LIMIT;
	thread->period = clamp((int64_t)thread->period + change * slot, (int64_t)bounds->least,
			       (int64_t)bounds->most);
}

/**
 * threads_fault() - a thread has hint faults
 * @threads: those of the process
 * @fault: the faults
 * @at: when
 * @part: how many of these
 * @bounds: of a scan period
 *
 * Return: true if there is a fault at all: a scan of a part finds what a thread rarely uses in some
 * passes only.
 */
bool threads_fault(struct threads *threads, const struct fault *fault, int64_t at, double part,
		   const struct period_bounds *bounds)
{
	struct thread *thread = threads_get(threads, fault->pid);
	int seq = threads->seq + (threads->bump && at >= threads->bump);
	int class;

	thread->part += fault->faults * part;
	for (class = 0; class < NUMA_NR_CLASSES; class++)
		thread->come[class] += fault->pages[class] * part;
	if (thread->part < 1)
		return false;
	thread->part = 0;
	if (at >= thread->retry) {
		if (thread->seq != seq) {
			for (class = 0; class < NUMA_NR_CLASSES; class++)
				thread->placed |= thread->seen[class] >= 1;
			thread->seq = seq;
			period_change(threads, thread, at, bounds);
		}
		if (thread->placed)
			thread->retry = at + min(thread->period / RETRY_PARTS, RETRY_MAX_MS) *
					     NS_PER_MS;
	}
	for (class = 0; class < NUMA_NR_CLASSES; class++) {
		thread->seen[class] += thread->come[class];
		thread->come[class] = 0;
	}
	return true;
}

/**
 * threads_expedite() - the policy lets a thread ask sooner: as ask_for_scan()
 * @threads: those of the process
 * @thread: the thread, which has a hint fault
 * @at: when
 * @ms: CPU time until the thread is to ask
 */
void threads_expedite(struct threads *threads, struct thread *thread, int64_t at, uint32_t ms)
{
	int64_t run = thread_run(thread, at) + ms * NS_PER_MS;
	int64_t own = thread->period * NS_PER_MS;

	if (run < own)
		thread->period = max(run / NS_PER_MS, (int64_t)1);
	thread->stamp = min(thread->stamp, run > own ? run - own : 1);
	threads->next_scan = min(threads->next_scan, at + ms * NS_PER_MS);
}

/* When a thread asks next, no sooner than at a time. */
static int64_t ask_at(const struct thread *thread, int64_t from)
{
	int64_t left = thread->stamp + thread->period * NS_PER_MS - thread_run(thread, from);

	return left < 0 ? from : from + (int64_t)(left / thread->share) + TICK_NS / 2;
}

/**
 * threads_ask() - let threads ask until one may scan
 * @threads: those of the process
 * @until: up to when
 * @at: from when; gets the time of the last question, or @until
 *
 * Return: the thread that scans, or NULL.
 */
struct thread *threads_ask(struct threads *threads, int64_t until, int64_t *at)
{
	struct thread *thread, *first;
	int64_t soonest, when;
	int i;

	while (true) {
		first = NULL;
		soonest = until;
		for (i = 0; i < MODEL_THREADS; i++) {
			thread = &threads->thread[i];
			if (!thread->pid || thread->share < SHARE_MIN)
				continue;
			when = ask_at(thread, *at);
			if (when < soonest) {
				soonest = when;
				first = thread;
			}
		}
		*at = soonest;
		if (!first)
			return NULL;
		first->stamp += first->period * NS_PER_MS;
		if (soonest >= threads->next_scan)
			return first;
		/* A thread that lags behind asks at each tick. */
		*at += TICK_NS;
	}
}
