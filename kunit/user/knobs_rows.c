// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs_rows.c - the rows of one policy; built once for each, with POLICY and KNOBS_C set
 */
#include KNOBS_C

#define PASTE(a, b)	a ## b
#define NAME_OF(a, b)	PASTE(a, b)
#define QUOTE(a)	#a
#define WORD(a)		QUOTE(a)

extern struct lmm_policy NAME_OF(POLICY, _rows);

struct lmm_policy NAME_OF(POLICY, _rows) = {
	.name = WORD(POLICY),
	.knobs = NAME_OF(POLICY, _knobs),
	.nr_knobs = ARRAY_SIZE(NAME_OF(POLICY, _knobs)),
	.counter_names = NAME_OF(POLICY, _counter_names),
	.nr_counters = ARRAY_SIZE(NAME_OF(POLICY, _counter_names)),
};
