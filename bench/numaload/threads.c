// SPDX-License-Identifier: GPL-2.0-only
/*
 * Patterns of threads, and where their pages are.
 */
#include "numaload.h"

#include <signal.h>
#include <sys/syscall.h>

/* So many pages of each thread are looked at. */
#define SAMPLE_PAGES	64
/* So many percent of every thread's pages on its node: it has converged. */
#define CONVERGED	90
/* A child writes to so many pages. */
#define CHILD_PAGES	256
/* Of ten pages of a part that is uneven, so many are on the first node. */
#define UNEVEN		9

struct worker {
	pthread_t thread;
	const struct options *opt;
	unsigned int nr;
	char *part;
	char apart[LINE];	/* a line that the others do not write to */
	__u64 work;	/* written by it alone */
};

static struct worker workers[MAX_THREADS];
/* All memory has been written to; the time begins. */
static pthread_barrier_t ready;

static int far_cpu(const struct options *opt, unsigned int node)
{
	unsigned int i;

	for (i = 0; i < opt->threads; i++)
		if (places[i].node != node)
			return places[i].cpu;
	errx(1, "%s: needs threads on two nodes", opt->pattern->name);
}

static __u64 random_next(__u64 *state)
{
	/* xorshift64 (Marsaglia, "Xorshift RNGs", 2003) */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The part that a thread uses in a phase. */
static char *part_of(const struct options *opt, const struct worker *me, unsigned int phase)
{
	return workers[phase % 2 ? (me->nr ^ 1) % opt->threads : me->nr].part;
}

/* A page of what a thread reaches, by a number that it counts up. */
static char *page_of(const struct options *opt, const struct worker *me,
		     unsigned int phase, __u64 at, __u64 *seed)
{
	unsigned long pages = opt->part / PAGE;

	switch (opt->pattern->reach) {
	case REACH_OWN:
		return part_of(opt, me, phase) + at % pages * PAGE;
	case REACH_RANDOM:
		at = random_next(seed);
		break;
	case REACH_HALF:
		/* Of its number the last bit is that of the half. */
		at = random_next(seed) << 1 | phase % 2;
		break;
	case REACH_ALL:
		break;
	}
	at %= pages * opt->threads;
	return workers[at / pages].part + at % pages * PAGE;
}

static __u64 pages_reached(const struct options *opt)
{
	unsigned long pages = opt->part / PAGE;

	return opt->pattern->reach == REACH_OWN ? pages : pages * opt->threads;
}

static void visit_some(const struct options *opt, struct worker *me, __u64 *at,
		       __u64 count, __u64 *seed)
{
	__u64 end = *at + count;

	while (*at < end && !READ_ONCE(shared->stop)) {
		unsigned int phase = READ_ONCE(shared->phase), i;

		for (i = 0; i < BLOCK; i++)
			visit(page_of(opt, me, phase, (*at)++, seed));
		WRITE_ONCE(me->work, me->work + BLOCK);
		__builtin_ia32_pause();
	}
}

static void *work(void *arg)
{
	struct worker *me = arg;
	const struct options *opt = me->opt;
	const struct pattern *pattern = opt->pattern;
	__u64 pages = pages_reached(opt), seed = 0x9e3779b97f4a7c15ULL * (me->nr + 1);
	/* Each begins elsewhere, so that they do not walk in step. */
	__u64 at = pages / opt->threads * me->nr;

	if (!pattern->loose)
		pin(places[me->nr].cpu);
	if (pattern->first == FIRST_OWN)
		touch_pages(me->part, opt->part);
	pthread_barrier_wait(&ready);
	sleep_until(now_ns() + me->nr * opt->stagger_ms * NSEC_PER_MSEC);
	while (!READ_ONCE(shared->stop)) {
		visit_some(opt, me, &at, pattern->visits ?: pages, &seed);
		if (pattern->nap_ms)
			sleep_until(now_ns() + pattern->nap_ms * NSEC_PER_MSEC);
	}
	return NULL;
}

/* What a run has to say of its pages' places. */
struct sight {
	__u64 samples;
	__u64 local;	/* sum of the samples' percents */
	__u64 since;	/* when this phase began */
	unsigned int phase;
	double times[MAX_PHASES];	/* seconds until it had converged; 0: not so far */
};

/* Percent of a thread's pages that are on its node, by a sample of them. */
static unsigned int local_percent(const struct options *opt, const struct worker *of,
				  unsigned int phase)
{
	unsigned long pages = opt->part / PAGE, count = lesser(pages, SAMPLE_PAGES), i;
	char *part = part_of(opt, of, phase);
	void *page[SAMPLE_PAGES];
	int node[SAMPLE_PAGES];
	unsigned int local = 0;

	for (i = 0; i < count; i++)
		page[i] = part + pages * i / count * PAGE;
	/* With no nodes to move to, the call only tells. */
	if (syscall(SYS_move_pages, 0, count, page, NULL, node, 0))
		err(1, "move_pages");
	for (i = 0; i < count; i++)
		local += node[i] == (int)places[of->nr].node;
	return 100 * local / count;
}

static void look(const struct options *opt, struct sight *sight, __u64 now)
{
	unsigned int i, sum = 0, least = 100;

	for (i = 0; i < opt->threads; i++) {
		unsigned int percent = local_percent(opt, &workers[i], shared->phase);

		sum += percent;
		least = lesser(least, percent);
	}
	sight->samples++;
	sight->local += sum / opt->threads;
	if (least >= CONVERGED && !sight->times[sight->phase])
		sight->times[sight->phase] = (double)(now - sight->since) / NSEC_PER_SEC;
}

/* JSON: seconds, or null, for each phase; of one that was cut short only if it converged. */
static void print_times(const struct sight *sight, bool cut_short)
{
	unsigned int i, phases = sight->phase + (!cut_short || sight->times[sight->phase]);

	for (i = 0; i < phases; i++) {
		fputs(i ? ", " : "", stdout);
		if (sight->times[i])
			printf("%.1f", sight->times[i]);
		else
			fputs("null", stdout);
	}
}

/* A child of a server: it has the memory of all, and pays for what it writes to. */
static void have_child(const struct options *opt)
{
	unsigned long i;

	if (fork_child())
		return;
	for (i = 0; i < CHILD_PAGES; i++)
		visit(workers[i % opt->threads].part + i * PAGE);
	_exit(0);
}

static void begin_threads(const struct options *opt)
{
	bool apart = opt->pattern->apart;
	/* A page between two mappings keeps the kernel from making them one. */
	unsigned long i, gap = apart ? PAGE : 0;
	char *mem = map_memory((opt->part + gap) * opt->threads, MAP_PRIVATE);

	if (pthread_barrier_init(&ready, NULL, opt->threads + 1))
		errx(1, "cannot set a barrier");
	for (i = 0; i < opt->threads; i++) {
		struct worker *me = &workers[i];

		me->opt = opt;
		me->nr = i;
		me->part = mem + (opt->part + gap) * i;
		if (gap && munmap(me->part + opt->part, gap))
			err(1, "munmap");
		if (opt->pattern->first == FIRST_FAR) {
			pin(far_cpu(opt, places[i].node));
			touch_pages(me->part, opt->part);
		}
		if (opt->pattern->first == FIRST_UNEVEN) {
			unsigned long most = opt->part / PAGE * UNEVEN / 10 * PAGE;

			touch_on(places[0].node, me->part, most);
			touch_on(places[1].node, me->part + most, opt->part - most);
		}
	}
	unpin();
	for (i = 0; i < opt->threads; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			errx(1, "cannot start a thread");
	pthread_barrier_wait(&ready);
}

void run_threads(const struct options *opt)
{
	/* Where a thread's pages should be is known if it has a CPU and pages of its own. */
	bool placed = opt->pattern->reach == REACH_OWN && !opt->pattern->loose;
	static struct sight sight;
	__u64 start, at, i, sum = 0;

	/* Nobody waits for children. */
	signal(SIGCHLD, SIG_IGN);
	begin_threads(opt);
	start = now_ns();
	sight.since = start;
	for (i = 1; i <= opt->seconds * 1000 / SAMPLE_MS; i++) {
		at = start + i * SAMPLE_MS * NSEC_PER_MSEC;
		sleep_until(at);
		if (placed)
			look(opt, &sight, at);
		if (opt->phase_ms && i * SAMPLE_MS % opt->phase_ms == 0) {
			sight.phase++;
			sight.since = at;
			WRITE_ONCE(shared->phase, shared->phase + 1);
		}
		if (opt->pattern->fork_ms && i * SAMPLE_MS % opt->pattern->fork_ms == 0)
			have_child(opt);
	}
	for (i = 0; i < opt->threads; i++)
		sum += READ_ONCE(workers[i].work);
	WRITE_ONCE(shared->stop, true);
	for (i = 0; i < opt->threads; i++)
		pthread_join(workers[i].thread, NULL);
	printf("\"work\": %llu, \"seconds_to_local\": [", sum);
	if (placed)
		print_times(&sight, opt->phase_ms);
	fputs("],", stdout);
	if (placed)
		printf(" \"pages_local\": %.2f,", (double)sight.local / sight.samples);
}
