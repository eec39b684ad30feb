// SPDX-License-Identifier: GPL-2.0-only
/*
 * hook_table_test.c - prototypes are compared argument by argument, and the
 * rows of the hook table make sense
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "../module/hook/prototype.c"
#include "../module/hook/table.c"

#define REFILL_6_1	"int (struct zone *, unsigned int, long unsigned int, struct list_head *, int, unsigned int)"

/**
 * struct proto_case - two prototypes and what must be said of them
 * @name: shown by KUnit
 * @want: what we were written for
 * @have: what the kernel has
 * @why: NULL when they are equal, else the words
 */
struct proto_case {
	const char *name;
	const char *want;
	const char *have;
	const char *why;
};

static const struct proto_case proto_cases[] = {
	{ "same", REFILL_6_1, REFILL_6_1, NULL },
	{ "same without arguments", "int (void)", "int (void)", NULL },
	{ "same with a function argument", "int (int (*)(void *, long), char)",
	  "int (int (*)(void *, long), char)", NULL },
	{ "another return type", "void (struct zone *)", "bool (struct zone *)",
	  "returns 'bool', expected 'void'" },
	{ "an argument changed", "int (struct zone *, int)", "int (struct zone *, long)",
	  "argument 2 is 'long', expected 'int'" },
	{ "a longer name with the same start", "void (struct zone)", "void (struct zonelist)",
	  "argument 1 is 'struct zonelist', expected 'struct zone'" },
	{ "an argument lost (constprop)", "int (struct zone *, int)", "int (struct zone *)",
	  "argument 2 is missing: 'int'" },
	{ "an argument gained", "int (struct zone *)", "int (struct zone *, unsigned int)",
	  "argument 2 is new: 'unsigned int'" },
	{ "variadic", "int (char *)", "int (char *, ...)", "argument 2 is new: '...'" },
	{ "nothing to compare", "", "", "no prototype to compare" },
	{ "not a prototype", "int", "int", "no prototype to compare" },
};

static void proto_case_name(const struct proto_case *c, char *name)
{
	strscpy(name, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(proto, proto_cases, proto_case_name);

static void prototypes_are_compared(struct kunit *test)
{
	const struct proto_case *c = test->param_value;
	char why[LMM_WHY_LEN] = "";
	bool equal = lmm_prototype_equal(c->want, c->have, why, sizeof(why));

	KUNIT_EXPECT_EQ(test, equal, !c->why);
	if (c->why)
		KUNIT_EXPECT_STREQ(test, why, c->why);
}

static void a_short_buffer_is_not_overrun(struct kunit *test)
{
	char why[8] = "xxxxxxx";

	KUNIT_EXPECT_FALSE(test, lmm_prototype_equal("int (int)", "int (long)", why, 4));
	KUNIT_EXPECT_EQ(test, strlen(why), (size_t)3);
	KUNIT_EXPECT_EQ(test, why[7], '\0');
	KUNIT_EXPECT_EQ(test, why[6], 'x');
}

static void rows_are_complete(struct kunit *test)
{
	unsigned int i, j;

	KUNIT_ASSERT_GT(test, lmm_nr_hooks, (unsigned int)LMM_HOOK_FIRST_LAYOUT);
	for (i = 0; i < lmm_nr_hooks; i++) {
		const struct lmm_hook *hook = &lmm_hooks[i];
		bool handled = hook->mech == LMM_MECH_KPROBE ||
			       hook->mech == LMM_MECH_DIRECT ||
			       hook->mech == LMM_MECH_TRACEPOINT;

		KUNIT_ASSERT_NOT_NULL(test, hook->name);
		KUNIT_EXPECT_NOT_NULL_MSG(test, hook->lost, "%s", hook->name);
		KUNIT_EXPECT_NOT_NULL_MSG(test, hook->alternatives[0].symbol, "%s", hook->name);
		KUNIT_EXPECT_NE_MSG(test, hook->users, 0U, "%s", hook->name);
		/* Required of a policy that does not use it would never be armed. */
		KUNIT_EXPECT_EQ_MSG(test, hook->required & ~hook->users, 0U, "%s",
				    hook->name);
		/* All that use a layout require it: see lmm_hooks_supported(). */
		if (hook->mech == LMM_MECH_LAYOUT)
			KUNIT_EXPECT_EQ_MSG(test, hook->required, 0U, "%s", hook->name);
		if (hook->mech != LMM_MECH_DATA && hook->mech != LMM_MECH_LAYOUT)
			KUNIT_EXPECT_NOT_NULL_MSG(test, hook->alternatives[0].proto, "%s",
						  hook->name);
		KUNIT_EXPECT_EQ_MSG(test, handled, !!hook->handler, "%s", hook->name);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, hook->name, lmm_hooks[j].name);
	}
}

/* A kprobe and a livepatch on one symbol would be two mechanisms for it. */
static void one_mechanism_a_symbol(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < lmm_nr_hooks; i++) {
		if (lmm_hooks[i].mech == LMM_MECH_LAYOUT)
			continue;
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_STRNEQ(test, lmm_hooks[i].alternatives[0].symbol,
					    lmm_hooks[j].alternatives[0].symbol);
	}
}

static struct kunit_case hook_table_cases[] = {
	KUNIT_CASE_PARAM(prototypes_are_compared, proto_gen_params),
	KUNIT_CASE(a_short_buffer_is_not_overrun),
	KUNIT_CASE(rows_are_complete),
	KUNIT_CASE(one_mechanism_a_symbol),
	{ }
};

static struct kunit_suite hook_table_suite = {
	.name = "livemm_hook_table",
	.test_cases = hook_table_cases,
};
