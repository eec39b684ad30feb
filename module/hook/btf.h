/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * btf.h - the running kernel's own description of its functions and structs
 */
#ifndef LIVEMM_HOOK_BTF_H
#define LIVEMM_HOOK_BTF_H

#include <linux/types.h>

int lmm_btf_init(void);
int lmm_btf_function(const char *name, char *buf, size_t len);
int lmm_btf_tracepoint(const char *name, char *buf, size_t len);
int lmm_btf_layout(const char *struct_name, const char *member, u32 *bytes);

#endif /* LIVEMM_HOOK_BTF_H */
