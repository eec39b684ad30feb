/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hooks.h - the handlers of hooks that several policies use
 */
#ifndef LIVEMM_FLOW_HOOKS_H
#define LIVEMM_FLOW_HOOKS_H

#include "hook/hook.h"

extern const struct lmm_hook_handlers lmm_flow_handlers;

#endif /* LIVEMM_FLOW_HOOKS_H */
