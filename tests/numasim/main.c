// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - loads with and without policy numa, beside a model of the kernel's NUMA balancing
 *
 * main [NUMBER [SEED [RUNS]]]: the loads that have a name, and NUMBER of loads at random from SEED
 * on, with RUNS runs a side.
 * A line a load with a name: "ok" or "not ok", the figures without and with the policy, and what
 * the load did not meet.  A load at random has lines only if the load did not meet something.
 */
#include "model.c"

/* What the load does by chance, with and without the policy alike; and the rest. */
static u64 load_state, rnd_state;

static u32 next(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 33;
}

static u32 rnd(void)
{
	return next(&rnd_state);
}

#include "policy.h"

enum reach { OWN, ALL, RANDOM };

struct load {
	const char *name;
	unsigned int threads, mib, seconds, scan_size, vmas;
	unsigned int bound;	/* threads whose memory is bound where they are */
	enum reach reach;
	unsigned int sweep_ms;	/* in which a thread uses all it reaches */
	unsigned int far_pct;	/* of the memory on the other node at first */
	unsigned int stuck_pct;	/* cannot be moved */
	unsigned int phase_ms;
	bool nodes_swap;	/* at a phase threads swap nodes, not memory */
	bool loose;		/* threads are not pinned */
	unsigned int node_cpus;
	unsigned int move_ms;	/* a loose thread is moved by others so often */
	unsigned int duty_pct;
	unsigned int lost_us;	/* of each tick */
	unsigned int claims;	/* bits by enum claim */
};

/* What a load is to show besides NEVER_MORE. */
enum claim { SAVES = 1, LOCAL_SOON = 2 };

struct figures {
	u64 faults, flushes, flips, remote_sum;
	unsigned int looks, phases, gap_s, longest_s;
	double to_local;
	bool ends_local;
};

static unsigned long part_pages(const struct load *load)
{
	return load->mib << (20 - PAGE_SHIFT);
}

static void set_up(const struct load *load, bool policy)
{
	unsigned long page, part = part_pages(load);
	unsigned int i;

	memset(&sim, 0, sizeof(sim));
	memset(sim_task, 0, sizeof(sim_task));
	memset(&sim_mm, 0, sizeof(sim_mm));
	sim_threads = load->threads;
	sim.pages = part * load->threads;
	sim.vma_pages = DIV_ROUND_UP(sim.pages, load->vmas);
	sim.scan_size = load->scan_size;
	sim.pinned = !load->loose;
	sim.node_cpus = load->node_cpus ?: DIV_ROUND_UP(load->threads, NODES);
	sim.active = 1;
	sim.policy = policy;
	jiffies = 100000;
	sim.last_scan = jiffies;
	sim_mm.context.ctx_id = 7;
	for (i = 0; i < load->threads; i++) {
		struct task_struct *task = &sim_task[i];

		task->mm = &sim_mm;
		task->group_leader = &sim_task[0];
		task->pid = i + 1;
		task->tgid = 1;
		strcpy(task->comm, "load");
		task->cpu = i;
		task->bound = i < load->bound;
		/* Threads that began one after the other do not ask at the same tick. */
		if (load->bound)
			task->se.sum_exec_runtime = (load->threads - i) * 50 * NSEC_PER_MSEC;
		task->numa_preferred_nid = NUMA_NO_NODE;
		task->numa_scan_period = SCAN_DELAY_MS;
	}
	/* Wholly by chance, so that no part of the memory is special but where it is said. */
	for (page = 0; page < sim.pages; page++) {
		int node = node_of(&sim_task[page / part]);

		sim.page[page].last = LAST_CPUPID_MASK;
		sim.page[page].node = rnd() % 100 < load->far_pct ? !node : node;
		sim.page[page].stuck = rnd() % 100 < load->stuck_pct;
		if (sim_task[page / part].bound) {
			sim.page[page].node = node;
			sim.page[page].stuck = true;
		}
	}
	if (policy)
		policy_begin();
}

/* First page of what a thread reaches. */
static unsigned long base_of(const struct load *load, unsigned int thread, unsigned int phase)
{
	if (load->reach != OWN)
		return 0;
	if (phase % 2 && !load->nodes_swap && (thread ^ 1) < load->threads)
		thread ^= 1;
	return part_pages(load) * thread;
}

static void use_memory(const struct load *load, struct task_struct *task, unsigned int phase,
		       unsigned long *at, u64 visits)
{
	unsigned long base = base_of(load, task->pid - 1, phase);
	unsigned long reach = load->reach == OWN ? part_pages(load) : sim.pages;

	for (; visits && sim.armed; visits--, (*at)++) {
		struct page *page = &sim.page[base + (load->reach == RANDOM ? rnd() : *at) % reach];

		if (page->armed)
			hint_fault(task, page);
	}
	*at += visits;
}

/* Percent of remote pages; @local: 90 % of each thread's are local. */
static unsigned int look(const struct load *load, unsigned int phase, bool *local)
{
	unsigned long reach = load->reach == OWN ? part_pages(load) : sim.pages, i;
	unsigned int thread, sum = 0;

	*local = true;
	for (thread = 0; thread < load->threads; thread++) {
		unsigned long base = base_of(load, thread, phase), remote = 0, seen = 0;

		for (i = thread; i < reach; i += reach / 128, seen++)
			remote += sim.page[base + i].node != node_of(&sim_task[thread]);
		sum += remote * 100 / seen;
		*local &= remote * 10 <= seen;
	}
	return sum / load->threads;
}

/* Ticks of a phase: a quarter more or less, so that nothing runs in step. */
static unsigned long phase_length(const struct load *load)
{
	return (unsigned long)load->phase_ms * (75 + next(&load_state) % 51) / 100 * HZ / 1000;
}

static struct figures run(const struct load *load, bool policy, u64 seed)
{
	unsigned long ticks = (unsigned long)load->seconds * HZ, phase_ticks, begun = 0, i;
	unsigned long at[MAX_THREADS];
	struct figures f = { };
	unsigned int phase = 0, thread, visits_due[MAX_THREADS] = { };
	bool local, was_local = false;
	double sum = 0;

	rnd_state = seed;
	load_state = seed;
	set_up(load, policy);
	for (thread = 0; thread < load->threads; thread++)
		at[thread] = rnd();
	phase_ticks = phase_length(load);
	for (i = 0; i < ticks; i++, jiffies++) {
		for (thread = 0; thread < load->threads; thread++) {
			struct task_struct *task = &sim_task[thread];
			unsigned long reach = load->reach == OWN ? part_pages(load) : sim.pages;
			u64 due;

			/* Runs in turns of a tenth of a second. */
			if (load->duty_pct && i % (HZ / 10) * 100 / (HZ / 10) >= load->duty_pct)
				continue;
			due = visits_due[thread] + reach * (1000 / HZ) * 1000 / load->sweep_ms;
			visits_due[thread] = due % 1000;
			if (load->loose && load->move_ms &&
			    next(&load_state) % (load->move_ms * HZ / 1000) == 0)
				move_task(task, !node_of(task));
			/* A scan, and the faults on what it arms, may share a jiffy. */
			tick(task, TICK_NSEC - (u64)load->lost_us * 1000);
			use_memory(load, task, phase, &at[thread], due / 1000);
		}
		f.gap_s = max(f.gap_s, (unsigned int)((jiffies - sim.last_scan) / HZ));
		if (i % (HZ / 10) == 0) {
			f.remote_sum += look(load, phase, &local);
			f.looks++;
			if (local && !was_local) {
				was_local = true;
				sum += (double)(i - begun) / HZ;
			}
		}
		if (phase_ticks && i - begun >= phase_ticks) {
			if (!was_local)
				sum += (double)(i - begun) / HZ;
			was_local = false;
			begun = i;
			phase++;
			phase_ticks = phase_length(load);
			for (thread = 0; load->nodes_swap && thread < load->threads; thread++)
				move_task(&sim_task[thread], !node_of(&sim_task[thread]));
		}
	}
	look(load, phase, &f.ends_local);
	if (!was_local)
		sum += (double)(i - begun) / HZ;
	f.phases = phase + 1;
	f.to_local = sum / f.phases;
	f.faults = sim.hint_faults;
	f.flushes = sim.flushes;
	f.flips = sim.flips;
	f.longest_s = sim.longest_ms / 1000;
	if (policy)
		policy_end();
	return f;
}

#define MIX	.sweep_ms = 500, .scan_size = 256, .vmas = 1

#define SOON	.claims = LOCAL_SOON
#define DATA(ms)	.phase_ms = ms
#define NODES_SWAP(ms)	.phase_ms = ms, .nodes_swap = true
/* Threads that go where the kernel has them go, over memory of which so much cannot be moved. */
#define LOOSE(cpus, far, stuck) \
	.loose = true, .node_cpus = cpus, .far_pct = far, .stuck_pct = stuck
#define SWEEP(ms, mib)	.sweep_ms = ms, .scan_size = mib, .vmas = 1

static const struct load named[] = {
	{ "stable, 60 s", 2, 8, 60, MIX, .far_pct = 100, .claims = SAVES | LOCAL_SOON },
	{ "stable, 60 s, sweeps of 5 s", 2, 8, 60, SWEEP(5000, 256), .far_pct = 100,
	  .claims = SAVES | LOCAL_SOON },
	{ "stable, 1800 s", 2, 8, 1800, MIX, .far_pct = 100, .claims = SAVES | LOCAL_SOON },
	{ "stable, 4 threads, 16 scans a pass", 4, 8, 600, SWEEP(500, 2), .far_pct = 100,
	  .claims = SAVES | LOCAL_SOON },
	{ "local from the start", 2, 8, 60, MIX, .claims = SAVES },
	{ "one thread, far", 1, 16, 60, MIX, .far_pct = 100, SOON },
	{ "memory swapped every 12 s", 2, 8, 600, MIX, DATA(12000), SOON },
	{ "memory swapped every 30 s", 2, 8, 600, MIX, DATA(30000), SOON },
	{ "memory swapped every 120 s", 2, 8, 1200, MIX, DATA(120000), SOON },
	/* Hint faults alone tell of it: noticed later, as a period may be twice the kernel's. */
	{ "memory swapped every 600 s", 2, 8, 3600, MIX, DATA(600000) },
	{ "nodes swapped every 12 s", 2, 8, 600, MIX, NODES_SWAP(12000), SOON },
	{ "nodes swapped every 30 s", 2, 8, 600, MIX, NODES_SWAP(30000), SOON },
	{ "nodes swapped every 300 s", 2, 8, 1800, MIX, NODES_SWAP(300000), SOON },
	{ "nodes swapped every 30 s, 8 threads", 8, 4, 600, MIX, NODES_SWAP(30000), SOON },
	{ "60/40, cannot move, 1 thread", 1, 64, 1800, MIX, LOOSE(1, 40, 100) },
	{ "60/40, cannot move, 2 threads share", 2, 32, 1800, MIX, LOOSE(2, 40, 100),
	  .reach = ALL },
	{ "90/10, cannot move, 2 threads share", 2, 32, 1800, MIX, LOOSE(2, 10, 100),
	  .reach = ALL },
	{ "60/40, cannot move, 8 threads share", 8, 8, 1800, MIX, LOOSE(8, 40, 100), .reach = ALL },
	{ "60/40, cannot move, own memory", 4, 16, 1800, MIX, LOOSE(4, 40, 100) },
	{ "60/40, can move, 4 threads share", 4, 16, 1800, MIX, LOOSE(4, 40, 0), .reach = ALL },
	{ "half cannot move, 128 scans a pass", 2, 64, 600, SWEEP(500, 1), .far_pct = 100,
	  .stuck_pct = 50 },
	{ "memory swapped every 150 s, 128 scans a pass", 2, 64, 1800, SWEEP(500, 1),
	  DATA(150000), SOON },
	{ "nodes swapped every 150 s, 128 scans a pass", 2, 64, 1800, SWEEP(500, 1),
	  NODES_SWAP(150000), SOON },
	/* Seven ask, who may not scan, for one who may. */
	{ "far, beside 7 threads that are bound", 8, 4, 60, MIX, .bound = 7, .far_pct = 100,
	  SOON },
	{ "at random", 2, 8, 200, MIX, .reach = RANDOM, .loose = true },
	{ "two threads, random pages of the same", 2, 2, 200, MIX, .reach = RANDOM },
	{ "all use all", 2, 8, 200, MIX, .reach = ALL },
	{ "idle, 7 %", 2, 8, 200, MIX, .far_pct = 100, .duty_pct = 7 },
	{ "moved by others every 20 s", 4, 4, 600, MIX, LOOSE(4, 0, 0), .move_ms = 20000 },
	/* Small loads, CPU-bound: a scan, its faults and the next ask may share a jiffy. */
	{ "small, 2 threads, 8 MiB", 2, 8, 300, SWEEP(20, 256), NODES_SWAP(40000), SOON },
	{ "small, 4 threads, 8 MiB", 4, 8, 300, SWEEP(20, 256), NODES_SWAP(40000), SOON },
	{ "small, 2 threads, 4 MiB", 2, 4, 300, SWEEP(20, 256), NODES_SWAP(37000), SOON },
	{ "small, 2 MiB, 4 us lost a tick", 2, 2, 300, SWEEP(20, 256), NODES_SWAP(40000), SOON,
	  .lost_us = 4 },
	{ "small, 2 threads, 64 MiB", 2, 64, 300, SWEEP(40, 256), NODES_SWAP(40000), SOON },
};

static struct load any_load(void)
{
	static const unsigned int threads[] = { 1, 2, 2, 3, 4, 8, 16 };
	static const unsigned int mib[] = { 1, 2, 4, 8 };
	static const unsigned int sweep[] = { 10, 40, 100, 500, 2000, 10000, 60000 };
	static const unsigned int sizes[] = { 256, 256, 16, 4, 1 };
	static const unsigned int part[] = { 0, 0, 10, 40, 50, 100 };
	static const unsigned int phase[] = { 0, 0, 7000, 12000, 30000, 90000, 300000 };

	#define ANY(of) of[rnd() % ARRAY_SIZE(of)]
	struct load load = {
		.threads = ANY(threads), .mib = ANY(mib),
		.seconds = 100 + rnd() % 900, .scan_size = ANY(sizes), .vmas = 1 + rnd() % 8,
		.reach = rnd() % 5 < 3 ? OWN : 1 + rnd() % 2, .sweep_ms = ANY(sweep),
		.far_pct = ANY(part), .stuck_pct = rnd() % 3 ? 0 : ANY(part),
		.phase_ms = ANY(phase), .nodes_swap = rnd() % 2, .loose = rnd() % 3 == 0,
		.duty_pct = rnd() % 4 ? 0 : 5 + rnd() % 95, .lost_us = rnd() % 3 ? 0 : rnd() % 500,
	};

	load.node_cpus = load.threads;
	if (load.loose)
		load.nodes_swap = false;
	if (load.loose && rnd() % 2)
		load.move_ms = 2000 + rnd() % 100000;
	/* Sweeps of a few pages a tick are too slow to simulate by the thousand. */
	load.mib = max(load.mib / max(load.threads / 4, 1U), 1U);
	return load;
}

/* Runs of a load on a side. */
#define MOST_RUNS	8
#define RANDOM_RUNS	3

/* All runs of a load on a side. */
struct side {
	struct figures run[MOST_RUNS];
	u64 faults, flushes, flips;
	double to_local, remote;
	unsigned int gap_s, longest_s, local_ends;
};

static struct side run_side(const struct load *load, bool policy, unsigned int runs, u64 seed)
{
	struct side side = { };
	unsigned int i;

	for (i = 0; i < runs; i++) {
		struct figures f = run(load, policy, seed + 1000003 * i);

		side.run[i] = f;
		side.faults += f.faults;
		side.flushes += f.flushes;
		side.flips += f.flips;
		side.to_local += f.to_local / runs;
		side.remote += (double)f.remote_sum / f.looks / runs;
		side.gap_s = max(side.gap_s, f.gap_s);
		side.longest_s = max(side.longest_s, f.longest_s);
		side.local_ends += f.ends_local;
	}
	return side;
}

/* More by @percent and @few, and each run with the policy more than each run without. */
#define MORE(member, percent, few)							\
({											\
	u64 least = U64_MAX, most = 0;							\
	unsigned int more_i;								\
											\
	for (more_i = 0; more_i < runs; more_i++) {					\
		least = min(least, (u64)on->run[more_i].member);			\
		most = max(most, (u64)off->run[more_i].member);				\
	}										\
	least > most && on->member * 100 > off->member * (100 + (percent)) +		\
					   100 * (few) * runs;				\
})

/* What a load did not meet, or "". */
static const char *verdict(const struct load *load, unsigned int runs, const struct side *off,
			   const struct side *on)
{
	static char text[200];
	int n = 0;

	#define SAY(when, what) \
		n += (when) ? scnprintf(text + n, sizeof(text) - n, " " what) : 0
	text[0] = '\0';
	SAY(MORE(faults, 1, 100), "more-faults");
	SAY(MORE(flushes, 1, 2), "more-flushes");
	SAY(MORE(flips, 1, 1), "more-flips");
	SAY(load->claims & SAVES && on->faults * 10 > off->faults * 7, "few-saved");
	SAY(load->claims & LOCAL_SOON && on->to_local > off->to_local * 1.02 + 0.5, "later-local");
	/* Where nothing changes and nothing keeps pages from moving. */
	SAY(load->reach == OWN && !load->phase_ms && !load->loose &&
	    on->local_ends < off->local_ends, "not-local");
	/* A period is twice the kernel's longest at most; a thread may run for a part of the time. */
	SAY(on->gap_s > 2 * (off->gap_s + on->longest_s) + 10, "deaf");
	return text;
}

static struct figures_sum { u64 faults, flushes, flips; } sum_off, sum_on;
static unsigned int nr_more, nr_lost;

static void add_up(struct figures_sum *sum, const struct side *side)
{
	sum->faults += side->faults;
	sum->flushes += side->flushes;
	sum->flips += side->flips;
}

static bool try(const struct load *load, unsigned int runs, u64 seed)
{
	bool named = load->name;
	struct side off = run_side(load, false, runs, seed), on = run_side(load, true, runs, seed);
	const char *what = verdict(load, runs, &off, &on);

	if (!named) {
		add_up(&sum_off, &off);
		add_up(&sum_on, &on);
		nr_more += !!strstr(what, "more");
		nr_lost += strstr(what, "deaf") || strstr(what, "not-local");
		if (!*what)
			return true;
	}
	printf("%s%s: faults %llu %llu, flushes %llu %llu, flips %llu %llu, remote %.1f %.1f %%, "
	       "local after %.1f %.1f s, longest gap %u %u s%s%s\n",
	       !named ? "# " : *what ? "not ok " : "ok ", load->name ?: "at random",
	       off.faults, on.faults, off.flushes, on.flushes, off.flips, on.flips, off.remote,
	       on.remote, off.to_local, on.to_local, off.gap_s, on.gap_s, *what ? ":" : "", what);
	if (!named)
		printf("# { \"\", %u, %u, %u, %u, %u, %d, %u, %u, %u, %u, %d, %d, %u, %u, %u, %u }"
		       ", seed %llu\n", load->threads, load->mib, load->seconds,
		       load->scan_size, load->vmas, load->reach, load->sweep_ms, load->far_pct,
		       load->stuck_pct, load->phase_ms, load->nodes_swap, load->loose,
		       load->node_cpus, load->move_ms, load->duty_pct, load->lost_us, seed);
	return !*what;
}

static bool say(bool good, const char *what, double figure)
{
	printf("%s at random: %s (%.3f)\n", good ? "ok" : "not ok", what, figure);
	return good;
}

static double share(u64 on, u64 off)
{
	return (double)on / max(off, 1ULL);
}

/* Mode period writes the periods of threads: when it is off they are such as the kernel's. */
static bool try_period(void)
{
	static const struct load load = { "period", 4, 8, 60, MIX, .far_pct = 100,
					  .stuck_pct = 100 };
	unsigned int i, least = UINT_MAX;

	sim_mode = NUMA_MODE_PERIOD;
	run(&load, true, 1);
	sim_mode = NUMA_MODE_QUIET;
	for (i = 0; i < sim_threads; i++)
		least = min(least, sim_task[i].numa_scan_period);
	printf("%s mode period: the shortest period afterwards is %u ms\n",
	       least >= scan_min() ? "ok" : "not ok", least);
	return least >= scan_min();
}

int main(int argc, char **argv)
{
	unsigned int number = argc > 1 ? atoi(argv[1]) : 0, i, bad = 0;
	unsigned int runs = argc > 3 ? min(atoi(argv[3]), MOST_RUNS) : RANDOM_RUNS;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	for (i = 0; i < ARRAY_SIZE(named); i++)
		bad += !try(&named[i], named[i].seconds > 1000 ? 4 : MOST_RUNS, seed + i);
	bad += !try_period();
	for (i = 0; i < number; i++) {
		struct load load;

		rnd_state = seed + i * 7919;
		rnd();
		load = any_load();
		try(&load, runs, seed + i);
	}
	if (!number)
		return bad;
	bad += !say(sum_on.faults * 100 <= sum_off.faults * 85,
		    "hint faults of those without, at most 0.85",
		    share(sum_on.faults, sum_off.faults));
	bad += !say(sum_on.flushes * 100 <= sum_off.flushes * 85, "flushes, at most 0.85",
		    share(sum_on.flushes, sum_off.flushes));
	bad += !say(sum_on.flips <= sum_off.flips, "flips of the preferred node, at most 1",
		    share(sum_on.flips, sum_off.flips));
	/* A run differs from the next by what comes first; of three on a side each may be more. */
	if (runs >= RANDOM_RUNS)
		bad += !say(nr_more * 20 <= number,
			    "loads with more of something in each run, at most 0.05",
			    share(nr_more, number));
	bad += !say(!nr_lost, "loads that are no longer scanned, or stay remote", nr_lost);
	return bad;
}
