/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * core_credit.h - arithmetic of credit: never more scans than the kernel would have made
 *
 * The kernel scans when a thread has run for the thread's own period.  A scan that the policy
 * brings forward, and a sampling scan besides, is a scan more.  So the policy keeps an account for
 * each address space: scans that the kernel would have made and the policy has not.  A scan that is
 * brought forward may only spend what was saved before.  Full scans of a small process after an
 * alarm may go into debt.  Half of what is left at the kernel's next scan pays the debt.  With a
 * full debt, scans after an alarm come in the kernel's own periods.
 *
 * The account also has the CPU time since the last full pass.  Periods of the policy are times of
 * the clock; the kernel's are CPU time.  A process that mostly sleeps uses little memory in a
 * period by the clock, so a full pass waits until the process has also run for a period.
 *
 * Pure: no kernel state, no lock, no clock; may be called in any context.
 */
#ifndef LIVEMM_POLICY_NUMA_CORE_CREDIT_H
#define LIVEMM_POLICY_NUMA_CORE_CREDIT_H

#include <linux/types.h>

/* A full scan, in the units of the account. */
#define NUMA_CREDIT_SCAN	1024U

/*
 * Most scans that can be saved up: four alarms of a process of one scan.  What was saved long ago
 * must not pay for a long time of scans more often than the kernel's.  The largest debt, too.
 */
#define NUMA_CREDIT_MAX		(16 * NUMA_CREDIT_SCAN)

/**
 * struct numa_ask - a thread asks for a scan
 * @ran_ms: CPU time of the thread since the thread asked last, as far as known
 * @own_ms: the kernel's period of the thread
 * @elapsed_ms: time since any thread asked last
 * @brought: the policy has brought the scan forward
 */
struct numa_ask {
	u32 ran_ms;
	u32 own_ms;
	u32 elapsed_ms;
	bool brought;
};

/**
 * struct numa_credit - the account of an address space; all zeros at first
 * @saved: scans saved, in NUMA_CREDIT_SCAN, at most NUMA_CREDIT_MAX
 * @owed: scans made and not covered, in NUMA_CREDIT_SCAN, at most NUMA_CREDIT_MAX
 * @part: part of the kernel's next scan, below NUMA_CREDIT_SCAN
 * @busy_ms: CPU time since the last full pass began, at most U32_MAX
 */
struct numa_credit {
	u32 saved;
	u32 owed;
	u32 part;
	u32 busy_ms;
};

void numa_credit_ask(struct numa_credit *credit, const struct numa_ask *ask);
void numa_credit_spend(struct numa_credit *credit, u32 stride);
bool numa_credit_covers(const struct numa_credit *credit, u32 stride);

/**
 * numa_credit_is_large() - has a pass more scans than can be saved up?
 * @scans: scans of a pass
 *
 * The account must then cover each scan that comes soon after an alarm, but the first: full passes
 * take long, and one alarm may follow another.  The few scans of a smaller process come soon as far
 * as the debt allows.
 *
 * Return: true if so.
 */
static inline bool numa_credit_is_large(u32 scans)
{
	return scans > NUMA_CREDIT_MAX / NUMA_CREDIT_SCAN;
}

/**
 * numa_credit_alarm() - may a full scan come soon after an alarm, as far as the account goes?
 * @credit: the account
 * @scans: scans of a pass
 *
 * Return: true if so.
 */
static inline bool numa_credit_alarm(const struct numa_credit *credit, u32 scans)
{
	return numa_credit_covers(credit, 1) ||
	       (!numa_credit_is_large(scans) &&
		credit->owed + NUMA_CREDIT_SCAN <= NUMA_CREDIT_MAX);
}

/**
 * numa_credit_answers() - may the next scan after an alarm be full, as far as the account goes?
 * @credit: the account
 * @scans: scans of a pass
 *
 * Return: true if so; always in a large process, in which each alarm has one such scan.
 */
static inline bool numa_credit_answers(const struct numa_credit *credit, u32 scans)
{
	return numa_credit_is_large(scans) || numa_credit_alarm(credit, scans);
}

/**
 * numa_credit_pass() - a full pass begins
 * @credit: the account
 */
static inline void numa_credit_pass(struct numa_credit *credit)
{
	credit->busy_ms = 0;
}

/**
 * numa_credit_full() - may a full pass begin, as far as the account goes?
 * @credit: the account, with the present ask
 * @period_ms: the period of a pass
 *
 * Return: true if the process has run for a period since the last full pass, and the account
 *	covers a scan.
 */
static inline bool numa_credit_full(const struct numa_credit *credit, u64 period_ms)
{
	return credit->busy_ms >= period_ms && numa_credit_covers(credit, 1);
}

#endif /* LIVEMM_POLICY_NUMA_CORE_CREDIT_H */
