/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads.h - when the threads of a process ask the kernel for a scan
 */
#ifndef LIVEMM_WHATIF_THREADS_H
#define LIVEMM_WHATIF_THREADS_H

#include "spaces.h"

/* A tick of Debian's kernels, in ns: a thread asks for a scan at a tick. */
#define TICK_NS		(4 * NS_PER_MS)
/* Threads of a process that are told apart. */
#define MODEL_THREADS	64

/* The members of struct task_struct that NUMA balancing has. */
struct thread {
	int pid;			/* 0: nobody */
	uint32_t period;		/* numa_scan_period, in ms */
	double share;			/* of a CPU that the thread has */
	int64_t at;			/* time when the CPU time was... */
	int64_t run;			/* sum_exec_runtime, in ns */
	int64_t stamp;			/* node_stamp, in ns of CPU time */
	int64_t retry;			/* numa_migrate_retry: the period stays until then */
	int seq;			/* numa_scan_seq: passes of which the thread knows */
	bool placed;			/* has a preferred node */
	double part;			/* of a fault that a scan of a part has not made yet... */
	double come[NUMA_NR_CLASSES];	/* and of its pages */
	double seen[NUMA_NR_CLASSES];	/* pages of faults since the period changed last */
};

/* Those of struct mm_struct. */
struct threads {
	struct thread thread[MODEL_THREADS];
	int64_t cost;			/* CPU time of a full scan, in ns */
	int64_t next_scan;		/* numa_next_scan, as a time */
	int64_t bump;			/* time at which the scan ends, and with that the pass */
	int seq;			/* numa_scan_seq before that */
};

/* What the kernel's bounds of a scan period are. */
struct period_bounds {
	uint32_t least;
	uint32_t most;
};

struct thread *threads_get(struct threads *threads, int pid);
void threads_begin(struct threads *threads, const struct space *space, uint32_t period);
void thread_told(struct thread *thread, int64_t at, uint32_t period, int64_t run_ms,
		 int64_t stamp_ms);
int64_t thread_run(const struct thread *thread, int64_t time);
void threads_scan(struct threads *threads, struct thread *thread, int64_t time, double part,
		  bool ends);
bool threads_fault(struct threads *threads, const struct fault *fault, int64_t at, double part,
		   const struct period_bounds *bounds);
void threads_expedite(struct threads *threads, struct thread *thread, int64_t at, uint32_t ms);
struct thread *threads_ask(struct threads *threads, int64_t until, int64_t *at);

#endif /* LIVEMM_WHATIF_THREADS_H */
