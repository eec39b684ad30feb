/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hand.h - free blocks on their way to the buddy, several under one hold of zone->lock
 */
#ifndef LIVEMM_POLICY_ZONELOCK_HAND_H
#define LIVEMM_POLICY_ZONELOCK_HAND_H

#include <linux/mmzone.h>
#include <linux/types.h>

struct seq_file;

/*
 * Most blocks that go back under one hold of zone->lock: about as many as a batch of the kernel's
 * has (pcp->batch is 63 in all but small zones).
 */
#define HAND_BLOCKS	64

/**
 * struct zonelock_hand - free blocks that are the caller's alone, on their way to the buddy
 * @pages: the blocks, as the kernel's drain takes them; no CPU's lists
 * @zone: zone of the blocks
 * @most: blocks that may go under one hold
 * @hold_pages: pages that may go under one hold, however many blocks they are
 * @blocks: number of blocks in @pages
 * @joined: blocks of order PAGE_ALLOC_COSTLY_ORDER that may have neighbours among blocks to come
 * @nr_joined: number of blocks in @joined
 */
struct zonelock_hand {
	struct per_cpu_pages pages;
	struct list_head joined;
	struct zone *zone;
	unsigned int most;
	unsigned int hold_pages;
	unsigned int blocks;
	unsigned int nr_joined;
};

void hand_init(struct zonelock_hand *hand, struct zone *zone, unsigned int most,
	       unsigned int hold_pages);
void hand_add(struct zonelock_hand *hand, unsigned int pindex, struct list_head *blocks);
void hand_join(struct zonelock_hand *hand, struct list_head *pages);
void hand_rest(struct zonelock_hand *hand, unsigned int migratetype, struct list_head *pages);
void hand_free(struct zonelock_hand *hand);

#endif /* LIVEMM_POLICY_ZONELOCK_HAND_H */
