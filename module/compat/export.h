/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * export.h - symbols of livemm.ko for the other modules of livemm, in a namespace of their own
 *
 * A namespace is a string since cdd30ebb1b9f ("module: Convert symbol namespace to string
 * literal"), 6.13.
 */
#ifndef LIVEMM_COMPAT_EXPORT_H
#define LIVEMM_COMPAT_EXPORT_H

#include <linux/export.h>
#include <linux/static_call.h>

#if LMM_HAS_NS_WORD
#define LMM_NS	LIVEMM
#else
#define LMM_NS	"LIVEMM"
#endif

/* Suites that include a file which exports export nothing. */
#ifndef EXPORT_SYMBOL_LMM
#define EXPORT_SYMBOL_LMM(symbol)	EXPORT_SYMBOL_NS_GPL(symbol, LMM_NS)
#endif

#define EXPORT_STATIC_CALL_LMM(call)					\
	EXPORT_SYMBOL_LMM(STATIC_CALL_KEY(call));				\
	EXPORT_SYMBOL_LMM(STATIC_CALL_TRAMP(call))

#endif /* LIVEMM_COMPAT_EXPORT_H */
