/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * klp_client.h - livepatch modules of ours: loaded, held, and beside those of others
 */
#ifndef LIVEMM_HOOK_KLP_CLIENT_H
#define LIVEMM_HOOK_KLP_CLIENT_H

#include <linux/types.h>

#include "klp_port.h"

struct lmm_hook;

/**
 * enum lmm_klp_state - state of a wrapper
 * @LMM_KLP_NOT_HELD: no policy uses the module of the wrapper
 * @LMM_KLP_LEFT_OUT: the module was loaded without the wrapper
 * @LMM_KLP_LIVE: every task runs the wrapper
 * @LMM_KLP_DEAD: the livepatch was disabled or replaced from outside
 */
enum lmm_klp_state {
	LMM_KLP_NOT_HELD,
	LMM_KLP_LEFT_OUT,
	LMM_KLP_LIVE,
	LMM_KLP_DEAD,
};

/* klp_client.c */
void lmm_klp_init(void);
bool lmm_klp_is_ours(const char *name);
u32 lmm_klp_missing(u32 functions);
int lmm_klp_hold(u32 functions, u32 user, void (*changed)(enum lmm_klp_change change), char *why,
		 size_t len);
void lmm_klp_release(u32 user);
const struct lmm_klp_port *lmm_klp_port(enum lmm_klp_function function);
enum lmm_klp_state lmm_klp_state(enum lmm_klp_function function);
const char *lmm_klp_module(enum lmm_klp_function function);

/* klp_load.c */
int lmm_klp_load(u32 functions, bool (*given_up)(const void *arg), const void *arg, char *why,
		 size_t len);
void lmm_klp_wake(void);
void lmm_klp_exit(void);

/* klp_conflict.c */
void lmm_klp_survey(void);
bool lmm_klp_barred(u32 functions);
bool lmm_klp_covered(const struct lmm_hook *hook, char *why, size_t len);
bool lmm_klp_any_covered(void);
bool lmm_klp_in_transition(void);
void lmm_klp_holders(char *buf, size_t len);
int lmm_klp_watch_start(void (*changed)(void));
void lmm_klp_watch_stop(void);
void lmm_klp_changed(enum lmm_klp_change change);

#endif /* LIVEMM_HOOK_KLP_CLIENT_H */
