/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * direct.h - calls at a function's ftrace site, shared with other users of the site
 */
#ifndef LIVEMM_HOOK_DIRECT_H
#define LIVEMM_HOOK_DIRECT_H

#include "table.h"

struct bpf_trampoline;

int lmm_direct_arm(struct lmm_hook *hook);
int lmm_direct_disarm(struct lmm_hook *hook);
void lmm_direct_exit(void);
void lmm_direct_bpf_link(void *link, const struct bpf_trampoline *trampoline);
void lmm_direct_bpf_links(void);

#endif /* LIVEMM_HOOK_DIRECT_H */
