// SPDX-License-Identifier: GPL-2.0-only
/*
 * numa.c - the scans and hint faults of a recorded host with policy numa
 *
 * A recording says when an address space was scanned, and the hint faults from one scan to the
 * next, by thread and kind.  Such a time is what a scan yields: the pages in use fault once.  A
 * scan of the model yields what the recorded scan did that is the last by then; a sampling scan
 * yields one page in sampling_stride.  The module's own core decides whether a scan is full,
 * sampling, or put off.  The rest is a model of the glue (policy/numa/scan.c and fault.c).  Which
 * thread asks for a scan, and when, says threads.c.
 */
#include <string.h>

#include "policy/numa/core.h"
#include "policy/numa/core_alarm.h"
#include "policy/numa/core_credit.h"
#include "policy/numa/core_sample.h"
#include "replay.h"
#include "spaces.h"
#include "threads.h"

/* Scans by which a model may be ahead of the recording: what the kernel needs to move a page. */
#define AHEAD_MAX	NUMA_STUCK_PASSES
/* Most that one half of a scan's time can yield of what the half before has. */
#define TAIL_MAX	0.95

/* struct numa_mm, as far as a decision needs it; times in ms. */
struct entry {
	struct numa_counts sum;
	double faults;
	double pages[NUMA_NR_CLASSES];
	double slots[NUMA_THREADS][3];
	struct numa_thread threads[NUMA_THREADS];
	struct numa_period period;
	struct numa_decision decision;
	struct numa_sampling sampling;
	struct numa_alarm alarm;
	struct numa_credit credit;
	unsigned int sample_area;
	double sample_armed;
	double sample_left;
	double sample_remote;
	uint32_t sample_faults;
	bool sample_open;
	bool sampling_now;
	bool begins;
	int64_t begun;
	int64_t last_full;
	int64_t last_ask;
	int64_t last_window;
	uint32_t scans;
	unsigned int pass_scans;
	unsigned int full_scans;
	uint32_t pass;
	unsigned int worst;
	unsigned int resample_passes;
	uint32_t gap_ms;
	int64_t expedite_ms;		/* from the next hint fault to the next scan; -1: none */
	uint64_t scanned;
	uint64_t resident;
	uint32_t own_ms;		/* the kernel's period at the last decision */
	struct threads kernel;
	struct thread *asker;
	const struct thread *brought;	/* was let ask sooner; NULL: none */
	int64_t brought_run;
	bool decided;
	bool past_delay;
};

struct numa_model {
	const struct whatif_numa *config;
	struct whatif_numa_result *result;
	struct space *space;
	struct entry *entry;
	struct numa_settings settings;
	int64_t now;
	double faults;
	double pages[NUMA_NR_CLASSES];
};

static int64_t ms_of(int64_t ns)
{
	return ns / NS_PER_MS;
}

static uint32_t scan_pages(const struct whatif_numa *config)
{
	return (uint32_t)config->scan_size_mb << 8;
}

/* The kernel's task_scan_min() and task_scan_max(). */
static struct period_bounds kernel_bounds(const struct numa_model *model)
{
	const struct whatif_numa *config = model->config;
	uint32_t windows = numa_scans_of_pass(model->entry->resident, scan_pages(config));
	uint32_t floor = 1000 / max(NUMA_SCAN_MIB_PER_S / max(config->scan_size_mb, 1), 1);
	uint32_t least = max(floor, (uint32_t)config->kernel_min_ms / windows);

	return (struct period_bounds){
		.least = least, .most = max(least, (uint32_t)config->kernel_max_ms / windows),
	};
}

/*
 * The recorded scan that says what a scan yields now.  A full scan moves pages, so that the next
 * scan finds what the recorded scan found that came next, though the time may be earlier.
 */
static long scan_at(const struct space *space, int64_t time, long full)
{
	long k = space_scan(space, time);

	return min(max(k, min(full + 1, k + AHEAD_MAX)), space->nr_scans - 1);
}

static void threads_look(struct entry *entry, uint32_t min_faults)
{
	int i;

	for (i = 0; i < NUMA_THREADS; i++)
		entry->threads[i].now = (struct numa_tally){
			.faults = entry->slots[i][0],
			.remote = entry->slots[i][1],
			.shared = entry->slots[i][2],
		};
	entry->worst = numa_worst_thread(entry->threads, NUMA_THREADS, entry->pass, min_faults);
}

static void window_end(struct numa_model *model, const struct scan *scan)
{
	struct entry *entry = model->entry;
	struct numa_settings settings = model->settings;
	struct numa_facts facts;
	int class;

	entry->own_ms = entry->asker->period;
	entry->resident = scan->resident;
	entry->scans = numa_scans_of_pass(entry->resident, scan_pages(model->config));
	entry->last_window = model->now;
	numa_settings_per_scan(&settings, entry->scans, model->config->scan_size_mb);
	if (scan->threads > 1)
		threads_look(entry, settings.min_faults);
	facts = (struct numa_facts){
		.pass = entry->pass,
		.scanned = entry->scanned,
		.resident = entry->resident,
		.lived_ms = ms_of(model->now - entry->begun),
		.run_ms = ms_of(thread_run(entry->asker, model->now)),
		.kernel_ms = entry->own_ms,
		.worst = entry->worst,
	};
	entry->past_delay = numa_past_scan_delay(&facts, &settings);
	entry->sum.faults = entry->faults;
	for (class = 0; class < NUMA_NR_CLASSES; class++)
		entry->sum.pages[class] = entry->pages[class];
	if (!entry->decided)
		numa_period_begin(&entry->period, &entry->sum, &facts, &settings);
	entry->decided = true;
	entry->decision = numa_period_window(&entry->period, &entry->sum, &facts, &settings);
}

static bool sampling_is_on(const struct whatif_numa *config)
{
	return config->mode == WHATIF_NUMA_VMA && config->sampling_stride;
}

static void expedite(struct entry *entry, uint32_t ms)
{
	if (ms < entry->own_ms)
		entry->expedite_ms = ms;
}

static void expedite_sampling(struct numa_model *model)
{
	struct entry *entry = model->entry;

	if (!entry->past_delay || !sampling_is_on(model->config) ||
	    !numa_credit_covers(&entry->credit, model->config->sampling_stride))
		return;
	entry->gap_ms = numa_sampling_gap(entry->gap_ms);
	expedite(entry, entry->gap_ms);
}

static bool not_on_account(const struct numa_model *model)
{
	return !sampling_is_on(model->config) ||
	       !numa_credit_counts(model->settings.period_max_ms);
}

static void full_begin(struct numa_model *model)
{
	struct entry *entry = model->entry;

	entry->sampling_now = false;
	numa_credit_spend(&entry->credit, 1);
	entry->scanned += model->config->mode == WHATIF_NUMA_VMA ?
			  entry->resident / entry->scans : scan_pages(model->config);
	if (entry->resample_passes) {
		entry->gap_ms = 0;
		if (not_on_account(model) || numa_credit_alarm(&entry->credit, entry->scans))
			expedite(entry, NUMA_GAP_MIN_MS);
	} else if (entry->decision.period_ms < entry->own_ms &&
		   (not_on_account(model) || numa_credit_covers(&entry->credit, 1))) {
		expedite(entry, entry->decision.period_ms);
	} else if (entry->full_scans == 1) {
		expedite_sampling(model);
	}
	model->result->scans++;
}

static void sampling_begin(struct numa_model *model)
{
	struct entry *entry = model->entry;
	uint64_t pages = min(entry->resident, (uint64_t)scan_pages(model->config));

	entry->sampling.stride = model->config->sampling_stride;
	if (!entry->pass_scans || !entry->sampling_now || !entry->sample_open ||
	    entry->sample_armed >= 2 * NUMA_RESAMPLE_FAULTS_MIN) {
		entry->sample_area = numa_sample_area(entry->sampling.turn, entry->sampling.stride,
						      entry->pass_scans, entry->scans);
		entry->sample_armed = 0;
		entry->sample_remote = 0;
		entry->sample_faults = numa_sampling_faults(pages, entry->sampling.stride);
		entry->sample_left = entry->sample_faults;
	}
	entry->sample_armed += (double)entry->resident / entry->scans /
			       entry->sampling.stride;
	entry->sampling_now = true;
	numa_credit_spend(&entry->credit, model->config->sampling_stride);
	entry->sample_open = true;
	expedite_sampling(model);
	model->result->sampling_scans++;
}

static void pass_end(struct entry *entry, int64_t now)
{
	if (!entry->sampling_now && entry->pass_scans) {
		entry->pass++;
		entry->full_scans = entry->pass_scans;
	}
	entry->pass_scans = 0;
	if (entry->sampling_now && !entry->resample_passes) {
		numa_alarm_unanswered(&entry->alarm, ms_of(now));
		entry->sampling.turn++;
	}
	if (entry->resample_passes)
		entry->resample_passes--;
}

static bool full_is_due(const struct numa_model *model, unsigned int scans)
{
	const struct entry *entry = model->entry;

	if (!entry->pass || entry->resample_passes)
		return true;
	return model->now >= entry->last_full + entry->decision.period_ms * NS_PER_MS * scans;
}

/* As credit_ask(). */
static void credit_ask(struct numa_model *model)
{
	struct entry *entry = model->entry;
	struct numa_ask ask = {
		.ran_ms = entry->asker->period,
		.own_ms = entry->asker->period,
		.elapsed_ms = ms_of(model->now - entry->last_ask),
		.brought = entry->brought,
	};

	if (entry->asker == entry->brought)
		ask.ran_ms = ms_of(thread_run(entry->asker, model->now) - entry->brought_run);
	entry->brought = NULL;
	entry->last_ask = model->now;
	numa_credit_ask(&entry->credit, &ask);
}

/* A policy's ask_for_scan(). */
static void bring_forward(struct entry *entry, struct thread *thread, int64_t at, uint32_t ms)
{
	entry->brought = thread;
	entry->brought_run = thread_run(thread, at);
	threads_expedite(&entry->kernel, thread, at, ms);
}

/* A thread asks for a scan: as scan_decide().  Returns false where the scan is put off. */
static bool scan_decide(struct numa_model *model, const struct scan *scan)
{
	struct entry *entry = model->entry;
	bool begins = entry->begins, samples = sampling_is_on(model->config), full = true;

	entry->expedite_ms = -1;
	credit_ask(model);
	entry->sample_open = entry->sample_open && entry->sampling_now;
	if (begins)
		pass_end(entry, model->now);
	entry->begins = false;
	if (begins || !entry->decided ||
	    model->now >= entry->last_window + NUMA_WINDOW_MS * NS_PER_MS)
		window_end(model, scan);
	if (samples && !begins) {
		full = entry->resample_passes || !entry->sampling_now;
	} else if (samples) {
		full = full_is_due(model, entry->scans) &&
		       (!entry->pass || entry->resample_passes || not_on_account(model) ||
			numa_credit_full(&entry->credit,
					 (uint64_t)entry->decision.period_ms * entry->scans));
	} else if (!full_is_due(model, 1)) {
		model->result->postponed++;
		return false;
	}
	if (full)
		full_begin(model);
	else
		sampling_begin(model);
	if (full && (begins || !samples)) {
		entry->last_full = model->now;
		numa_credit_pass(&entry->credit);
	}
	entry->pass_scans++;
	entry->begins = entry->pass_scans % entry->scans == 0;
	return true;
}

/* Hint faults: returns true if the sample, which ends here, is an alarm. */
static bool faults_add(struct numa_model *model, const struct fault *fault, double part, int64_t at)
{
	struct entry *entry = model->entry;
	double *slot = entry->slots[numa_thread_slot(fault->pid)];
	double remote = fault->pages[NUMA_REMOTE_PRIVATE] + fault->pages[NUMA_REMOTE_SHARED];
	double all = 0;
	enum numa_verdict verdict;
	unsigned int share;
	int class;

	for (class = 0; class < NUMA_NR_CLASSES; class++) {
		entry->pages[class] += fault->pages[class] * part;
		model->pages[class] += fault->pages[class] * part;
		all += fault->pages[class];
	}
	entry->faults += fault->faults * part;
	model->faults += fault->faults * part;
	slot[0] += all * part;
	slot[1] += remote * part;
	slot[2] += fault->pages[NUMA_REMOTE_SHARED] * part;
	if (!entry->sampling_now || !entry->sample_open || !all)
		return false;
	entry->sample_remote += fault->faults * part * remote / all;
	entry->sample_left -= fault->faults * part;
	if (entry->sample_left > 0)
		return false;
	entry->sample_open = false;
	share = min(entry->sample_remote * 100 / (entry->sample_faults - entry->sample_left),
		    100.0);
	verdict = numa_alarm_judge(&entry->alarm, entry->sample_area, share, entry->decision.rate,
				   ms_of(at));
	model->result->held_back += verdict == NUMA_HELD_BACK;
	if (verdict != NUMA_ALARM)
		return false;
	model->result->alarms++;
	entry->resample_passes = NUMA_STUCK_PASSES + 1;
	return true;
}

/*
 * What a scan yields after the recorded time is over: each half of that time has yielded a part of
 * the half before.
 */
static void tail_add(struct numa_model *model, long k, double part, int64_t recorded, int64_t left)
{
	const struct space *space = model->space;
	const struct scan *scan = &space->scans[k];
	struct fault sum = { };
	double early = 0, late = 0, ratio, more;
	long i, end = k + 1 < space->nr_scans ? scan[1].first : space->nr_faults;
	int class;

	for (i = scan->first; i < end; i++) {
		const struct fault *fault = &space->faults[i];

		if (fault->time - scan->time < recorded / 2) {
			early += fault->faults;
			continue;
		}
		late += fault->faults;
		sum.pid = fault->pid;
		sum.faults += fault->faults;
		for (class = 0; class < NUMA_NR_CLASSES; class++)
			sum.pages[class] += fault->pages[class];
	}
	if (!late || !early)
		return;
	ratio = min(late / early, TAIL_MAX);
	/* Halves that follow, of which the first yields `late` times the ratio. */
	for (more = 0; left > 0 && late > 1; left -= recorded / 2) {
		late *= ratio;
		more += late * min(1.0, 2.0 * left / recorded);
	}
	faults_add(model, &sum, part * more / sum.faults, model->now + recorded);
}

/*
 * Is the scan the recorded one, and the next too?  The kernel knows more of its threads than the
 * model, so until the policy changes something the model follows the recording.
 */
static bool follows(const struct numa_model *model, long k)
{
	const struct entry *entry = model->entry;

	if (!model->config->enabled)
		return true;
	return model->now == model->space->scans[k].time && !entry->sampling_now &&
	       entry->expedite_ms < 0 && k + 1 < model->space->nr_scans;
}

static void scan_told(struct entry *entry, const struct scan *scan)
{
	entry->asker = threads_get(&entry->kernel, scan->pid);
	/* Where no stamp was recorded: the period has just ended. */
	thread_told(entry->asker, scan->time, scan->period, scan->run_ms,
		    scan->stamp_ms ?: scan->run_ms);
	entry->kernel.seq = scan->seq;
	entry->kernel.bump = 0;
}

/* As recorded.  Returns when the next scan is asked for. */
static int64_t scan_follow(struct numa_model *model, long k)
{
	const struct space *space = model->space;
	const struct scan *scan = &space->scans[k];
	struct entry *entry = model->entry;
	struct period_bounds bounds = kernel_bounds(model);
	bool last = k + 1 == space->nr_scans, ends = !last && scan[1].seq != scan->seq;
	long i, end = last ? space->nr_faults : scan[1].first;
	int64_t at = scan->time;

	threads_scan(&entry->kernel, entry->asker, scan->time, 1, ends);
	for (i = scan->first; i < end; i++) {
		const struct fault *fault = &space->faults[i];

		/* Whoever asks has asked in vain. */
		entry->kernel.next_scan = INT64_MAX;
		threads_ask(&entry->kernel, fault->time, &at);
		threads_fault(&entry->kernel, fault, fault->time, 1, &bounds);
		if (fault->period)
			thread_told(threads_get(&entry->kernel, fault->pid), fault->time,
				    fault->period, fault->run_ms, fault->stamp_ms);
		faults_add(model, fault, 1, fault->time);
	}
	if (last)
		return space->last;
	entry->kernel.next_scan = INT64_MAX;
	threads_ask(&entry->kernel, scan[1].time, &at);
	scan_told(entry, &scan[1]);
	return scan[1].time;
}

/* The time from a scan to the next: hint faults come.  Returns when the next scan is asked for. */
static int64_t scan_run(struct numa_model *model, long k)
{
	const struct space *space = model->space;
	const struct scan *scan = &space->scans[k];
	struct entry *entry = model->entry;
	struct period_bounds bounds = kernel_bounds(model);
	double part = entry->sampling_now ? 1.0 / entry->sampling.stride : 1;
	int64_t length = (k + 1 < space->nr_scans ? scan[1].time : space->last) - scan->time;
	long i, end = k + 1 < space->nr_scans ? scan[1].first : space->nr_faults;
	struct thread *asker = NULL;
	int64_t at = model->now;

	threads_scan(&entry->kernel, entry->asker, model->now,
		     part * min(space_faults(space, k) / max(scan->resident, 1L), 1.0),
		     entry->begins);
	for (i = scan->first; i < end && !asker; i++) {
		const struct fault *fault = &space->faults[i];
		int64_t time = model->now + fault->time - scan->time;
		struct thread *thread = threads_get(&entry->kernel, fault->pid);

		asker = threads_ask(&entry->kernel, time, &at);
		if (asker)
			break;
		if (threads_fault(&entry->kernel, fault, time, part, &bounds) &&
		    entry->expedite_ms >= 0) {
			bring_forward(entry, thread, time, entry->expedite_ms);
			entry->expedite_ms = -1;
		}
		if (faults_add(model, fault, part, time))
			bring_forward(entry, thread, time, 0);
	}
	if (!asker)
		asker = threads_ask(&entry->kernel, space->last, &at);
	if (at - model->now > length && k + 1 < space->nr_scans)
		tail_add(model, k, part, length, at - model->now - length);
	entry->asker = asker;
	return at;
}

/* The policy has put a scan off.  Returns when a thread asks again. */
static int64_t scan_later(struct numa_model *model)
{
	struct entry *entry = model->entry;
	int64_t at = model->now + TICK_NS;

	entry->kernel.next_scan = max(entry->last_full + entry->decision.period_ms * NS_PER_MS, at);
	entry->asker = threads_ask(&entry->kernel, model->space->last, &at);
	return at;
}

static void space_replay(struct numa_model *model)
{
	struct space *space = model->space;
	struct entry entry = {
		.begun = space->scans[0].time,
		.last_full = space->scans[0].time,
		.last_ask = space->scans[0].time,
		.last_window = space->scans[0].time,
		.scans = 1,
		.resident = space->scans[0].resident,
		.expedite_ms = -1,
	};
	long k, full = -1;

	model->entry = &entry;
	model->now = space->scans[0].time;
	model->result->spaces++;
	threads_begin(&entry.kernel, space, kernel_bounds(model).least);
	scan_told(&entry, &space->scans[0]);
	while (model->now < space->last && entry.asker) {
		k = scan_at(space, model->now, full);
		if (!model->config->enabled) {
			entry.resident = space->scans[k].resident;
			model->result->scans++;
		} else if (!scan_decide(model, &space->scans[k])) {
			model->now = scan_later(model);
			continue;
		}
		if (!entry.sampling_now)
			full = k;
		model->now = follows(model, k) ? scan_follow(model, k) : scan_run(model, k);
	}
}

static void settings_of(const struct whatif_numa *config, struct numa_settings *settings)
{
	*settings = (struct numa_settings){
		.period_min_ms = config->scan_period_min_ms,
		.period_max_ms = config->scan_period_max_ms,
		.min_faults = config->min_faults,
		.step_max_pct = config->step_max_pct,
		.steady_pct = config->steady_pct,
		.scan_delay_ms = config->scan_delay_ms,
		.scan_delay_run_ms = config->scan_delay_run_ms,
		.thread_period_min_ms = config->thread_period_min_ms,
		.full_pass_interval = config->full_pass_interval,
	};
}

/**
 * whatif_numa_replay() - scans and hint faults of a recorded host with policy numa
 * @rows: the recording, by time
 * @nr: number of rows
 * @config: knobs, and the kernel's settings of scans
 * @result: gets the prediction
 *
 * Return: 0, or -1 without memory.
 */
int whatif_numa_replay(const int64_t *rows, int64_t nr, const struct whatif_numa *config,
		       struct whatif_numa_result *result)
{
	struct numa_model model = { .config = config, .result = result };
	struct space *spaces;
	long size, i, k;
	int class;

	memset(result, 0, sizeof(*result));
	settings_of(config, &model.settings);
	spaces = spaces_read(rows, nr, &size);
	if (!spaces)
		return -1;
	for (i = 0; i < size; i++) {
		result->recorded_scans += spaces[i].nr_scans;
		for (k = 0; k < spaces[i].nr_faults; k++)
			result->recorded_faults += spaces[i].faults[k].faults;
		if (!spaces[i].nr_scans)
			continue;
		model.space = &spaces[i];
		space_replay(&model);
	}
	spaces_free(spaces, size);
	result->faults = model.faults;
	for (class = 0; class < NUMA_NR_CLASSES; class++)
		result->pages[class] = model.pages[class];
	return 0;
}
