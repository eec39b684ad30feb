/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hook.h - the interface of the hook layer for control and the policies
 */
#ifndef LIVEMM_HOOK_HOOK_H
#define LIVEMM_HOOK_HOOK_H

#include <linux/types.h>

#include "livemm.h"
#include "klp_client.h"
#include "table.h"

int lmm_hooks_init(void (*changed)(void));
void lmm_hooks_exit(void);

bool lmm_hooks_supported(unsigned int client, unsigned int mode, char *why, size_t len);
int lmm_hooks_arm(unsigned int client, unsigned int mode, char *why, size_t len);
void lmm_hooks_disarm(unsigned int client);
int lmm_hooks_await(unsigned int client, unsigned int mode, enum lmm_klp_wish wish, char *why,
		    size_t len);
bool lmm_hooks_lost(unsigned int client, unsigned int mode, char *why, size_t len, bool *required);
bool lmm_hooks_regained(unsigned int client, unsigned int mode);
void lmm_hooks_silent(unsigned int client, char *why, size_t len);
bool lmm_hooks_waits(unsigned int client, char *why, size_t len);
void lmm_hooks_show(struct seq_file *m);
bool lmm_hook_usable(enum lmm_hook_id id);
bool lmm_hook_armed(unsigned int client, enum lmm_hook_id id);

#endif /* LIVEMM_HOOK_HOOK_H */
