/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_livepatches.h - the table that klp_client.c and klp_load.c share
 */
#ifndef LIVEMM_HOOK_KLP_LIVEPATCHES_H
#define LIVEMM_HOOK_KLP_LIVEPATCHES_H

#include <linux/spinlock.h>
#include <linux/types.h>

#include "livemm.h"
#include "klp_port.h"

#define LMM_LIVEPATCH_ID(name)	LMM_LIVEPATCH_##name,
enum { LMM_LIVEPATCHES(LMM_LIVEPATCH_ID) LMM_NR_LIVEPATCHES };
#undef LMM_LIVEPATCH_ID

/**
 * struct lmm_livepatch - a livepatch module
 * @module: name of the module
 * @symbol: symbol of the port of the module
 * @functions: BIT(enum lmm_klp_function) of each wrapper in the module
 * @asked: BIT(enum lmm_klp_function) of each wrapper that the thread is to load
 * @waiters: number of tasks that wait for @asked; with none nothing more is loaded
 * @ended: number of times that the thread has tried to load the livepatch
 * @err: result of the last try
 * @why: on failure, in words
 * @users: BIT() of each policy that holds the module
 * @removed: the thread unloads the module; no policy may hold the module
 * @port: port of the module; not NULL while a policy holds the module
 *
 * Members from @asked on are under lmm_livepatch_lock.
 */
struct lmm_livepatch {
	const char *module;
	const char *symbol;
	u32 functions;
	u32 asked;
	unsigned int waiters;
	unsigned int ended;
	int err;
	char why[LMM_WHY_LEN];
	u32 users;
	bool removed;
	const struct lmm_klp_port *port;
};

extern struct lmm_livepatch lmm_livepatches[LMM_NR_LIVEPATCHES];

#define lmm_for_each_livepatch(lp) \
	for ((lp) = lmm_livepatches; (lp) < lmm_livepatches + LMM_NR_LIVEPATCHES; (lp)++)

/* Innermost; nothing sleeps under this lock. */
extern spinlock_t lmm_livepatch_lock;

static inline bool lmm_klp_all_there(u32 functions, u32 there)
{
	return !(functions & ~there);
}

const struct lmm_klp_port *lmm_livepatch_get(const struct lmm_livepatch *lp);
void lmm_livepatch_put(const struct lmm_livepatch *lp);

#endif /* LIVEMM_HOOK_KLP_LIVEPATCHES_H */
