// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs_test.c - suite livemm-knobs: the grammar of the parameter policies, good and bad
 */
#include <kunit/test.h>

#include <linux/slab.h>

#include "../module/control/knobs.c"

static const char *const knobs_test_modes[] = { "depth", "event", NULL };

static const struct lmm_knob knobs_test_table[] = {
	LMM_CHOICE("mode", knobs_test_modes, 0),
	LMM_TENTHS("high_max_pct", 9, 500, 125),
	LMM_UINT("period_ms", 100, 60000, 1000),
	LMM_BOOL("contended_only"),
	LMM_UINT("any", 0, U32_MAX, 0),
};

static struct lmm_policy knobs_test_pcp = {
	.id = LMM_PCP,
	.name = "pcp",
	.knobs = knobs_test_table,
	.nr_knobs = ARRAY_SIZE(knobs_test_table),
};

static const struct lmm_knob knobs_test_text[] = {
	LMM_UINT("first", 0, 9, 0),
	LMM_TEXT("groups"),
	LMM_UINT("last", 0, 9, 0),
};

static struct lmm_policy knobs_test_numa = {
	.id = LMM_NUMA,
	.name = "numa",
	.knobs = knobs_test_text,
	.nr_knobs = ARRAY_SIZE(knobs_test_text),
};

static struct lmm_policy *const knobs_test_policies[LMM_NR_POLICIES] = {
	[LMM_PCP] = &knobs_test_pcp,
	[LMM_NUMA] = &knobs_test_numa,
};

/* Too large for the stack. */
static struct lmm_config knobs_test_cfg, knobs_test_before;

/* A copy of a text, which the grammar cuts. */
static char *knobs_copy(const char *text)
{
	static char copy[PAGE_SIZE];

	strscpy(copy, text, sizeof(copy));
	return lmm_chomp(copy);
}

/* The settings before each text is read. */
static void knobs_test_start(const struct lmm_policy *policy)
{
	static const u32 pcp[LMM_MAX_KNOBS] = { 0, 125, 1000, 0, 0 };
	static const u32 numa[LMM_MAX_KNOBS] = { 3, 0, 4 };
	bool text = policy == &knobs_test_numa;

	memset(&knobs_test_cfg, 0, sizeof(knobs_test_cfg));
	memcpy(knobs_test_cfg.value, text ? numa : pcp, sizeof(pcp));
	if (text)
		memcpy(knobs_test_cfg.text, "/old", 5);
	memcpy(&knobs_test_before, &knobs_test_cfg, sizeof(knobs_test_cfg));
}

/* Keys of knobs_test_pcp; the text of knobs_test_numa; a whole line in place of a key. */
enum { K_ENABLED, K_MODE, K_TENTHS, K_UINT, K_BOOL, K_ANY, K_TEXT = 2, K_LINE = 99 };

/* A text for a key; what is printed back, or the reason; the value that a key then has. */
struct knobs_case {
	unsigned int key;
	const char *text;
	int err;
	const char *result;
	u32 value;
};

#define KNOBS_BAD_BOOL(s, shown) \
	{ K_ENABLED, s, -EINVAL, "pcp/enabled: " shown ": not one of 0 1" }
#define KNOBS_BAD_TENTHS(s, shown) \
	{ K_TENTHS, s, -EINVAL, \
	  "pcp/high_max_pct: " shown ": not a number with at most one decimal" }
#define KNOBS_BAD_UINT(s, shown) \
	{ K_UINT, s, -EINVAL, "pcp/period_ms: " shown ": not a whole number" }

#define KNOBS_STOCK \
	"enabled=0 mode=depth high_max_pct=12.5 period_ms=1000 contended_only=0 any=0"

static const struct knobs_case knobs_numbers[] = {
	{ K_ENABLED, "0", 0, "0", 0 },
	{ K_ENABLED, "1", 0, "1", 1 },
	{ K_ENABLED, "1\n", 0, "1", 1 },
	{ K_BOOL, "1\n", 0, "1", 1 },
	{ K_BOOL, "0", 0, "0", 0 },
	KNOBS_BAD_BOOL("2", "2"),
	KNOBS_BAD_BOOL("yes", "yes"),
	KNOBS_BAD_BOOL("1 1", "1 1"),
	KNOBS_BAD_BOOL("", "(empty)"),
	KNOBS_BAD_BOOL("\n", "(empty)"),
	KNOBS_BAD_BOOL(" 1", " 1"),
	KNOBS_BAD_BOOL("1 ", "1 "),
	KNOBS_BAD_BOOL("01", "01"),
	KNOBS_BAD_BOOL("1\n\n", "1\\n"),
	{ K_MODE, "depth", 0, "depth", 0 },
	{ K_MODE, "event\n", 0, "event", 1 },
	{ K_MODE, "Event", -EINVAL, "pcp/mode: Event: not one of depth event" },
	{ K_MODE, "even", -EINVAL, "pcp/mode: even: not one of depth event" },
	{ K_MODE, "", -EINVAL, "pcp/mode: (empty): not one of depth event" },
	{ K_TENTHS, "12.5", 0, "12.5", 125 },
	{ K_TENTHS, "12", 0, "12", 120 },
	{ K_TENTHS, "12.0\n", 0, "12", 120 },
	{ K_TENTHS, "1", 0, "1", 10 },
	{ K_TENTHS, "0.9", 0, "0.9", 9 },
	{ K_TENTHS, "50.0", 0, "50", 500 },
	{ K_TENTHS, "0.8", -ERANGE, "pcp/high_max_pct: 0.8: not in 0.9..50" },
	{ K_TENTHS, "50.1", -ERANGE, "pcp/high_max_pct: 50.1: not in 0.9..50" },
	{ K_TENTHS, "250", -ERANGE, "pcp/high_max_pct: 250: not in 0.9..50" },
	/* 2^64 and 2^64 / 10 must not wrap around to a small number. */
	{ K_TENTHS, "1844674407370955162.8", -ERANGE,
	  "pcp/high_max_pct: 1844674407370955162.8: not in 0.9..50" },
	KNOBS_BAD_TENTHS("12.", "12."),
	KNOBS_BAD_TENTHS(".5", ".5"),
	KNOBS_BAD_TENTHS(".", "."),
	KNOBS_BAD_TENTHS("12.55", "12.55"),
	KNOBS_BAD_TENTHS("1.2.3", "1.2.3"),
	KNOBS_BAD_TENTHS("-5", "-5"),
	KNOBS_BAD_TENTHS("5 ", "5 "),
	KNOBS_BAD_TENTHS("12,5", "12,5"),
	{ K_UINT, "100", 0, "100", 100 },
	{ K_UINT, "60000\n", 0, "60000", 60000 },
	{ K_UINT, "0000000000000000000000000500", 0, "500", 500 },
	{ K_UINT, "99", -ERANGE, "pcp/period_ms: 99: not in 100..60000" },
	{ K_UINT, "60001", -ERANGE, "pcp/period_ms: 60001: not in 100..60000" },
	{ K_UINT, "18446744073709552616", -ERANGE,
	  "pcp/period_ms: 18446744073709552616: not in 100..60000" },
	{ K_UINT, "99999999999999999999999999999", -ERANGE,
	  "pcp/period_ms: 99999999999999999999999999999: not in 100..60000" },
	KNOBS_BAD_UINT("+200", "+200"),
	KNOBS_BAD_UINT("-200", "-200"),
	KNOBS_BAD_UINT("2 00", "2 00"),
	KNOBS_BAD_UINT("0x200", "0x200"),
	KNOBS_BAD_UINT("200.0", "200.0"),
	KNOBS_BAD_UINT("", "(empty)"),
	{ K_ANY, "4294967295", 0, "4294967295", U32_MAX },
	{ K_ANY, "4294967296", -ERANGE,
	  "pcp/any: 4294967296: not in 0..4294967295" },
	{ K_LINE, "", 0, KNOBS_STOCK },
	{ K_LINE, "\n", 0, KNOBS_STOCK },
	{ K_LINE, KNOBS_STOCK "\n", 0, KNOBS_STOCK },
	{ K_LINE, "enabled=1,mode=event,any=7", 0,
	  "enabled=1 mode=event high_max_pct=12.5 period_ms=1000 contended_only=0 any=7" },
	{ K_LINE, " any=7 ,\tmode=event , contended_only=1,\n", 0,
	  "enabled=0 mode=event high_max_pct=12.5 period_ms=1000 contended_only=1 any=7" },
	{ K_LINE, "mode", -EINVAL, "pcp/mode: no = in it" },
	{ K_LINE, "mode = event", -EINVAL, "pcp/mode: no = in it" },
	{ K_LINE, "mode=event foo=1", -EINVAL, "pcp/foo: no such knob" },
	{ K_LINE, "=1", -EINVAL, "pcp/(empty): no such knob" },
	{ K_LINE, "mod=event", -EINVAL, "pcp/mod: no such knob" },
	{ K_LINE, "any=1 any=1", -EINVAL, "pcp/any: given twice" },
	{ K_LINE, "enabled=1,enabled=0", -EINVAL, "pcp/enabled: given twice" },
	{ K_LINE, "any=1=2", -EINVAL, "pcp/any: 1=2: not a whole number" },
	{ K_LINE, "any=", -EINVAL, "pcp/any: (empty): not a whole number" },
	{ K_LINE, "any=1\nmode=event", -EINVAL,
	  "pcp/any: 1\\nmode=event: not a whole number" },
	{ K_LINE, "any=1\n\n", -EINVAL, "pcp/any: 1\\n: not a whole number" },
	{ K_LINE, "any=1 period_ms=5", -ERANGE, "pcp/period_ms: 5: not in 100..60000" },
};

#define KNOBS_BAD_TEXT(s, shown) \
	{ K_TEXT, s, -EINVAL, "numa/groups: " shown \
	  ": not plain text, or a blank, comma or semicolon in it" }

/* A good text is stored unchanged, without a newline at the end. */
static const struct knobs_case knobs_texts[] = {
	{ K_TEXT, "/a", 0, "/a" },
	{ K_TEXT, "/a:/b=c:/d\n", 0, "/a:/b=c:/d" },
	{ K_TEXT, "", 0, "" },
	{ K_TEXT, "\n", 0, "" },
	{ K_TEXT, "!\"#$%&'()*+-./09:<=>?@AZ[\\]^_`az{|}~", 0,
	  "!\"#$%&'()*+-./09:<=>?@AZ[\\]^_`az{|}~" },
	KNOBS_BAD_TEXT(" /a", " /a"),
	KNOBS_BAD_TEXT("/a ", "/a "),
	KNOBS_BAD_TEXT("/a\t/b", "/a\\t/b"),
	KNOBS_BAD_TEXT("/a,/b", "/a,/b"),
	KNOBS_BAD_TEXT("/a;/b", "/a;/b"),
	KNOBS_BAD_TEXT("/a\n\n", "/a\\n"),
	KNOBS_BAD_TEXT("/a\x7f", "/a\\177"),
	/* The kernel's isprint() takes bytes from 0xa0 on for letters of Latin-1. */
	KNOBS_BAD_TEXT("/\xc3\xa4", "/\\303\\244"),
	{ K_LINE, "groups=", 0, "enabled=0 first=3 groups= last=4" },
	{ K_LINE, "groups=\n", 0, "enabled=0 first=3 groups= last=4" },
	{ K_LINE, "groups=,last=5", 0, "enabled=0 first=3 groups= last=5" },
	{ K_LINE, "first=1 groups=/a:/b=c last=2", 0,
	  "enabled=0 first=1 groups=/a:/b=c last=2" },
	{ K_LINE, "last=1", 0, "enabled=0 first=3 groups=/old last=1" },
	{ K_LINE, "groups==\n", 0, "enabled=0 first=3 groups== last=4" },
	{ K_LINE, "groups=/a last=77", -ERANGE, "numa/last: 77: not in 0..9" },
	{ K_LINE, "last=1 groups=/a;b", -EINVAL,
	  "numa/groups: /a;b: not plain text, or a blank, comma or semicolon in it" },
	{ K_LINE, "groups=/a,/b", -EINVAL, "numa//b: no = in it" },
	{ K_LINE, "groups=/a groups=", -EINVAL, "numa/groups: given twice" },
};

/* Read each text; a refused text may leave anything behind but settings. */
static void knobs_expect(struct kunit *test, const struct lmm_policy *policy,
			 const struct knobs_case *cases, unsigned int nr)
{
	struct lmm_config *cfg = &knobs_test_cfg;
	const struct knobs_case *c;

	for (c = cases; c < cases + nr; c++) {
		char why[LMM_WHY_LEN] = "", shown[256];
		struct lmm_delta deltas[LMM_NR_POLICIES] = { };
		bool line = c->key == K_LINE;
		u32 value = 4711;
		size_t len;
		int err;

		if (!line && lmm_key(policy, c->key)->kind != LMM_KNOB_TEXT) {
			err = lmm_knob_parse(lmm_key(policy, c->key), knobs_copy(c->text), &value,
					     why, sizeof(why));
			KUNIT_EXPECT_EQ_MSG(test, c->err, err, "%s", c->text);
			KUNIT_EXPECT_EQ_MSG(test, err ? 4711 : c->value, value, "%s", c->text);
		}
		err = lmm_parse(NULL, policy, line ? LMM_ALL_KEYS : c->key, knobs_copy(c->text),
				deltas, why);
		KUNIT_EXPECT_EQ_MSG(test, c->err, err, "%s", c->text);
		if (err) {
			KUNIT_EXPECT_STREQ(test, c->result, why);
			continue;
		}
		knobs_test_start(policy);
		lmm_delta_apply(policy, &deltas[policy->id], cfg);
		len = lmm_format(policy, line ? LMM_ALL_KEYS : c->key, cfg, ' ', shown,
				 sizeof(shown));
		KUNIT_EXPECT_STREQ(test, c->result, shown);
		KUNIT_EXPECT_EQ(test, strlen(shown), len);
		/* Nothing is left of a longer text before. */
		len = strlen(cfg->text);
		KUNIT_EXPECT_FALSE(test, memchr_inv(cfg->text + len, 0, LMM_TEXT_LEN - len));
	}
}

static void knobs_test_numbers(struct kunit *test)
{
	knobs_expect(test, &knobs_test_pcp, knobs_numbers, ARRAY_SIZE(knobs_numbers));
}

static void knobs_test_texts(struct kunit *test)
{
	knobs_expect(test, &knobs_test_numa, knobs_texts, ARRAY_SIZE(knobs_texts));
}

/* A text changes what it names, and nothing else. */
static void knobs_test_delta(struct kunit *test)
{
	struct lmm_config *cfg = &knobs_test_cfg;
	struct lmm_delta deltas[LMM_NR_POLICIES] = { }, delta;
	char why[LMM_WHY_LEN];

	KUNIT_EXPECT_EQ(test, 0,
			lmm_parse(NULL, &knobs_test_numa, LMM_ALL_KEYS, knobs_copy("last=4"),
				  deltas, why));
	delta = deltas[LMM_NUMA];
	KUNIT_EXPECT_EQ(test, BIT(3), (unsigned long)delta.keys);
	knobs_test_start(&knobs_test_numa);
	lmm_delta_apply(&knobs_test_numa, &delta, cfg);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&knobs_test_before, &knobs_test_cfg,
					sizeof(knobs_test_cfg)));
	cfg->enabled = true;
	cfg->value[2] = 5;
	lmm_delta_apply(&knobs_test_numa, &delta, cfg);
	KUNIT_EXPECT_TRUE(test, cfg->enabled);
	KUNIT_EXPECT_EQ(test, 4U, cfg->value[2]);
}

/* A reason repeats 40 characters; a text is stored in full, or refused. */
static void knobs_test_long_texts(struct kunit *test)
{
	char why[LMM_WHY_LEN], words[LMM_WHY_LEN];
	struct lmm_delta deltas[LMM_NR_POLICIES] = { };
	u32 value;
	char *text;

	text = kunit_kzalloc(test, LMM_TEXT_LEN + 1, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, text);
	memset(text, 'x', 200);
	KUNIT_EXPECT_EQ(test, -EINVAL, lmm_knob_parse(lmm_key(&knobs_test_pcp, K_BOOL), text,
						      &value, why, sizeof(why)));
	scnprintf(words, sizeof(words), "contended_only: %.40s: not one of 0 1", text);
	KUNIT_EXPECT_STREQ(test, words, why);

	memset(text, 'x', LMM_TEXT_LEN);
	KUNIT_EXPECT_EQ(test, -ERANGE,
			lmm_parse(NULL, &knobs_test_numa, K_TEXT, text, deltas, why));
	scnprintf(words, sizeof(words), "numa/groups: %.40s: longer than 511 characters", text);
	KUNIT_EXPECT_STREQ(test, words, why);

	text[LMM_TEXT_LEN - 1] = '\n';
	KUNIT_EXPECT_EQ(test, 0, lmm_parse(NULL, &knobs_test_numa, K_TEXT, lmm_chomp(text), deltas,
					   why));
	knobs_test_start(&knobs_test_numa);
	lmm_delta_apply(&knobs_test_numa, &deltas[LMM_NUMA], &knobs_test_cfg);
	KUNIT_EXPECT_STREQ(test, text, knobs_test_cfg.text);
}

/* The longest text, as `policies` prints it and reads it back. */
static void knobs_test_text_round_trip(struct kunit *test)
{
	struct lmm_config *cfg = &knobs_test_cfg;
	struct lmm_delta deltas[LMM_NR_POLICIES] = { };
	char why[LMM_WHY_LEN];
	char *line;
	size_t n;

	line = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, line);
	knobs_test_start(&knobs_test_numa);
	memset(cfg->text, ':', LMM_TEXT_LEN - 1);
	memset(cfg->text, '=', LMM_TEXT_LEN / 2);
	n = scnprintf(line, PAGE_SIZE, "pcp:any=7;numa:");
	n += lmm_format(&knobs_test_numa, LMM_ALL_KEYS, cfg, ',', line + n, PAGE_SIZE - n);
	memcpy(&knobs_test_before, &knobs_test_cfg, sizeof(knobs_test_cfg));
	KUNIT_EXPECT_EQ(test, 0, lmm_parse(knobs_test_policies, NULL, 0, line, deltas, why));
	KUNIT_EXPECT_EQ(test, BIT(K_ANY), (unsigned long)deltas[LMM_PCP].keys);
	KUNIT_EXPECT_EQ(test, 7U, deltas[LMM_PCP].key[K_ANY]);
	memset(&knobs_test_cfg, 0, sizeof(knobs_test_cfg));
	lmm_delta_apply(&knobs_test_numa, &deltas[LMM_NUMA], cfg);
	KUNIT_EXPECT_EQ(test, 0, memcmp(&knobs_test_before, &knobs_test_cfg,
					sizeof(knobs_test_cfg)));
}

static const struct knobs_case knobs_policies[] = {
	{ K_LINE, "", 0, "-" },
	{ K_LINE, "\n", 0, "-" },
	{ K_LINE, "pcp:enabled=1,mode=event;numa:enabled=1", 0, "pn" },
	{ K_LINE, "numa:enabled=1; pcp:mode=event enabled=1 ;\n", 0, "pn" },
	{ K_LINE, "numa:enabled=1;", 0, "n" },
	{ K_LINE, "pcp:", 0, "" },
	{ K_LINE, "pcp", -EINVAL, "pcp: no : after the policy's name" },
	{ K_LINE, "cma:enabled=1", -EINVAL, "cma: no such policy" },
	{ K_LINE, "pc:enabled=1", -EINVAL, "pc: no such policy" },
	{ K_LINE, "pcp:enabled=1;pcp:mode=event", -EINVAL, "pcp: policy given twice" },
	{ K_LINE, "numa:enabled=1;;pcp:enabled=1", -EINVAL,
	  "(empty): no such policy" },
	{ K_LINE, ";", -EINVAL, "(empty): no such policy" },
	{ K_LINE, ":enabled=1", -EINVAL, "(empty): no such policy" },
	{ K_LINE, "numa:any=1", -EINVAL, "numa/any: no such knob" },
	{ K_LINE, "pcp:enabled=1;numa:enabled=2", -EINVAL, "numa/enabled: 2: not one of 0 1" },
	{ K_LINE, "pcp:enabled=1:numa:enabled=1", -EINVAL,
	  "pcp/enabled: 1:numa:enabled=1: not one of 0 1" },
	{ K_LINE, "numa:groups=/a:/b=c,enabled=1;pcp:any=1", 0, "n" },
	{ K_LINE, "numa:groups=/a;/b", -EINVAL, "/b: no such policy" },
	{ K_LINE, "numa:groups=;pcp:period_ms=1", -ERANGE,
	  "pcp/period_ms: 1: not in 100..60000" },
	{ K_LINE, "pcp:period_ms=1", -ERANGE, "pcp/period_ms: 1: not in 100..60000" },
};

static void knobs_test_policies_grammar(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(knobs_policies); i++) {
		const struct knobs_case *c = &knobs_policies[i];
		struct lmm_delta deltas[LMM_NR_POLICIES] = { };
		char why[LMM_WHY_LEN] = "";
		bool pcp, numa;
		int err;

		err = lmm_parse(knobs_test_policies, NULL, 0, knobs_copy(c->text), deltas, why);
		KUNIT_EXPECT_EQ_MSG(test, c->err, err, "case %u", i);
		if (err) {
			KUNIT_EXPECT_STREQ(test, c->result, why);
			continue;
		}
		pcp = strchr(c->result, 'p');
		numa = strchr(c->result, 'n');
		KUNIT_EXPECT_EQ(test, (u32)pcp, deltas[LMM_PCP].key[LMM_KEY_ENABLED]);
		KUNIT_EXPECT_EQ(test, (u32)pcp, deltas[LMM_PCP].key[K_MODE]);
		KUNIT_EXPECT_EQ(test, (u32)numa, deltas[LMM_NUMA].key[LMM_KEY_ENABLED]);
		KUNIT_EXPECT_EQ(test, numa, !!deltas[LMM_NUMA].keys);
		/* "-": no policy named; "": pcp named, without a knob. */
		if (!pcp && !numa)
			KUNIT_EXPECT_EQ(test, 0U, deltas[LMM_PCP].keys);
	}
}

static struct kunit_case lmm_knobs_cases[] = {
	KUNIT_CASE(knobs_test_numbers),
	KUNIT_CASE(knobs_test_texts),
	KUNIT_CASE(knobs_test_delta),
	KUNIT_CASE(knobs_test_long_texts),
	KUNIT_CASE(knobs_test_text_round_trip),
	KUNIT_CASE(knobs_test_policies_grammar),
	{}
};

static struct kunit_suite lmm_knobs_suite = {
	.name = "livemm-knobs",
	.test_cases = lmm_knobs_cases,
};
