/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h - a list and a zone at one moment, as a recording has them
 */
#ifndef LIVEMM_RECORD_SAMPLE_H
#define LIVEMM_RECORD_SAMPLE_H

#include <linux/types.h>

/**
 * struct record_list - a per-CPU list at one moment
 * @slot: zone of the list: nid * MAX_NR_ZONES + zone index
 * @count: pages in the list
 * @high: the list's bound; where the kernel tunes, what its tuning has reached
 * @batch: the list's batch, in pages
 * @net: pages that the CPU has allocated less pages that the CPU has freed, since boot
 * @allocated: pages that the CPU has allocated from zones of this kind, since boot
 * @free: free pages of the zone, without what CPUs have not added up yet
 */
struct record_list {
	int slot;
	int count;
	int high;
	int batch;
	long net;
	unsigned long allocated;
	unsigned long free;
};

/**
 * struct record_zone - a zone at one moment
 * @slot: nid * MAX_NR_ZONES + zone index
 * @cpus: CPUs that share the lists' part of the zone
 * @reclaim: reclaim is active
 * @low: smallest bound that the kernel gives a list, in pages
 * @high: largest bound that the kernel gives a list, in pages
 * @managed: pages that the zone manages
 * @free: free pages
 * @high_mark: the high watermark, with its boost, in pages
 * @mark: free pages at which kswapd leaves the zone alone
 * @gap: pages between the low and the high watermark
 */
struct record_zone {
	int slot;
	int cpus;
	int reclaim;
	int low;
	int high;
	unsigned long managed;
	unsigned long free;
	unsigned long high_mark;
	unsigned long mark;
	unsigned long gap;
};

/**
 * struct record_cpu - counts of a CPU since boot
 * @cpu: the CPU
 * @faults: page faults
 * @freed: pages that were freed
 */
struct record_cpu {
	int cpu;
	unsigned long faults;
	unsigned long freed;
};

/**
 * struct record_hints - NUMA hint faults of a thread on a CPU
 * @mm: the address space: mm->context.ctx_id, which is never reused
 * @pid: the thread
 * @faults: number of faults
 * @pages: pages of these faults: local private, local shared, remote private, remote shared
 * @period: the thread's scan period at the last of these faults, in ms
 * @run_ms: CPU time of the thread at the last of these faults
 * @stamp_ms: CPU time of the thread when a scan period last ended (task->node_stamp)
 * @age_ms: time since the last of these faults
 */
struct record_hints {
	u64 mm;
	pid_t pid;
	unsigned int faults;
	unsigned int pages[4];
	unsigned int period;
	u64 run_ms;
	u64 stamp_ms;
	unsigned int age_ms;
};

/**
 * struct record_scan - an address space that is about to be scanned
 * @mm: the address space: mm->context.ctx_id
 * @tgid: the process
 * @pid: the thread that scans
 * @seq: mm->numa_scan_seq, the kernel's count of passes
 * @period: the thread's scan period, in ms
 * @resident: resident pages
 * @run_ms: CPU time of the thread
 * @threads: threads of the process
 * @stamp_ms: CPU time of the thread when a scan period last ended (task->node_stamp)
 */
struct record_scan {
	u64 mm;
	pid_t tgid;
	pid_t pid;
	int seq;
	unsigned int period;
	unsigned long resident;
	u64 run_ms;
	int threads;
	u64 stamp_ms;
};

#endif /* LIVEMM_RECORD_SAMPLE_H */
