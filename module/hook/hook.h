/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hook.h - what control and the policies see of the hook layer
 */
#ifndef LIVEMM_HOOK_HOOK_H
#define LIVEMM_HOOK_HOOK_H

#include <linux/types.h>

#include "livemm.h"
#include "klp_client.h"
#include "table.h"

int lmm_hooks_init(void (*changed)(void));
void lmm_hooks_exit(void);

bool lmm_hooks_supported(enum lmm_policy_id id, unsigned int mode, char *why, size_t len);
bool lmm_hooks_layout(enum lmm_policy_id id, char *why, size_t len);
int lmm_hooks_arm(enum lmm_policy_id id, unsigned int mode, char *why, size_t len);
void lmm_hooks_disarm(enum lmm_policy_id id);
void lmm_hooks_refresh(void);
u32 lmm_hooks_missing(enum lmm_policy_id id, unsigned int mode);
bool lmm_hooks_ready(enum lmm_policy_id id, unsigned int mode, char *why, size_t len);
bool lmm_hooks_alive(enum lmm_policy_id id, char *why, size_t len);
bool lmm_hooks_regained(enum lmm_policy_id id, unsigned int mode, char *why, size_t len);
void lmm_hooks_silent(enum lmm_policy_id id, char *why, size_t len);
bool lmm_hooks_unsettled(void);
void lmm_hooks_show(struct seq_file *m);
unsigned long lmm_hook_address(enum lmm_hook_id id);
unsigned long lmm_hook_body(enum lmm_hook_id id);
bool lmm_hook_usable(enum lmm_hook_id id);
bool lmm_hook_armable(enum lmm_hook_id id);

#endif /* LIVEMM_HOOK_HOOK_H */
