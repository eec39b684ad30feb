// SPDX-License-Identifier: GPL-2.0-only
/*
 * hook_table_test.c - prototypes, rows of the hook table, clients
 */
#include <kunit/test.h>
#include <linux/string.h>

#include "../module/hook/prototype.c"
#include "../module/hook/subscribe.c"
#include "../module/hook/table.c"

#define PROTO_REFILL	"int (struct zone *zone, unsigned int order, long unsigned int count)"

/* Two prototypes and the expected words. */
static const struct proto_case {
	const char *name;
	const char *want;	/* what the module was written for */
	const char *have;	/* the kernel's */
	const char *why;	/* NULL if the prototypes are equal */
} proto_cases[] = {
	{ "same", PROTO_REFILL, PROTO_REFILL, NULL },
	{ "same without arguments", "int (void)", "int (void)", NULL },
	{ "same with a function argument", "int (int (*)(void *, long) it, char c)",
	  "int (int (*)(void *, long) it, char c)", NULL },
	{ "another return type", "void (struct zone *zone)", "bool (struct zone *zone)",
	  "has 'bool', expected 'void'" },
	{ "an argument changed", "int (struct zone *zone, int n)",
	  "int (struct zone *zone, long n)",
	  "has 'long n', expected 'int n'" },
	{ "a longer name with the same start", "void (struct zone)", "void (struct zonelist)",
	  "has 'struct zonelist', expected 'struct zone'" },
	{ "an argument lost (constprop)", "int (struct zone *zone, int n)",
	  "int (struct zone *zone)", "has fewer arguments than expected" },
	{ "an argument gained", "int (struct zone *zone)", "int (struct zone *zone, int n)",
	  "has more arguments than expected" },
	{ "the first argument gained", "int (void)", "int (int n)",
	  "has 'int n', expected 'void'" },
	{ "variadic", "int (char *a)", "int (char *a, ...)", "has more arguments than expected" },
	{ "an argument renamed", "void (struct zone *zone, int count, int pindex)",
	  "void (struct zone *zone, int count, int batch)",
	  "has 'int batch', expected 'int pindex'" },
	{ "two arguments changed places", "void (int order, int type)",
	  "void (int type, int order)", "has 'int type', expected 'int order'" },
	{ "a longer name that starts the same", "void (int mt)", "void (int mt_out)",
	  "has 'int mt_out', expected 'int mt'" },
	{ "a name is gone", "void (int mt, int n)", "void (int, int n)",
	  "has 'int', expected 'int mt'" },
	{ "a pointer to a pointer", "void (char **argv)", "void (char **envp)",
	  "has 'char **envp', expected 'char **argv'" },
	{ "a function argument renamed", "int (int (*)(void *, long) it, char c)",
	  "int (int (*)(void *, long) fn, char c)", "has 'long) fn', expected 'long) it'" },
	{ "a function argument of another kind", "int (int (*)(void *, long) it)",
	  "int (int (*)(void *, int) it)", "has 'int) it', expected 'long) it'" },
	{ "cut short in an argument more", "int (char *a)", "int (char *a, unsigned in",
	  "prototype too long to compare" },
	{ "cut short behind an argument", "int (char *a)", "int (char *a, ",
	  "prototype too long to compare" },
	{ "nothing to compare", "", "", "prototype too long to compare" },
	{ "not a prototype", "int", "int", "prototype too long to compare" },
};

NAMED_CASES(proto, proto_cases);

static void prototypes_are_compared(struct kunit *test)
{
	const struct proto_case *c = test->param_value;
	char why[LMM_WHY_LEN] = "";
	bool equal = lmm_prototype_equal(c->want, c->have, why, sizeof(why));

	KUNIT_EXPECT_EQ(test, equal, !c->why);
	KUNIT_EXPECT_STREQ(test, why, c->why ?: "");
}

static void a_short_buffer_is_not_overrun(struct kunit *test)
{
	char why[8] = "xxxxxxx";

	KUNIT_EXPECT_FALSE(test, lmm_prototype_equal("int (int)", "int (long)", why, 4));
	KUNIT_EXPECT_EQ(test, strlen(why), (size_t)3);
	KUNIT_EXPECT_EQ(test, why[7], '\0');
	KUNIT_EXPECT_EQ(test, why[6], 'x');
}

static void rows_are_complete_and_differ(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < LMM_NR_HOOKS; i++) {
		const struct lmm_hook *hook = &lmm_hooks[i];

		KUNIT_ASSERT_NOT_NULL(test, hook->name);
		KUNIT_EXPECT_NOT_NULL_MSG(test, hook->alternatives[0].symbol, "%s", hook->name);
		if (hook->mech != LMM_MECH_DATA)
			KUNIT_EXPECT_NOT_NULL_MSG(test, hook->alternatives[0].proto, "%s",
						  hook->name);
		KUNIT_EXPECT_EQ_MSG(test, hook->mech == LMM_MECH_DATA, !!hook->size, "%s",
				    hook->name);
		KUNIT_EXPECT_EQ_MSG(test, hook->mech == LMM_MECH_DATA, !!hook->align, "%s",
				    hook->name);
		/* The other handlers are of flow/, or of a policy. */
		KUNIT_EXPECT_EQ_MSG(test, hook->mech == LMM_MECH_DIRECT, !!hook->handler, "%s",
				    hook->name);
		for (j = 0; j < i; j++) {
			KUNIT_EXPECT_STRNEQ(test, hook->name, lmm_hooks[j].name);
			/* Two hooks of one symbol would meet; what is only called hooks nothing. */
			if (hook->mech != LMM_MECH_CALL && lmm_hooks[j].mech != LMM_MECH_CALL)
				KUNIT_EXPECT_STRNEQ(test, hook->alternatives[0].symbol,
						    lmm_hooks[j].alternatives[0].symbol);
		}
	}
}

static const struct lmm_subscription good_subscriptions[] = {
	LMM_NEEDS(DRAIN, "all"),
	LMM_USES_IN(BIT(0) | BIT(1), BIT(1), WAKE_KSWAPD, "promptness"),
	LMM_USES_FOR(REQUEST, REFILL, "empty lists"),
};

static const struct lmm_hook_client good_uses = LMM_HOOK_CLIENT(good);

/* BIT() of each mode in which a client uses a row, and in which the client requires it. */
static u32 modes_of(const struct lmm_hook *hook, unsigned int client)
{
	u32 modes = 0;
	unsigned int i;

	for (i = 0; i < LMM_MAX_MODES; i++)
		modes |= lmm_hook_use(hook, client, i) ? BIT(i) : 0;
	return modes;
}

static u32 required_of(const struct lmm_hook *hook, unsigned int client)
{
	u32 modes = 0;
	unsigned int i;

	for (i = 0; i < LMM_MAX_MODES; i++)
		modes |= lmm_hook_required(hook, client, i) ? BIT(i) : 0;
	return modes;
}

static void clients_subscribe(struct kunit *test)
{
	const struct lmm_hook *drain = &lmm_hooks[LMM_HOOK_DRAIN];
	const struct lmm_hook *wake = &lmm_hooks[LMM_HOOK_WAKE_KSWAPD];
	const struct lmm_hook *request = &lmm_hooks[LMM_HOOK_REQUEST];
	char why[64];

	/* As lmm_flow_init() does. */
	lmm_hooks[LMM_HOOK_WAKE_KSWAPD].handler = clients_subscribe;
	KUNIT_ASSERT_EQ(test, lmm_hooks_subscribe(1, &good_uses), 0);
	KUNIT_EXPECT_EQ(test, lmm_hooks_subscribe(1, &good_uses), -EEXIST);
	KUNIT_EXPECT_EQ(test, modes_of(drain, 1), (u32)LMM_ALL_MODES);
	KUNIT_EXPECT_EQ(test, required_of(drain, 1), (u32)LMM_ALL_MODES);
	KUNIT_EXPECT_FALSE(test, lmm_hook_use(drain, 1, 0)->fallback);
	KUNIT_EXPECT_EQ(test, modes_of(wake, 1), (u32)(BIT(0) | BIT(1)));
	KUNIT_EXPECT_EQ(test, required_of(wake, 1), (u32)BIT(1));
	KUNIT_EXPECT_STREQ(test, lmm_hook_use(wake, 1, 0)->impact, "promptness");
	KUNIT_EXPECT_EQ(test, modes_of(request, 1), (u32)LMM_ALL_MODES);
	KUNIT_EXPECT_TRUE(test, lmm_hook_use(request, 1, 0)->fallback);
	KUNIT_EXPECT_EQ(test, lmm_hook_use(request, 1, 0)->fallback_for, LMM_HOOK_REFILL);
	KUNIT_EXPECT_EQ(test, modes_of(drain, 3) | modes_of(wake, 3), 0U);

	/* Two clients share a row. */
	KUNIT_ASSERT_EQ(test, lmm_hooks_subscribe(3, &good_uses), 0);
	KUNIT_EXPECT_EQ(test, required_of(wake, 1), (u32)BIT(1));
	KUNIT_EXPECT_EQ(test, required_of(wake, 3), (u32)BIT(1));
	KUNIT_EXPECT_EQ(test, lmm_hooks_subscribe(3, &good_uses), -EEXIST);
	lmm_hook_impact(drain, "gone", why, sizeof(why));
	KUNIT_EXPECT_STREQ(test, why, "gone; lost: good: all; good: all");
	lmm_hooks_unsubscribe(1);
	KUNIT_EXPECT_EQ(test, modes_of(drain, 3), (u32)LMM_ALL_MODES);
	KUNIT_EXPECT_EQ(test, modes_of(drain, 1), 0U);
	lmm_hook_impact(drain, "gone", why, sizeof(why));
	KUNIT_EXPECT_STREQ(test, why, "gone; lost: good: all");
	lmm_hooks_unsubscribe(3);
	KUNIT_EXPECT_EQ(test, modes_of(drain, 3) | required_of(drain, 3) | modes_of(request, 3),
			0U);
	lmm_hooks[LMM_HOOK_WAKE_KSWAPD].handler = NULL;
}

static void bad_subscriptions_are_refused(struct kunit *test)
{
	static const struct {
		struct lmm_subscription sub;
		int err;
	} cases[] = {
		{ LMM_USES_IN(BIT(0), BIT(1), DRAIN, "required where it is not used"), -EINVAL },
		{ LMM_USES_IN(0, 0, DRAIN, "in no mode"), -EINVAL },
		{ { .hook = LMM_NR_HOOKS, .modes = LMM_ALL_MODES, .impact = "no hook" }, -EINVAL },
		{ LMM_USES(DRAIN, NULL), -EINVAL },
		{ LMM_USES_FOR(REQUEST, WAKE_KSWAPD, "in place of no livepatch"), -EINVAL },
		{ LMM_USES_FOR(REFILL, DRAIN, "in place of a later row"), -EINVAL },
		{ LMM_USES(REFILL, "twice"), -EEXIST },
		{ LMM_USES(MM_EXIT, "a probe that nobody handles"), -EINVAL },
		{ LMM_USES(HINT_FAULT, "another handler", .handler = clients_subscribe), -EEXIST },
	};
	struct lmm_subscription subs[] = { LMM_USES(REFILL, "once"), { } };
	const struct lmm_hook_client uses = {
		.name = "bad", .subscriptions = subs, .nr_subscriptions = ARRAY_SIZE(subs),
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		subs[1] = cases[i].sub;
		KUNIT_EXPECT_EQ_MSG(test, lmm_hooks_subscribe(2, &uses), cases[i].err, "%u", i);
		/* The refused client left nothing behind. */
		KUNIT_EXPECT_EQ_MSG(test, modes_of(&lmm_hooks[LMM_HOOK_REFILL], 2), 0U, "%u", i);
	}
	KUNIT_EXPECT_EQ(test, lmm_hooks_subscribe(LMM_MAX_CLIENTS, &good_uses), -EINVAL);
}

static struct kunit_case hook_table_cases[] = {
	KUNIT_CASE_PARAM(prototypes_are_compared, proto_gen_params),
	KUNIT_CASE(a_short_buffer_is_not_overrun),
	KUNIT_CASE(rows_are_complete_and_differ),
	KUNIT_CASE(clients_subscribe),
	KUNIT_CASE(bad_subscriptions_are_refused),
	{ }
};

static struct kunit_suite hook_table_suite = {
	.name = "livemm_hook_table",
	.test_cases = hook_table_cases,
};
