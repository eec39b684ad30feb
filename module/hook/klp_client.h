/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_client.h - livepatch modules of ours, and livepatches of others
 */
#ifndef LIVEMM_HOOK_KLP_CLIENT_H
#define LIVEMM_HOOK_KLP_CLIENT_H

#include <linux/string.h>
#include <linux/types.h>

#include "klp_link.h"

struct klp_func;
struct klp_object;
struct lmm_hook;

/**
 * enum lmm_klp_state - state of a wrapper
 * @LMM_KLP_ABSENT: the module of the wrapper is not loaded
 * @LMM_KLP_LACKING: the module was loaded without the wrapper
 * @LMM_KLP_COMING: the module is being loaded, or its livepatch is in transition
 * @LMM_KLP_LIVE: every task runs the wrapper
 * @LMM_KLP_DEAD: somebody has disabled the livepatch, or replaces it with another one
 */
enum lmm_klp_state {
	LMM_KLP_ABSENT,
	LMM_KLP_LACKING,
	LMM_KLP_COMING,
	LMM_KLP_LIVE,
	LMM_KLP_DEAD,
};

/**
 * enum lmm_klp_wish - how somebody asks whether wrappers are live
 * @LMM_KLP_TELL: only says; nothing is loaded
 * @LMM_KLP_STILL: waits already; what could not be loaded is not asked for again, but for a module
 *	that was refused because another livepatch was in transition
 * @LMM_KLP_WANTED: has just begun to want them, whatever has failed before
 */
enum lmm_klp_wish {
	LMM_KLP_TELL,
	LMM_KLP_STILL,
	LMM_KLP_WANTED,
};

/**
 * lmm_klp_is_ours() - is a module a livepatch of livemm?
 * @name: name of the module
 *
 * Context: any.
 * Return: true if so.
 */
static inline bool lmm_klp_is_ours(const char *name)
{
	return str_has_prefix(name, "livemm_klp_");
}

/* klp_client.c */
void lmm_klp_init(void);
void lmm_klp_exit(void);
enum lmm_klp_state lmm_klp_state(enum lmm_klp_function function);
const char *lmm_klp_module(enum lmm_klp_function function);
int lmm_klp_await(u32 functions, enum lmm_klp_wish wish, char *why, size_t len);

/* klp_conflict.c */
void lmm_klp_survey(void);
bool lmm_klp_covered(const struct lmm_hook *hook, char *why, size_t len);
bool lmm_klp_others_in_transition(char *name, size_t len);
int lmm_klp_may_patch(struct klp_object *obj);
void lmm_klp_changed(bool leaves);
int lmm_klp_watch_start(void (*changed)(void));
void lmm_klp_watch_stop(void);

#endif /* LIVEMM_HOOK_KLP_CLIENT_H */
