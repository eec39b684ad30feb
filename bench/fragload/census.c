// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the pages of each block are, by /proc/kpageflags.  That does not tell which type
 * the block has, but which kinds of pages share it.
 */
#include "fragload.h"

#include <fcntl.h>
#include <linux/kernel-page-flags.h>

#define BLOCK		(HUGE_PAGE / PAGE)
#define BIT(nr)		(1ULL << (nr))

/* Not in the header for programs, though documented for them. */
#define KPF_RESERVED	32

#define FREE		BIT(KPF_BUDDY)
/* Reserved pages are the firmware's and the kernel image's: nobody allocated them. */
#define APART		(BIT(KPF_NOPAGE) | BIT(KPF_HWPOISON) | BIT(KPF_RESERVED) | \
			 BIT(KPF_OFFLINE))
/* Asked first: where others have a mapping, such a page may have anything. */
#define KERNEL		(BIT(KPF_SLAB) | BIT(KPF_PGTABLE))
/* A tail of a huge page has no flag of the list that the head is on. */
#define MOVABLE		(BIT(KPF_LRU) | BIT(KPF_ANON) | BIT(KPF_MMAP) | BIT(KPF_THP) | \
			 BIT(KPF_HUGE))

enum what { NEUTRAL, ONLY_LRU, ONLY_KERNEL, MIXED, WHATS };

static const char * const words[WHATS] = {
	[NEUTRAL] = "free", [ONLY_LRU] = "lru", [ONLY_KERNEL] = "kernel", [MIXED] = "mixed",
};

int census(void)
{
	unsigned long blocks[WHATS] = {}, lru = 0, kernel = 0, freed = 0, alone = 0;
	__u64 flags[BLOCK];
	int fd = open("/proc/kpageflags", O_RDONLY);
	ssize_t size;
	unsigned int i;

	if (fd < 0)
		err(1, "/proc/kpageflags");
	while ((size = read(fd, flags, sizeof(flags))) == sizeof(flags)) {
		unsigned long of_lru = 0, of_kernel = 0, left = 0;

		for (i = 0; i < BLOCK; i++) {
			if (flags[i] & APART)
				left++;
			else if (flags[i] & FREE)
				freed++;
			else if (!(flags[i] & KERNEL) && flags[i] & MOVABLE)
				of_lru++;
			else
				of_kernel++;
		}
		/* No memory there. */
		if (left == BLOCK)
			continue;
		lru += of_lru;
		kernel += of_kernel;
		blocks[(of_kernel ? ONLY_KERNEL : 0) + (of_lru ? ONLY_LRU : 0)]++;
		/* A few pages that keep a block from ever being a huge page. */
		alone += of_kernel && of_kernel < BLOCK / 16;
	}
	if (size < 0)
		err(1, "/proc/kpageflags");
	printf("{\"pages_lru\": %lu, \"pages_kernel\": %lu, \"pages_free\": %lu, ",
	       lru, kernel, freed);
	for (i = 0; i < WHATS; i++)
		printf("\"blocks_%s\": %lu, ", words[i], blocks[i]);
	printf("\"blocks_few_kernel\": %lu}\n", alone);
	return 0;
}
