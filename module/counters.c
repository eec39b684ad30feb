// SPDX-License-Identifier: GPL-2.0-only
/*
 * counters.c - per-CPU counters that only ever grow
 */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/percpu.h>

#include "livemm.h"

/**
 * lmm_counters_alloc() - a set of counters, all zero
 * @nr: number of counters; 0 is allowed
 *
 * Context: process, may sleep.
 * Return: the set, to be freed with free_percpu(), or NULL.
 */
u64 __percpu *lmm_counters_alloc(unsigned int nr)
{
	return __alloc_percpu(max(nr, 1U) * sizeof(u64), __alignof__(u64));
}

/**
 * lmm_counter_read() - sum of one counter over all possible CPUs
 * @counters: the set
 * @idx: index of the counter
 *
 * CPUs that went offline keep their share, so the sum never falls.
 *
 * Context: any; other CPUs may count meanwhile.
 * Return: the sum.
 */
u64 lmm_counter_read(const u64 __percpu *counters, unsigned int idx)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)[idx]);
	return sum;
}
