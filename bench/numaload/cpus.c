// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which CPU a thread or process gets.
 */
#include "numaload.h"

#include <sys/syscall.h>

#define MAX_NODES	8
#define BIND		2	/* MPOL_BIND */

struct place places[MAX_THREADS];

static cpu_set_t usable;

void unpin(void)
{
	if (sched_setaffinity(0, sizeof(usable), &usable))
		err(1, "cannot run on every CPU");
}

static unsigned int node_of(int cpu)
{
	unsigned int node;

	pin(cpu);
	if (syscall(SYS_getcpu, NULL, &node, NULL))
		err(1, "getcpu");
	if (node >= MAX_NODES)
		errx(1, "node %u: more than %d nodes", node, MAX_NODES);
	return node;
}

/* Write to pages that are to be on a node, full as it may be. */
void touch_on(unsigned int node, char *mem, unsigned long bytes)
{
	unsigned long nodes = 1UL << node;

	if (syscall(SYS_set_mempolicy, BIND, &nodes, 8 * sizeof(nodes)))
		err(1, "set_mempolicy");
	touch_pages(mem, bytes);
	if (syscall(SYS_set_mempolicy, 0, NULL, 0))
		err(1, "set_mempolicy");
}

/*
 * Fill the places: the first CPU of every node, the second of every node, ..., so that
 * neighbours are on different nodes; and from the beginning if there are more.
 */
unsigned int choose_cpus(void)
{
	int cpus[MAX_NODES][CPU_SETSIZE], cpu;
	unsigned int count[MAX_NODES] = {}, total, node, rank = 0, nr = 0;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		err(1, "sched_getaffinity");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &usable))
			continue;
		node = node_of(cpu);
		cpus[node][count[node]++] = cpu;
	}
	unpin();
	total = lesser(CPU_COUNT(&usable), MAX_THREADS);
	for (; nr < total; rank++) {
		for (node = 0; node < MAX_NODES && nr < total; node++) {
			if (rank < count[node])
				places[nr++] = (struct place){ cpus[node][rank], node };
		}
	}
	for (; nr < MAX_THREADS; nr++)
		places[nr] = places[nr % total];
	return total;
}
