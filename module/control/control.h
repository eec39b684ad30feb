/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h - what the parts of control share, and what main.c calls
 *
 * Load:   hooks, policies registered, lmm_params_apply_boot(), and last
 *	   lmm_control_init(), which cannot fail: no file may be open when a
 *	   load is given up.
 * Unload: lmm_control_exit(), policies unregistered, hooks.
 */
#ifndef LIVEMM_CONTROL_H
#define LIVEMM_CONTROL_H

#include <linux/lockdep.h>
#include <linux/rcupdate.h>

#include "../livemm.h"
#include "knobs.h"

/* debugfs.c */
int lmm_control_init(void);
void lmm_control_exit(void);

/* params.c */
extern bool lmm_off;
extern bool lmm_force;
extern bool lmm_allow_livepatch;

int lmm_params_apply_boot(char *why, size_t len);
void lmm_params_close(void);
__printf(1, 2) void lmm_control_set_error(const char *fmt, ...);
void lmm_control_get_error(char *buf, size_t len);

/* lease.c */
extern const struct lmm_knob lmm_lease_knob;

void lmm_lease_set(u32 seconds);
u32 lmm_lease_left(void);
void lmm_lease_cancel(void);

/* policy/registry.c: doors that only control uses */
int lmm_policies_apply(const struct lmm_config want[LMM_NR_POLICIES],
		       unsigned int named, char *why, size_t len);

/**
 * lmm_policy_config() - published settings of a registered policy
 * @policy: whose
 *
 * Context: process, control mutex held.
 * Return: the settings, valid while the mutex is held.
 */
static inline const struct lmm_config *
lmm_policy_config(const struct lmm_policy *policy)
{
	return rcu_dereference_protected(policy->config,
					 lockdep_is_held(&lmm_control_mutex));
}

#endif /* LIVEMM_CONTROL_H */
