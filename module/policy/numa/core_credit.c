// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_credit.c - arithmetic of credit; see core_credit.h
 */
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "core_credit.h"

/* A scan that takes one page in @stride. */
static u32 cost_of(u32 stride)
{
	return max(NUMA_CREDIT_SCAN / stride, 1U);
}

/**
 * numa_credit_ask() - a thread asks for a scan
 * @credit: the account
 * @ask: what is known of the thread
 *
 * The kernel would make a scan that the policy has not brought forward.  Of a scan that was
 * brought forward, the account gets the part of the thread's period that has passed.
 */
void numa_credit_ask(struct numa_credit *credit, const struct numa_ask *ask)
{
	u32 ran = min(ask->ran_ms, ask->elapsed_ms);
	u32 paid;

	credit->busy_ms = min_t(u64, (u64)credit->busy_ms + ran, U32_MAX);
	if (ask->brought && ran < ask->own_ms)
		credit->part += div_u64((u64)ran * NUMA_CREDIT_SCAN, ask->own_ms);
	else
		credit->part += NUMA_CREDIT_SCAN;
	if (credit->part < NUMA_CREDIT_SCAN)
		return;
	credit->part -= NUMA_CREDIT_SCAN;
	/* Not of this scan, or no full pass would ever be covered. */
	paid = min(credit->owed, credit->saved / 2);
	credit->owed -= paid;
	credit->saved = min(credit->saved - paid + NUMA_CREDIT_SCAN, NUMA_CREDIT_MAX);
}

/**
 * numa_credit_spend() - a scan is made
 * @credit: the account
 * @stride: the scan takes one page in this many; 1: a full scan
 *
 * A scan that must be made is not refused: what the account lacks is owed.
 */
void numa_credit_spend(struct numa_credit *credit, u32 stride)
{
	u32 cost = cost_of(stride);
	u32 covered = min(credit->saved, cost);

	credit->saved -= covered;
	credit->owed = min(credit->owed + cost - covered, NUMA_CREDIT_MAX);
}

/**
 * numa_credit_covers() - does the account cover a scan?
 * @credit: the account
 * @stride: the scan takes one page in this many; 1: a full scan
 *
 * Return: true if so.
 */
bool numa_credit_covers(const struct numa_credit *credit, u32 stride)
{
	return credit->saved >= cost_of(stride);
}
