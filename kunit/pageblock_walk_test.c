// SPDX-License-Identifier: GPL-2.0-only
/*
 * pageblock_walk_test.c - walk over a simulated machine of 1 TiB while memory comes and goes
 *
 * A machine of 8 nodes with 500,480 blocks of 2 MiB in 7,820 sections, and 372 sections of holes.
 * The map stands for struct pages: a look at a block finds pages if the block's section belongs to
 * the zone.
 */
#include <kunit/test.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/prandom.h>
#include <linux/string.h>

#include "../module/policy/pageblock/core_walk.c"

#define ORDER		9
#define NODES		8
#define NODE_SECTIONS	1024
#define SECTIONS	(NODES * NODE_SECTIONS)
#define SECTION_BLOCKS	64
#define BLOCKS		(SECTIONS * SECTION_BLOCKS)
/* Blocks that are no holes. */
#define PRESENT		500480ULL

/* Zones of a node: the fifth, of devices, has no memory. */
#define NODE_ZONES	5
#define DMA		0
#define DMA32		1
#define NORMAL		2
#define MOVABLE		3
#define SLOTS		(NODES * NODE_ZONES)
#define HOLE		SLOTS

/* One section in so many is a hole at first. */
#define HOLE_EVERY	22
/* Memory of the last two nodes alternates in stripes of so many sections. */
#define STRIPE		8

/* The machine, and what a round has seen; the suites of a program run one after the other. */
static struct machine {
	/* Slot of the zone that each section is in, or HOLE. */
	u8 owner[SECTIONS];
	/* The section came or went in this round. */
	bool touched[SECTIONS];
	/* By slot. */
	struct pageblock_span zone[SLOTS];
	/* One more than the slot of the last zone that the block was seen in; 0: not seen. */
	u8 seen_in[BLOCKS];
	u64 looks;
	u64 calls;
	/* Blocks of each zone as of when the round came to the zone: no round looks more often. */
	u64 spanned;
	u64 twice;
} machine;

static unsigned int slot_of(unsigned int node, unsigned int zone)
{
	return node * NODE_ZONES + zone;
}

static unsigned int node_of(unsigned int section)
{
	unsigned int node = section / NODE_SECTIONS;

	return node < NODES - 2 ? node : NODES - 2 + section / STRIPE % 2;
}

/* The zone that a section is in while all memory is there. */
static unsigned int home_of(unsigned int section)
{
	if (section % HOLE_EVERY == HOLE_EVERY - 1)
		return HOLE;
	if (section < 32)
		return slot_of(0, section ? DMA32 : DMA);
	return slot_of(node_of(section),
		       section % NODE_SECTIONS < NODE_SECTIONS / 4 * 3 ? NORMAL : MOVABLE);
}

/* A zone spans its memory, as the kernel has it; the first page of all belongs to nobody. */
static void zones_measure(void)
{
	const u64 pages = (u64)SECTION_BLOCKS << ORDER;
	unsigned int section;

	memset(machine.zone, 0, sizeof(machine.zone));
	for (section = 0; section < SECTIONS; section++) {
		struct pageblock_span *zone = &machine.zone[machine.owner[section]];

		if (machine.owner[section] == HOLE)
			continue;
		if (!zone->end)
			zone->start = section ? section * pages : 1;
		zone->end = (section + 1) * pages;
	}
}

static void section_give(unsigned int section, unsigned int slot)
{
	machine.owner[section] = slot;
	machine.touched[section] = true;
}

static void machine_start(void)
{
	unsigned int section;

	for (section = 0; section < SECTIONS; section++)
		section_give(section, home_of(section));
	zones_measure();
}

static void round_start(void)
{
	memset(machine.touched, 0, sizeof(machine.touched));
	memset(machine.seen_in, 0, sizeof(machine.seen_in));
	machine.looks = 0;
	machine.calls = 0;
	machine.spanned = 0;
	machine.twice = 0;
}

/* What the glue does with a block. */
static void block_look(unsigned int slot, const struct pageblock_span *part)
{
	u64 block = part->start >> ORDER;

	machine.looks++;
	if (machine.owner[block / SECTION_BLOCKS] != slot)
		return;
	machine.twice += machine.seen_in[block] == slot + 1;
	machine.seen_in[block] = slot + 1;
}

/* Look at some blocks; false at the end of the round. */
static bool walk_slice(struct pageblock_walk *walk, u64 blocks)
{
	struct pageblock_span part;

	while (blocks && walk->slot < SLOTS) {
		const unsigned int slot = walk->slot;
		const struct pageblock_span *zone = &machine.zone[slot];

		machine.calls++;
		if (!walk->end)
			machine.spanned += pageblock_walk_blocks(zone, ORDER);
		if (!pageblock_walk_next(walk, zone, ORDER, &part))
			continue;
		block_look(slot, &part);
		blocks--;
	}
	return walk->slot < SLOTS;
}

/* Each block that was there all the time was seen, and none was seen twice; returns their number */
static u64 round_check(struct kunit *test)
{
	u64 block, there = 0, missed = 0;

	for (block = 0; block < BLOCKS; block++) {
		unsigned int section = block / SECTION_BLOCKS;

		if (machine.owner[section] == HOLE || machine.touched[section])
			continue;
		there++;
		missed += machine.seen_in[block] != machine.owner[section] + 1;
	}
	KUNIT_EXPECT_EQ(test, missed, 0ULL);
	KUNIT_EXPECT_EQ(test, machine.twice, 0ULL);
	/* A look for each block, and one call more for each zone: nothing is searched for. */
	KUNIT_EXPECT_LE(test, machine.looks, machine.spanned);
	KUNIT_EXPECT_EQ(test, machine.calls, machine.looks + SLOTS);
	return there;
}

static u64 blocks_all(void)
{
	unsigned int slot;
	u64 all = 0;

	for (slot = 0; slot < SLOTS; slot++)
		all += pageblock_walk_blocks(&machine.zone[slot], ORDER);
	return all;
}

static u64 blocks_done(const struct pageblock_walk *walk)
{
	unsigned int slot;
	u64 done = 0;

	for (slot = 0; slot < SLOTS; slot++)
		done += pageblock_walk_done(walk, slot, &machine.zone[slot], ORDER);
	return done;
}

/* The same memory all the time: a round is each block once, and what is done can be told. */
static void a_quiet_machine(struct kunit *test)
{
	struct pageblock_walk walk = { };
	unsigned int round;

	machine_start();
	for (round = 0; round < 2; round++) {
		u64 slices = 0, wrong = 0;

		walk = (struct pageblock_walk){ };
		round_start();
		do {
			wrong += blocks_done(&walk) != machine.looks;
			slices++;
		} while (walk_slice(&walk, 1000));
		KUNIT_EXPECT_EQ(test, wrong, 0ULL);
		KUNIT_EXPECT_EQ(test, machine.looks, blocks_all());
		KUNIT_EXPECT_EQ(test, blocks_done(&walk), blocks_all());
		KUNIT_EXPECT_EQ(test, round_check(test), PRESENT);
		KUNIT_EXPECT_EQ(test, slices, DIV_ROUND_UP(machine.looks, 1000ULL));
	}
}

/* All memory of some zones of a node goes, or comes back. */
static void node_change(unsigned int node, unsigned int zones, bool comes)
{
	unsigned int section;

	for (section = 0; section < SECTIONS; section++) {
		unsigned int home = home_of(section);

		if (home != HOLE && home / NODE_ZONES == node && zones & BIT(home % NODE_ZONES))
			section_give(section, comes ? home : HOLE);
	}
}

/* A section goes, or comes, to its own zone or to the other that its node may use it for. */
static void section_change(struct rnd_state *rnd)
{
	unsigned int section = prandom_u32_state(rnd) % SECTIONS;

	if (machine.owner[section] != HOLE)
		section_give(section, HOLE);
	else
		section_give(section, slot_of(node_of(section),
					      prandom_u32_state(rnd) % 2 ? NORMAL : MOVABLE));
}

static void memory_change(struct rnd_state *rnd)
{
	unsigned int chance = prandom_u32_state(rnd) % 64;
	unsigned int node = prandom_u32_state(rnd) % NODES;

	if (chance < 4)
		node_change(node, chance & 1 ? BIT(MOVABLE) : BIT(NORMAL) | BIT(MOVABLE),
			    chance & 2);
	else
		section_change(rnd);
	zones_measure();
}

/* Zones grow, shrink, vanish and appear between two slices. */
static void a_machine_that_changes(struct kunit *test)
{
	struct pageblock_walk walk;
	struct rnd_state rnd;
	unsigned int round;

	prandom_seed_state(&rnd, 18);
	machine_start();
	for (round = 0; round < 4; round++) {
		u64 slices = 0;

		walk = (struct pageblock_walk){ };
		round_start();
		while (walk_slice(&walk, 128)) {
			if (!(++slices % 32))
				memory_change(&rnd);
			if (blocks_done(&walk) > blocks_all())
				break;
		}
		KUNIT_EXPECT_EQ(test, walk.slot, (unsigned int)SLOTS);
		KUNIT_EXPECT_GT(test, round_check(test), 10000ULL);
	}
}

/* Memory that came in one round is seen in the next. */
static void what_came_is_seen_next(struct kunit *test)
{
	struct pageblock_walk walk = { };

	machine_start();
	node_change(2, BIT(NORMAL) | BIT(MOVABLE), false);
	zones_measure();
	round_start();
	/* The round is at node 4 when node 2 comes. */
	while (walk.slot < slot_of(4, NORMAL))
		walk_slice(&walk, 128);
	node_change(2, BIT(NORMAL) | BIT(MOVABLE), true);
	zones_measure();
	while (walk_slice(&walk, 128))
		;
	KUNIT_EXPECT_EQ(test, machine.seen_in[2 * NODE_SECTIONS * SECTION_BLOCKS], 0);
	round_check(test);
	walk = (struct pageblock_walk){ };
	round_start();
	while (walk_slice(&walk, 128))
		;
	KUNIT_EXPECT_EQ(test, round_check(test), PRESENT);
}

/* A zone that grows faster than the walk goes does not keep the walk. */
static void a_zone_that_grows(struct kunit *test)
{
	struct pageblock_span zone = { 0, 1 << ORDER }, part;
	struct pageblock_walk walk = { };
	unsigned int looks = 0;

	while (looks < 1000 && pageblock_walk_next(&walk, &zone, ORDER, &part)) {
		zone.end += 2 << ORDER;
		looks++;
	}
	KUNIT_EXPECT_EQ(test, looks, 1U);
	KUNIT_EXPECT_EQ(test, walk.slot, 1U);
	KUNIT_EXPECT_EQ(test, walk.next, 0ULL);
	KUNIT_EXPECT_EQ(test, walk.end, 0ULL);
}

#define PAGE(block, page)	(((u64)(block) << ORDER) + (page))

/* The zone before each step, and the block that the step finds; not above @start: none. */
static const struct stride_case {
	const char *name;
	struct {
		struct pageblock_span zone, block;
	} steps[4];
	u64 blocks;
} stride_cases[] = {
	{ "no memory", { { { 0, 0 }, { } } }, 0 },
	{ "no memory, somewhere", { { { PAGE(7, 0), PAGE(7, 0) }, { } } }, 0 },
	{ "a block", {
		{ { PAGE(0, 0), PAGE(1, 0) }, { PAGE(0, 0), PAGE(1, 0) } },
		{ { PAGE(0, 0), PAGE(1, 0) }, { } },
	}, 1 },
	{ "edges within blocks", {
		{ { PAGE(0, 1), PAGE(2, 3) }, { PAGE(0, 1), PAGE(1, 0) } },
		{ { PAGE(0, 1), PAGE(2, 3) }, { PAGE(1, 0), PAGE(2, 0) } },
		{ { PAGE(0, 1), PAGE(2, 3) }, { PAGE(2, 0), PAGE(2, 3) } },
		{ { PAGE(0, 1), PAGE(2, 3) }, { } },
	}, 3 },
	{ "within one block", {
		{ { PAGE(4, 5), PAGE(4, 9) }, { PAGE(4, 5), PAGE(4, 9) } },
		{ { PAGE(4, 5), PAGE(4, 9) }, { } },
	}, 1 },
	{ "grows within the block that is done", {
		{ { PAGE(0, 0), PAGE(0, 9) }, { PAGE(0, 0), PAGE(0, 9) } },
		{ { PAGE(0, 0), PAGE(3, 0) }, { } },
	}, 1 },
	{ "grows below", {
		{ { PAGE(8, 0), PAGE(10, 0) }, { PAGE(8, 0), PAGE(9, 0) } },
		{ { PAGE(2, 0), PAGE(10, 0) }, { PAGE(9, 0), PAGE(10, 0) } },
		{ { PAGE(2, 0), PAGE(10, 0) }, { } },
	}, 2 },
	{ "starts later", {
		{ { PAGE(2, 0), PAGE(10, 0) }, { PAGE(2, 0), PAGE(3, 0) } },
		{ { PAGE(9, 7), PAGE(10, 0) }, { PAGE(9, 7), PAGE(10, 0) } },
		{ { PAGE(9, 7), PAGE(10, 0) }, { } },
	}, 8 },
	{ "ends before", {
		{ { PAGE(2, 0), PAGE(10, 0) }, { PAGE(2, 0), PAGE(3, 0) } },
		{ { PAGE(2, 0), PAGE(3, 5) }, { PAGE(3, 0), PAGE(3, 5) } },
		{ { PAGE(2, 0), PAGE(3, 0) }, { } },
	}, 8 },
	{ "vanishes", {
		{ { PAGE(2, 0), PAGE(10, 0) }, { PAGE(2, 0), PAGE(3, 0) } },
		{ { 0, 0 }, { } },
	}, 8 },
	{ "moves away behind", {
		{ { PAGE(8, 0), PAGE(10, 0) }, { PAGE(8, 0), PAGE(9, 0) } },
		{ { PAGE(2, 0), PAGE(4, 0) }, { } },
	}, 2 },
	{ "the largest machine", {
		{ { BIT_ULL(52) - 1, BIT_ULL(52) }, { BIT_ULL(52) - 1, BIT_ULL(52) } },
		{ { BIT_ULL(52) - 1, BIT_ULL(52) }, { } },
	}, 1 },
};

NAMED_CASES(stride, stride_cases);

static void steps_through_a_zone(struct kunit *test)
{
	const struct stride_case *c = test->param_value;
	struct pageblock_walk walk = { };
	unsigned int i;

	KUNIT_EXPECT_EQ(test, pageblock_walk_blocks(&c->steps[0].zone, ORDER), c->blocks);
	for (i = 0; i < ARRAY_SIZE(c->steps) && !walk.slot; i++) {
		const struct pageblock_span *zone = &c->steps[i].zone, *block = &c->steps[i].block;
		struct pageblock_span part;
		u64 done = pageblock_walk_done(&walk, 0, zone, ORDER);
		bool found = pageblock_walk_next(&walk, zone, ORDER, &part);

		KUNIT_ASSERT_EQ_MSG(test, found, block->end > 0, "step %u", i);
		KUNIT_EXPECT_LE(test, done, pageblock_walk_blocks(zone, ORDER));
		KUNIT_EXPECT_EQ(test, pageblock_walk_done(&walk, 1, zone, ORDER), 0ULL);
		if (!found)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, part.start, block->start, "step %u", i);
		KUNIT_EXPECT_EQ_MSG(test, part.end, block->end, "step %u", i);
	}
	KUNIT_EXPECT_EQ(test, walk.slot, 1U);
}

static struct kunit_case pageblock_walk_cases[] = {
	KUNIT_CASE(a_quiet_machine),
	KUNIT_CASE(a_machine_that_changes),
	KUNIT_CASE(what_came_is_seen_next),
	KUNIT_CASE(a_zone_that_grows),
	KUNIT_CASE_PARAM(steps_through_a_zone, stride_gen_params),
	{ }
};

static struct kunit_suite pageblock_walk_suite = {
	.name = "livemm_pageblock_walk",
	.test_cases = pageblock_walk_cases,
};

#undef ORDER
#undef NODES
#undef NODE_SECTIONS
#undef SECTIONS
#undef SECTION_BLOCKS
#undef BLOCKS
#undef PRESENT
#undef NODE_ZONES
#undef DMA
#undef DMA32
#undef NORMAL
#undef MOVABLE
#undef SLOTS
#undef HOLE
#undef HOLE_EVERY
#undef STRIPE
#undef PAGE
