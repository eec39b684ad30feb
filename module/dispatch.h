/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * dispatch.h - a handler for each hook, which makes an event of what the hook reports
 */
#ifndef LIVEMM_DISPATCH_H
#define LIVEMM_DISPATCH_H

#include "hook/hook.h"

extern const struct lmm_hook_handlers lmm_dispatch_handlers;

#endif /* LIVEMM_DISPATCH_H */
