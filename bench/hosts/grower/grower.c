// SPDX-License-Identifier: GPL-2.0-only
/*
 * grower - anonymous memory that grows, fast or at a rate, and is then read at random
 *
 * A quarter of each page is at random, so that what is compressed takes memory too.
 */
#include "load.h"

static unsigned long mib = 64, rate, reads = 25;

static const struct load_option options[] = {
	LOAD_NUMBER('w', "MIB", "how far it grows (64)", &mib, 1, 1 << 20),
	LOAD_NUMBER('r', "RATE", "MiB a second (as fast as can be)", &rate, 1, 1 << 20),
	LOAD_NUMBER('R', "PERCENT", "of its pages read afterwards (25)", &reads, 0, 1000),
	{}
};

int main(int argc, char **argv)
{
	unsigned long pages, at, word;
	__u64 *mem, due, now;

	parse_options(argc, argv, options, NULL);
	pages = mib * MIB / PAGE;
	mem = mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED || madvise(mem, mib * MIB, MADV_NOHUGEPAGE))
		err(1, "cannot map %lu MiB", mib);
	random_state = 1;
	due = now_ns();
	for (at = 0; at < pages; at++) {
		for (word = 0; word < PAGE / sizeof(*mem) / 4; word++)
			mem[at * PAGE / sizeof(*mem) + word] = below(~0UL);
		if (!rate || (at + 1) % (MIB / PAGE))
			continue;
		due += NSEC_PER_SEC / rate;
		now = now_ns();
		if (now < due)
			nap((due - now) / NSEC_PER_MSEC);
	}
	for (at = 0; at < pages * reads / 100; at++)
		(void)READ_ONCE(mem[below(pages) * PAGE / sizeof(*mem)]);
	return 0;
}
