/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace.h - the tracepoint of switching a policy
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM livemm

#if !defined(LIVEMM_CONTROL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define LIVEMM_CONTROL_TRACE_H

#include <linux/tracepoint.h>

#include "compat/compat.h"
TRACE_EVENT(policy_switch,
	TP_PROTO(const char *policy, bool on),
	TP_ARGS(policy, on),
	TP_STRUCT__entry(
		__string(policy, policy)
		__field(bool, on)
	),
	TP_fast_assign(
		lmm_assign_str(policy, policy);
		__entry->on = on;
	),
	TP_printk("policy=%s on=%d", __get_str(policy), __entry->on)
);

#endif /* LIVEMM_CONTROL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH control
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
