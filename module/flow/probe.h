/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe.h - the handler of a hook: counts the hit, and acts while a policy is told
 *
 * A policy writes one, probe_<ID>(), for each kprobe and tracepoint that it uses alone, and names
 * it in the row of its subscriptions.
 */
#ifndef LIVEMM_FLOW_PROBE_H
#define LIVEMM_FLOW_PROBE_H

#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>

#include "hook/table.h"
#include "livemm.h"

/* The policies that are told, from lmm_events_start() to lmm_events_stop(); deliver.c writes. */
extern bool lmm_policies_told[LMM_NR_POLICIES + 1];

/* Is a policy told of events and hooks?  Nobody is, of LMM_NR_POLICIES. */
static inline bool lmm_told(unsigned int id)
{
	return READ_ONCE(lmm_policies_told[id]);
}

/*
 * A probe of a tracepoint, with preemption off: kernels from 7.0 on call it with preemption on
 * (a46023d5616e "tracing: Guard __DECLARE_TRACE() use of __DO_TRACE_CALL() with SRCU-fast").
 * Probes name the arguments that they want; later arguments are not looked at.
 */
#define LMM_ON_TRACEPOINT(policy, id, args, ...)			\
static void probe_##id args						\
{									\
	preempt_disable_notrace();					\
	lmm_hook_hit(LMM_HOOK_##id);					\
	if (lmm_told(LMM_##policy)) {					\
		__VA_ARGS__;						\
	}								\
	preempt_enable_notrace();					\
}

/* A kprobe: the kernel calls us with preemption off.  Returning 0 lets the function go on. */
#define LMM_ON_KPROBE(policy, id, ...)					\
static int probe_##id(struct kprobe *kp, struct pt_regs *regs)		\
{									\
	lmm_hook_hit(LMM_HOOK_##id);					\
	if (lmm_told(LMM_##policy)) {					\
		__VA_ARGS__;						\
	}								\
	return 0;							\
}

/* Argument @n, from 0, of the function that is probed. */
#define LMM_PROBED(n)	regs_get_kernel_argument(regs, n)

#endif /* LIVEMM_FLOW_PROBE_H */
