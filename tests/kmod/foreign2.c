// SPDX-License-Identifier: GPL-2.0-only
/*
 * lmm_foreign2.ko - a second foreign livepatch, so that two hold functions at once
 */
#include "foreign.c"
