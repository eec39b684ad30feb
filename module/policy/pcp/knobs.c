// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - knobs and counters of the pcp policy
 *
 * Uses no kernel state: tests/tables.py also builds this file into a program that prints the rows.
 */
#include "knobs.h"

static const char *const mode_words[] = {
	[PCP_MODE_DEPTH] = "depth",
	[PCP_MODE_EVENT] = "event",
	NULL
};

static const char *const scope_words[] = {
	[SCOPE_ZONE] = "zone",
	[SCOPE_NODE] = "node",
	NULL
};

/* One row for each knob, in debugfs and in the parameter policies. */
const struct lmm_knob pcp_knobs[NR_KNOBS] = {
	[KNOB_MODE] = {
		.name = "mode", .kind = LMM_KNOB_CHOICE,
		.min = 0, .max = PCP_MODE_EVENT, .def = PCP_MODE_EVENT,
		.choices = mode_words,
	},
	[KNOB_PERIOD_MS] = {
		/* PCP_AUTO_TUNE_PERIOD of the series is one second. */
		.name = "period_ms", .kind = LMM_KNOB_UINT,
		.min = 100, .max = 10000, .def = 1000,
	},
	[KNOB_WINDOW_PERIODS] = {
		/* 1 is the series as posted. */
		.name = "window_periods", .kind = LMM_KNOB_UINT,
		.min = 1, .max = PCP_WINDOW_MAX, .def = PCP_WINDOW_MAX,
	},
	[KNOB_HIGH_MAX_PCT] = {
		/* percpu_pagelist_high_fraction = 8, the series' limit. */
		.name = "high_max_pct", .kind = LMM_KNOB_TENTHS,
		.min = 10, .max = 500, .def = 125,
	},
	[KNOB_LIMIT_EXIT_DRAIN] = {
		.name = "limit_exit_drain", .kind = LMM_KNOB_BOOL,
		.min = 0, .max = 1, .def = 1,
	},
	[KNOB_BATCH_MAX_SCALE] = {
		/* CONFIG_PCP_BATCH_SCALE_MAX, 52166607ecc9 (6.7). */
		.name = "batch_max_scale", .kind = LMM_KNOB_UINT,
		.min = 0, .max = 6, .def = 5,
	},
	[KNOB_DECAY_MS] = {
		/* As long as the kernel lets remote lists idle (pcp->expire). */
		.name = "decay_ms", .kind = LMM_KNOB_UINT,
		.min = 500, .max = 60000, .def = 3000,
	},
	[KNOB_GAIN_PCT] = {
		.name = "gain_pct", .kind = LMM_KNOB_UINT,
		.min = 10, .max = 200, .def = 100,
	},
	[KNOB_WATERMARK_GUARD_PCT] = {
		.name = "watermark_guard_pct", .kind = LMM_KNOB_UINT,
		.min = 0, .max = 1000, .def = 100,
	},
	[KNOB_CONTENDED_ONLY] = {
		.name = "contended_only", .kind = LMM_KNOB_BOOL,
		.min = 0, .max = 1, .def = 0,
	},
	[KNOB_SCOPE] = {
		.name = "scope", .kind = LMM_KNOB_CHOICE,
		.min = 0, .max = SCOPE_NODE, .def = SCOPE_ZONE,
		.choices = scope_words,
	},
};

/* Names in the file counters. */
const char *const pcp_counter_names[NR_COUNTERS] = {
	[COUNT_REFILLS] = "refills",
	[COUNT_REFILL_PAGES] = "refill_pages",
	[COUNT_SCALED_REFILLS] = "scaled_refills",
	[COUNT_DRAINS] = "drains",
	[COUNT_DRAIN_PAGES] = "drain_pages",
	[COUNT_KEPT_PAGES] = "kept_pages",
	[COUNT_CONTENDED] = "contended",
	[COUNT_PERIODS] = "periods",
	[COUNT_GROWN] = "grown",
	[COUNT_RAISED] = "raised",
	[COUNT_LOWERED] = "lowered",
	[COUNT_RESTORED] = "restored",
	[COUNT_EXCESS_PAGES] = "excess_pages",
	[COUNT_LOST_RACE] = "lost_race",
	[COUNT_LIMITED_MAX] = "limited_max",
	[COUNT_LIMITED_ROOM] = "limited_room",
	[COUNT_LIMITED_WATERMARK] = "limited_watermark",
	[COUNT_LIMITED_QUIET] = "limited_quiet",
	[COUNT_LIMITED_RECLAIM] = "limited_reclaim",
	[COUNT_KICKS] = "kicks",
	[COUNT_OOM_CALLS] = "oom_calls",
	[COUNT_OOM_PAGES] = "oom_pages",
	[COUNT_IDLE_RESETS] = "idle_resets",
	[COUNT_HANDS_OFF] = "hands_off",
};
