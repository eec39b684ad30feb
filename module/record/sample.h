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

#endif /* LIVEMM_RECORD_SAMPLE_H */
