// SPDX-License-Identifier: GPL-2.0-only
/*
 * ladder_test.c - suite livemm-ladder: every step failing once
 */
#include <kunit/test.h>

#include "../module/control/ladder.c"
#include "../module/livemm.h"

#define LADDER_STEPS	4

/* What the steps did: '0'..'3' for up, 'a'..'d' for down. */
struct ladder_log {
	char text[2 * LADDER_STEPS + 1];
	unsigned int len;
	int fail_at;
	bool silent;
};

static int ladder_note(void *ctx, unsigned int step, char *why, size_t len)
{
	struct ladder_log *log = ctx;

	if (log->fail_at == step) {
		if (!log->silent)
			scnprintf(why, len, "step %u would not", step);
		return -EBUSY;
	}
	log->text[log->len++] = '0' + step;
	return 0;
}

static void ladder_unnote(void *ctx, unsigned int step)
{
	struct ladder_log *log = ctx;

	log->text[log->len++] = 'a' + step;
}

/* One function a step, since a step learns nothing of its number. */
#define LADDER_UP(step)								\
	static int ladder_up##step(void *ctx, char *why, size_t len)		\
	{									\
		return ladder_note(ctx, step, why, len);			\
	}
#define LADDER_DOWN(step)							\
	static void ladder_down##step(void *ctx)				\
	{									\
		ladder_unnote(ctx, step);					\
	}

LADDER_UP(0)
LADDER_UP(1)
LADDER_UP(2)
LADDER_UP(3)
LADDER_DOWN(0)
LADDER_DOWN(1)
LADDER_DOWN(3)

/* Step 2 has nothing to undo. */
static const struct lmm_step ladder_steps[LADDER_STEPS] = {
	{ "zero", ladder_up0, ladder_down0 },
	{ "one", ladder_up1, ladder_down1 },
	{ "two", ladder_up2, NULL },
	{ "three", ladder_up3, ladder_down3 },
};

static void ladder_test_all_up_and_down(struct kunit *test)
{
	struct ladder_log log = { .fail_at = -1 };
	char why[LMM_WHY_LEN];

	KUNIT_EXPECT_EQ(test, 0, lmm_ladder_up(ladder_steps, LADDER_STEPS, &log, why, sizeof(why)));
	KUNIT_EXPECT_STREQ(test, "0123", log.text);
	lmm_ladder_down(ladder_steps, LADDER_STEPS, &log);
	KUNIT_EXPECT_STREQ(test, "0123dba", log.text);
}

static void ladder_test_each_fails(struct kunit *test)
{
	static const char *const want[LADDER_STEPS] = {
		"", "0a", "01ba", "012ba"
	};
	int k;

	for (k = 0; k < LADDER_STEPS; k++) {
		struct ladder_log log = { .fail_at = k };
		char why[LMM_WHY_LEN], words[LMM_WHY_LEN];

		scnprintf(words, sizeof(words), "step %d would not", k);
		KUNIT_EXPECT_EQ(test, -EBUSY,
				lmm_ladder_up(ladder_steps, LADDER_STEPS, &log, why, sizeof(why)));
		KUNIT_EXPECT_STREQ(test, want[k], log.text);
		KUNIT_EXPECT_STREQ(test, words, why);
	}
}

static void ladder_test_silent_failure_is_named(struct kunit *test)
{
	struct ladder_log log = { .fail_at = 2, .silent = true };
	char why[LMM_WHY_LEN] = "stale";

	KUNIT_EXPECT_EQ(test, -EBUSY,
			lmm_ladder_up(ladder_steps, LADDER_STEPS, &log, why, sizeof(why)));
	KUNIT_EXPECT_STREQ(test, "two: error -16", why);
}

static struct kunit_case lmm_ladder_cases[] = {
	KUNIT_CASE(ladder_test_all_up_and_down),
	KUNIT_CASE(ladder_test_each_fails),
	KUNIT_CASE(ladder_test_silent_failure_is_named),
	{}
};

static struct kunit_suite lmm_ladder_suite = {
	.name = "livemm-ladder",
	.test_cases = lmm_ladder_cases,
};
