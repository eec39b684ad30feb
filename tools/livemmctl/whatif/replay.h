/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * replay.h - what library.py calls; the structs there have the same members
 */
#ifndef LIVEMM_WHATIF_REPLAY_H
#define LIVEMM_WHATIF_REPLAY_H

#include <stdint.h>

/* Columns of a row: time in ns, CPU that reported, kind, and the fields of the kind. */
#define WHATIF_FIELDS	10
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
	/* The kernel's own. */
	WHATIF_WAKEUP_KSWAPD,
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
	int32_t high_max_tenths;
	int32_t decay_ms;
};

/* Knobs of zonelock; max_tenths in tenths of a percent. */
struct whatif_zonelock {
	int32_t enabled;
	int32_t max_tenths;
	int32_t max_age_ms;
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
int64_t whatif_measure(const int64_t *rows, int64_t nr, struct whatif_result *result);

#endif /* LIVEMM_WHATIF_REPLAY_H */
