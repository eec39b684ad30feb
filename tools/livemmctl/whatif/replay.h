/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay.h - what library.py calls; the structs there have the same members
 */
#ifndef LIVEMM_WHATIF_REPLAY_H
#define LIVEMM_WHATIF_REPLAY_H

#include <stdint.h>

/* Columns of a row: time in ns, CPU that reported, kind, and the fields of the kind. */
#define WHATIF_FIELDS	12
#define WHATIF_COLUMNS	(3 + WHATIF_FIELDS)
/* CONFIG_PCP_BATCH_SCALE_MAX of Debian's kernels. */
#define SCALE_MAX	5
/* Zones and CPUs that are looked at. */
#define WHATIF_SLOTS	512
#define WHATIF_CPUS	1024
/* Of whatif_replay(). */
#define WHATIF_LEAPT	1

enum whatif_kind {
	WHATIF_REFILL,
	WHATIF_DRAIN,
	WHATIF_LIST,
	WHATIF_ZONE,
	WHATIF_CPU,
	WHATIF_HINTS,
	WHATIF_SCAN,
	/* Events of the kernel's own, in the order of events.py. */
	WHATIF_EXTFRAG,
	WHATIF_WAKEUP_KSWAPD,
	WHATIF_RECLAIM_BEGIN,
	WHATIF_RECLAIM_END,
	WHATIF_CMA_START,
	WHATIF_CMA_FINISH,
	WHATIF_CMA_RELEASE,
};

/* Where the fields of an event are in the kernel's ring buffer. */
struct whatif_format {
	int32_t id;
	int32_t fields;
	int32_t offset[WHATIF_FIELDS];
	int32_t size[WHATIF_FIELDS];
	int32_t is_signed[WHATIF_FIELDS];
};

/* Knobs of pcp; high_max_tenths in tenths of a percent. */
struct whatif_pcp {
	int32_t enabled;
	int32_t sees_refills;
	int32_t limit_exit_drain;
	int32_t batch_max_scale;
	int32_t gain_pct;
	int32_t guard_pct;
	int32_t high_max_tenths;
	int32_t decay_ms;
};

/* Knobs of zonelock; max_tenths in tenths of a percent. */
struct whatif_zonelock {
	int32_t enabled;
	int32_t max_tenths;
	int32_t max_age_ms;
	int32_t guard_pct;
};

/* Sizes in pages; kept_* is pages times ns. */
struct whatif_result {
	int64_t refills;
	int64_t refill_pages;
	int64_t drains;
	int64_t drain_pages;
	int64_t exit_drains;
	int64_t excess_pages;
	int64_t grown;
	int64_t lowered;
	int64_t limited_watermark;
	int64_t limited_max;
	int64_t limited_room;
	int64_t stored_pages;
	int64_t taken_pages;
	int64_t returned_pages;
	int64_t returned_age;
	int64_t refused;
	int64_t kept_max;
	int64_t faults;
	int64_t ns;
	double kept_area;
};

/* Modes of numa that are replayed; the order is that of the knob. */
enum whatif_numa_mode {
	WHATIF_NUMA_PERIOD,
	WHATIF_NUMA_VMA,
};

/* Knobs of numa, and the kernel's settings of scans (the last three). */
struct whatif_numa {
	int32_t enabled;
	int32_t mode;
	int32_t scan_period_min_ms;
	int32_t scan_period_max_ms;
	int32_t min_faults;
	int32_t step_max_pct;
	int32_t steady_pct;
	int32_t scan_delay_ms;
	int32_t scan_delay_run_ms;
	int32_t thread_period_min_ms;
	int32_t full_pass_interval;
	int32_t sampling_stride;
	int32_t scan_size_mb;
	int32_t kernel_min_ms;
	int32_t kernel_max_ms;
};

/* Pages of hint faults by enum numa_class. */
struct whatif_numa_result {
	int64_t spaces;
	int64_t recorded_scans;
	int64_t recorded_faults;
	int64_t scans;
	int64_t sampling_scans;
	int64_t postponed;
	int64_t alarms;
	int64_t held_back;
	int64_t faults;
	int64_t pages[4];
};

/* Knobs of cma. */
struct whatif_cma {
	int32_t enabled;
	int32_t mode;
	int32_t cap_pct;
};

/*
 * Sums over all looks at zones with CMA memory, in pages; *_short counts looks at which regular
 * memory was at its high watermark.
 */
struct whatif_cma_result {
	int64_t refills;
	int64_t lent_pages;
	int64_t regular_pages;
	int64_t looks;
	int64_t recorded_free_cma;
	int64_t free_cma;
	int64_t recorded_free_regular;
	int64_t free_regular;
	int64_t recorded_short;
	int64_t short_looks;
	int64_t recorded_used_most;
	int64_t used_most;
};

/* Knobs of the filter of pageblock. */
struct whatif_mix {
	int32_t mode;
	int32_t max_attempts;
};

/* Blocks are movable ones that pages of other types came to. */
struct whatif_mix_result {
	int64_t mixes;
	int64_t mixes_at_once;
	int64_t blocks;
	int64_t blocks_at_once;
};

/* Pages between which a list swings around a moment, as far as looks tell. */
struct whatif_span {
	int32_t low;
	int32_t high;
};

long whatif_list(const int64_t *row, int64_t *count);
struct whatif_span *whatif_spans(const int64_t *rows, int64_t nr);
int32_t *whatif_floors(const int64_t *rows, int64_t nr);
int64_t *whatif_ahead(const int64_t *rows, int64_t nr);
long whatif_came(long net, long allocated, long delta, int batch);
void whatif_faults(int64_t *before, int64_t cpu, int64_t faults, int64_t *sum);
int64_t whatif_pages(const uint8_t *raw, int64_t len, int64_t page_size, int32_t cpu,
		     const struct whatif_format *formats, int32_t kinds, int64_t *rows,
		     int64_t room, int64_t *lost);
int whatif_replay(const int64_t *rows, int64_t nr, const struct whatif_pcp *config,
		  const struct whatif_zonelock *zonelock, struct whatif_result *result);
int whatif_numa_replay(const int64_t *rows, int64_t nr, const struct whatif_numa *config,
		       struct whatif_numa_result *result);
int whatif_cma_replay(const int64_t *rows, int64_t nr, const struct whatif_cma *config,
		      struct whatif_cma_result *result);
int whatif_mix_replay(const int64_t *rows, int64_t nr, const int64_t *places, int64_t nr_places,
		      const struct whatif_mix *config, struct whatif_mix_result *result);
int64_t whatif_measure(const int64_t *rows, int64_t nr, struct whatif_result *result);

#endif /* LIVEMM_WHATIF_REPLAY_H */
