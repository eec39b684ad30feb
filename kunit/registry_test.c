// SPDX-License-Identifier: GPL-2.0-only
/*
 * registry_test.c - suite livemm-registry: registering policies, and applying settings
 *
 * Included after counters_test.c and knobs_test.c, whose code under test the registry calls.
 * The functions of the hook layer below are fakes.
 */
#include <kunit/test.h>
#include <linux/delay.h>

#include "../module/control/control.h"
#include "../module/hook/hook.h"

/* What the fakes answer, and what was done with them. */
static struct registry_fake {
	/* Calls: e/d enable/disable, a/x arm/disarm, c configure, f forget. */
	char log[64];
	unsigned long listening;	/* BIT() of each policy that events are delivered to */
	int validate_err;	/* answer of validating, 0 for good settings */
	int enable_err;		/* answer of enabling the second policy */
	int armed_err;		/* answer of the policy that is asked what it has */
	int arm_err;		/* answer of arming modes from @arm_err_mode on */
	unsigned int arm_err_mode;
	/* A policy that somebody switches off, or NULL: */
	struct lmm_policy *cut_at_arm;		/* while a policy is being armed */
	struct lmm_policy *cut_at_enable;	/* while the second policy is being enabled */
	struct lmm_policy *cut_at_configure;	/* while a policy takes new settings */
	bool hooks_ok;		/* the kernel has the hooks */
	bool alive;		/* events come in by all the wrappers */
	bool regained;		/* there is a hook more than before */
	/* A cut waits for another task to look at the policy; switch_test_cut_against_look(). */
	bool slow_cut;
	bool in_cut;		/* the cut has begun */
	bool comes_back;	/* the other task has found the policy's hooks ready */
	u32 missing;		/* wrappers that have to be loaded first */
} fake;

/* A kernel with all hooks, but for the members named. */
#define FAKE(...)	{ .hooks_ok = true, .alive = true, __VA_ARGS__ }

static void registry_note(char what)
{
	size_t len = strlen(fake.log);

	if (len < sizeof(fake.log) - 1) {
		fake.log[len] = what;
		fake.log[len + 1] = '\0';
	}
}

/* The hook layer, which the suites are built without. */
bool lmm_hooks_supported(unsigned int client, unsigned int mode, char *why, size_t len)
{
	if (!fake.hooks_ok)
		scnprintf(why, len, "no hook");
	return fake.hooks_ok;
}

int lmm_hooks_arm(unsigned int client, unsigned int mode, char *why, size_t len)
{
	if (fake.arm_err && mode >= fake.arm_err_mode) {
		scnprintf(why, len, "not armed");
		return fake.arm_err;
	}
	registry_note('a');
	fake.regained = false;
	if (fake.cut_at_arm)
		lmm_policy_cut(fake.cut_at_arm);
	return 0;
}

void lmm_hooks_disarm(unsigned int client)
{
	registry_note('x');
}

bool lmm_hooks_alive(unsigned int client, char *why, size_t len)
{
	if (!fake.alive)
		scnprintf(why, len, "hook drain: covered");
	return fake.alive;
}

bool lmm_hooks_regained(unsigned int client, unsigned int mode, char *why, size_t len)
{
	if (fake.regained)
		scnprintf(why, len, "hook drain: available again");
	return fake.regained;
}

bool lmm_hooks_ready(unsigned int client, unsigned int mode, char *why, size_t len)
{
	if (fake.missing)
		scnprintf(why, len, "hook drain: not live");
	WRITE_ONCE(fake.comes_back, !fake.missing);
	return !fake.missing;
}

u32 lmm_hooks_missing(unsigned int client, unsigned int mode)
{
	return fake.missing;
}

bool lmm_hooks_unsettled(void)
{
	return false;
}

void lmm_klp_survey(void)
{
}

void lmm_klp_wake(void)
{
}

/* The module parameter of params.c. */
bool lmm_off;

/* In place of the functions of deliver.c, which dispatch_test.c has included. */
static void registry_fake_start(enum lmm_policy_id id)
{
	fake.listening |= BIT(id);
}

static void registry_fake_stop(enum lmm_policy_id id)
{
	unsigned int ms;

	fake.listening &= ~BIT(id);
	if (!fake.slow_cut)
		return;
	fake.slow_cut = false;
	WRITE_ONCE(fake.in_cut, true);
	/* In the middle of lmm_policy_cut(), with interrupts off. */
	for (ms = 0; ms < 500 && !READ_ONCE(fake.comes_back); ms++)
		mdelay(1);
}

#define lmm_events_start	registry_fake_start
#define lmm_events_stop		registry_fake_stop
#include "../module/control/state.c"
#include "../module/control/switch.c"
#include "../module/control/registry.c"
#undef lmm_events_start
#undef lmm_events_stop

static int registry_fake_validate(struct lmm_policy *policy, const struct lmm_config *cfg,
				  char *why, size_t len)
{
	if (fake.validate_err)
		scnprintf(why, len, "a: %u: odd", cfg->value[0]);
	return fake.validate_err;
}

static int registry_fake_enable(struct lmm_policy *policy, const struct lmm_config *cfg, char *why,
				size_t len)
{
	if (policy->id == LMM_NUMA && fake.cut_at_enable)
		lmm_policy_cut(fake.cut_at_enable);
	/* Only the second policy can be told to fail. */
	if (policy->id == LMM_NUMA && fake.enable_err)
		return fake.enable_err;
	registry_note('e');
	return 0;
}

static int registry_fake_armed(struct lmm_policy *policy, char *why, size_t len)
{
	if (fake.armed_err)
		scnprintf(why, len, "no way out");
	return fake.armed_err;
}

static void registry_fake_disable(struct lmm_policy *policy)
{
	registry_note('d');
}

static void registry_fake_forget(struct lmm_policy *policy)
{
	registry_note('f');
}

static void registry_fake_configure(struct lmm_policy *policy, const struct lmm_config *new)
{
	registry_note('c');
	if (fake.cut_at_configure)
		lmm_policy_cut(fake.cut_at_configure);
	/* A policy may ask for events while it takes new settings. */
	registry_fake_start(policy->id);
}

static const struct lmm_knob registry_knobs[] = {
	LMM_UINT("a", 0, 100, 7),
	LMM_BOOL("b", 1),
	LMM_TEXT("t"),
};

static const char *const registry_counters[] = { "things" };

static struct lmm_policy registry_pcp, registry_numa;

static struct lmm_policy registry_policy(enum lmm_policy_id id, const char *name)
{
	return (struct lmm_policy){
		.id = id,
		.name = name,
		.knobs = registry_knobs,
		.nr_knobs = ARRAY_SIZE(registry_knobs),
		.mode_knob = -1,
		.counter_names = registry_counters,
		.nr_counters = ARRAY_SIZE(registry_counters),
		.validate = registry_fake_validate,
		.enable = registry_fake_enable,
		.armed = registry_fake_armed,
		.disable = registry_fake_disable,
		.configure = registry_fake_configure,
	};
}

static int registry_test_init(struct kunit *test)
{
	fake = (struct registry_fake)FAKE();
	lmm_off = false;
	registry_pcp = registry_policy(LMM_PCP, "pcp");
	registry_numa = registry_policy(LMM_NUMA, "numa");
	/* Ops that a policy may lack. */
	registry_numa.armed = NULL;
	registry_pcp.forget = registry_fake_forget;
	return lmm_policy_register(&registry_pcp) ?: lmm_policy_register(&registry_numa);
}

static void registry_test_exit(struct kunit *test)
{
	lmm_policy_unregister(&registry_numa);
	lmm_policy_unregister(&registry_pcp);
}

/* Why the last change was refused; "" if the change was made. */
static char registry_why[LMM_WHY_LEN];

/* Each policy's settings under construction; too large for the stack. */
static struct lmm_config registry_want[LMM_NR_POLICIES];

static struct lmm_config *registry_config(struct lmm_policy *policy)
{
	struct lmm_config *want = &registry_want[policy->id];

	lmm_policy_config_copy(policy, want);
	return want;
}

static int registry_apply_since(struct lmm_policy *policy, const struct lmm_config *want,
				unsigned int cuts)
{
	int err;

	registry_why[0] = '\0';
	mutex_lock(&lmm_control_mutex);
	err = lmm_policy_apply(policy, want, cuts, registry_why, sizeof(registry_why));
	mutex_unlock(&lmm_control_mutex);
	return err;
}

/* Set enabled and knob a. */
static int registry_set(struct lmm_policy *policy, bool enabled, u32 a)
{
	struct lmm_config *want = registry_config(policy);

	want->enabled = enabled;
	want->value[0] = a;
	return registry_apply_since(policy, want, policy->cuts);
}

static int registry_set_text(struct lmm_policy *policy, const char *text)
{
	struct lmm_config *want = registry_config(policy);

	strscpy(want->text, text, sizeof(want->text));
	return registry_apply_since(policy, want, policy->cuts);
}

static void registry_expect(struct kunit *test, struct lmm_policy *policy,
			    bool on, u32 a, const char *log)
{
	const struct lmm_config *cfg = registry_config(policy);

	KUNIT_EXPECT_EQ(test, on, policy->on);
	KUNIT_EXPECT_EQ(test, on, cfg->enabled);
	KUNIT_EXPECT_EQ(test, on, policy->state == LMM_POLICY_ON);
	KUNIT_EXPECT_EQ(test, on, !!(fake.listening & BIT(policy->id)));
	KUNIT_EXPECT_EQ(test, a, cfg->value[0]);
	KUNIT_EXPECT_STREQ(test, log, fake.log);
}

static void registry_test_defaults(struct kunit *test)
{
	registry_expect(test, &registry_pcp, false, 7, "");
	KUNIT_EXPECT_EQ(test, 1U, registry_config(&registry_pcp)->value[1]);
	KUNIT_EXPECT_STREQ(test, "", registry_config(&registry_pcp)->text);
	KUNIT_EXPECT_EQ(test, 0ULL, lmm_counter_read(registry_pcp.counters, 0));
}

static void registry_test_refuses_duplicates(struct kunit *test)
{
	struct lmm_policy same_id = registry_policy(LMM_PCP, "other");
	struct lmm_policy same_name = registry_policy(LMM_CMA, "pcp");

	KUNIT_EXPECT_EQ(test, -EEXIST, lmm_policy_register(&registry_pcp));
	KUNIT_EXPECT_EQ(test, -EEXIST, lmm_policy_register(&same_id));
	KUNIT_EXPECT_EQ(test, -EEXIST, lmm_policy_register(&same_name));
	/* A refused policy must not take the policy of the same id or name along. */
	lmm_policy_unregister(&same_id);
	lmm_policy_unregister(&same_name);
	registry_expect(test, &registry_pcp, false, 7, "");
}

static void registry_test_refuses_bad_tables(struct kunit *test)
{
	struct lmm_policy knobs = registry_policy(LMM_CMA, "cma");
	struct lmm_policy mode = registry_policy(LMM_CMA, "cma");
	struct lmm_policy id = registry_policy(LMM_NR_POLICIES, "cma");

	knobs.nr_knobs = LMM_MAX_KNOBS + 1;
	mode.mode_knob = ARRAY_SIZE(registry_knobs);
	KUNIT_EXPECT_EQ(test, -EINVAL, lmm_policy_register(&knobs));
	KUNIT_EXPECT_EQ(test, -EINVAL, lmm_policy_register(&mode));
	KUNIT_EXPECT_EQ(test, -EINVAL, lmm_policy_register(&id));
}

static void registry_test_refuses_second_text(struct kunit *test)
{
	static const struct lmm_knob texts[] = { LMM_TEXT("t"), LMM_TEXT("u") };
	struct lmm_policy policy = registry_policy(LMM_CMA, "cma");

	policy.knobs = texts;
	policy.nr_knobs = 2;
	KUNIT_EXPECT_EQ(test, -EINVAL, lmm_policy_register(&policy));
	policy.nr_knobs = 1;
	policy.mode_knob = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, lmm_policy_register(&policy));
	policy.mode_knob = -1;
	KUNIT_EXPECT_EQ(test, 0, lmm_policy_register(&policy));
	lmm_policy_unregister(&policy);
}

/* What registering a policy says; nothing stays registered. */
static int registry_tries(struct lmm_policy *policy)
{
	int err = lmm_policy_register(policy);

	lmm_policy_unregister(policy);
	return err;
}

/* A mode is a bit in the tables of hooks, so there are few; each is a word. */
static void registry_test_refuses_too_many_modes(struct kunit *test)
{
	static const char *const words[] = { "a", "b", "c", "d", "e", NULL };
	struct lmm_knob knob = LMM_CHOICE("mode", words + 1, LMM_MAX_MODES - 1, 0);
	struct lmm_policy policy = registry_policy(LMM_CMA, "cma");

	policy.knobs = &knob;
	policy.nr_knobs = 1;
	policy.mode_knob = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_tries(&policy));
	/* More words than modes, and a bound that hides a word or reaches beyond the last. */
	knob = (struct lmm_knob)LMM_CHOICE("mode", words, LMM_MAX_MODES, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL, registry_tries(&policy));
	knob.max = LMM_MAX_MODES - 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, registry_tries(&policy));
	knob = (struct lmm_knob)LMM_CHOICE("mode", words + 2, LMM_MAX_MODES - 1, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL, registry_tries(&policy));
	/* Any other choice may have more words, but has words up to its bound, too. */
	policy.mode_knob = -1;
	KUNIT_EXPECT_EQ(test, -EINVAL, registry_tries(&policy));
	knob = (struct lmm_knob)LMM_CHOICE("mode", words, LMM_MAX_MODES, 0);
	KUNIT_EXPECT_EQ(test, 0, registry_tries(&policy));
	/* A mode is a choice. */
	knob = (struct lmm_knob)LMM_UINT("mode", 0, 1, 0);
	policy.mode_knob = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, registry_tries(&policy));
}

/* The parameter `policies` shows all policies in one page. */
static void registry_test_refuses_what_cannot_be_shown(struct kunit *test)
{
	struct lmm_policy policy = registry_policy(LMM_CMA, "cma");
	struct lmm_knob knob = { .kind = LMM_KNOB_BOOL };
	size_t others, rest;
	char *name;

	others = lmm_policies_room(&registry_pcp) +
		 lmm_policies_room(&registry_numa);
	/* Room for the name: a line of "cma:enabled=0,NAME=0;", and the NUL. */
	rest = PAGE_SIZE - others - strlen("cma:enabled=0,=0;") - 1;
	name = kunit_kzalloc(test, rest + 2, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, name);
	memset(name, 'x', rest + 1);
	knob.name = name;
	policy.knobs = &knob;
	policy.nr_knobs = 1;
	KUNIT_EXPECT_EQ(test, -E2BIG, lmm_policy_register(&policy));
	name[rest] = '\0';
	KUNIT_EXPECT_EQ(test, 0, lmm_policy_register(&policy));
	lmm_policy_unregister(&policy);
}

static void registry_test_find_and_walk(struct kunit *test)
{
	mutex_lock(&lmm_control_mutex);
	KUNIT_EXPECT_PTR_EQ(test, &registry_pcp, lmm_policy_next(NULL));
	KUNIT_EXPECT_PTR_EQ(test, &registry_numa, lmm_policy_next(&registry_pcp));
	KUNIT_EXPECT_FALSE(test, lmm_policy_next(&registry_numa));
	KUNIT_EXPECT_PTR_EQ(test, &registry_numa, lmm_policy_find("numax", 4));
	KUNIT_EXPECT_FALSE(test, lmm_policy_find("numax", 5));
	KUNIT_EXPECT_FALSE(test, lmm_policy_find("", 0));
	mutex_unlock(&lmm_control_mutex);
}

static void registry_test_on_off(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	registry_expect(test, &registry_pcp, true, 7, "ea");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	registry_expect(test, &registry_pcp, true, 7, "ea");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	registry_expect(test, &registry_pcp, true, 8, "eac");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 9));
	registry_expect(test, &registry_pcp, false, 9, "eacxd");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 10));
	registry_expect(test, &registry_pcp, false, 10, "eacxd");
}

/* A new text is a change like any other; the same text is none. */
static void registry_test_text(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	KUNIT_EXPECT_EQ(test, 0, registry_set_text(&registry_pcp, "/a"));
	registry_expect(test, &registry_pcp, true, 7, "eac");
	KUNIT_EXPECT_EQ(test, 0, registry_set_text(&registry_pcp, "/a"));
	registry_expect(test, &registry_pcp, true, 7, "eac");

	fake.validate_err = -EINVAL;
	KUNIT_EXPECT_EQ(test, -EINVAL, registry_set_text(&registry_pcp, "/b"));
	registry_expect(test, &registry_pcp, true, 7, "eac");
	KUNIT_EXPECT_STREQ(test, "/a", registry_config(&registry_pcp)->text);

	/* The text stays while the policy is off. */
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 7));
	KUNIT_EXPECT_STREQ(test, "/a", registry_config(&registry_pcp)->text);
	fake.validate_err = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set_text(&registry_pcp, ""));
	KUNIT_EXPECT_STREQ(test, "", registry_config(&registry_pcp)->text);
}

/* What stands in the way of a policy that is switched on; calls until then, and to undo these. */
static const struct refusal_case {
	const char *name;
	struct lmm_policy *policy;
	struct registry_fake fake;
	int err;
	const char *why;
	const char *log;
	bool off;	/* the module parameter */
} refusal_cases[] = {
	{ "bad settings", &registry_pcp, FAKE(.validate_err = -ERANGE), -ERANGE,
	  "pcp/a: 9: odd", "" },
	{ "no hook", &registry_pcp, { .alive = true }, -EOPNOTSUPP, "pcp/enabled: 1: no hook", "" },
	{ "switched off at boot", &registry_pcp, FAKE(), -EOPNOTSUPP,
	  "pcp/enabled: 1: livemm.off=1, on the kernel command line or when livemm was loaded",
	  "", true },
	{ "the first step fails", &registry_numa, FAKE(.enable_err = -ENOMEM), -ENOMEM,
	  "numa/enabled: 1: error -12", "" },
	{ "the last step fails", &registry_numa, FAKE(.arm_err = -EBUSY), -EBUSY,
	  "numa/enabled: 1: not armed", "ed" },
	{ "too few hooks armed", &registry_pcp, FAKE(.armed_err = -EOPNOTSUPP), -EOPNOTSUPP,
	  "pcp/enabled: 1: no way out", "eaxd" },
	{ "switched off meanwhile", &registry_pcp, FAKE(.cut_at_arm = &registry_pcp), -ECANCELED,
	  "pcp/enabled: 1: switched off meanwhile", "eaxd" },
};

NAMED_CASES(refusal, refusal_cases);

static void registry_test_refused(struct kunit *test)
{
	const struct refusal_case *c = test->param_value;

	fake = c->fake;
	lmm_off = c->off;
	KUNIT_EXPECT_EQ(test, c->err, registry_set(c->policy, true, 9));
	KUNIT_EXPECT_STREQ(test, c->why, registry_why);
	registry_expect(test, c->policy, false, 7, c->log);
}

/* Settings of a policy that is off need no hooks, but must be good. */
static void registry_test_settings_while_off(struct kunit *test)
{
	fake.hooks_ok = false;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 8));
	registry_expect(test, &registry_pcp, false, 8, "");
	fake.validate_err = -ERANGE;
	KUNIT_EXPECT_EQ(test, -ERANGE, registry_set(&registry_pcp, false, 9));
	registry_expect(test, &registry_pcp, false, 8, "");
}

/* Switching off works whatever the policy objects to. */
static void registry_test_off_is_never_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	fake.validate_err = -EINVAL;
	fake.hooks_ok = false;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 7));
	registry_expect(test, &registry_pcp, false, 7, "eaxd");
}

/* Knob a is the mode: a new mode switches off and on; if refused, the old mode is back. */
static void registry_test_mode_changes(struct kunit *test)
{
	registry_pcp.mode_knob = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 1));
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 2));
	registry_expect(test, &registry_pcp, true, 2, "eaxdea");

	fake.log[0] = '\0';
	fake.arm_err = -EBUSY;
	fake.arm_err_mode = 3;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set(&registry_pcp, true, 3));
	KUNIT_EXPECT_STREQ(test, "pcp/enabled: 1: not armed", registry_why);
	registry_expect(test, &registry_pcp, true, 2, "xdedea");

	fake.log[0] = '\0';
	fake.arm_err_mode = 0;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set(&registry_pcp, true, 3));
	registry_expect(test, &registry_pcp, false, 2, "xdeded");

	fake.log[0] = '\0';
	fake.hooks_ok = false;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 1));
	registry_expect(test, &registry_pcp, false, 1, "");
}

static int registry_set_both(bool pcp, u32 pcp_a, bool numa)
{
	unsigned int cuts[LMM_NR_POLICIES];
	struct lmm_config *want;
	int err;

	lmm_policies_cuts(cuts);
	want = registry_config(&registry_pcp);
	want->enabled = pcp;
	want->value[0] = pcp_a;
	want = registry_config(&registry_numa);
	want->enabled = numa;
	mutex_lock(&lmm_control_mutex);
	err = lmm_policies_apply(registry_want, BIT(LMM_PCP) | BIT(LMM_NUMA),
				 pcp ? 0 : BIT(LMM_PCP), cuts, registry_why,
				 sizeof(registry_why));
	mutex_unlock(&lmm_control_mutex);
	return err;
}

static void registry_test_several_all_or_none(struct kunit *test)
{
	/* The second policy fails: the first is switched off again. */
	fake.enable_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(true, 9, true));
	registry_expect(test, &registry_pcp, false, 7, "eaxd");
	KUNIT_EXPECT_FALSE(test, registry_numa.on);

	/* The first policy was on: it goes back to its old value and stays on. */
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	KUNIT_EXPECT_EQ(test, 0, registry_set_text(&registry_pcp, "/a"));
	fake.log[0] = '\0';
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(true, 9, true));
	registry_expect(test, &registry_pcp, true, 7, "cc");
	KUNIT_EXPECT_STREQ(test, "/a", registry_config(&registry_pcp)->text);

	/* The first policy was to go off: nothing has been done to it yet. */
	fake.log[0] = '\0';
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(false, 7, true));
	registry_expect(test, &registry_pcp, true, 7, "");

	fake.enable_err = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set_both(false, 9, true));
	registry_expect(test, &registry_pcp, false, 9, "eaxd");
	KUNIT_EXPECT_TRUE(test, registry_numa.on);
}

static void registry_test_unregister_switches_off(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	lmm_policy_unregister(&registry_pcp);
	KUNIT_EXPECT_STREQ(test, "eaxdf", fake.log);
	KUNIT_EXPECT_FALSE(test, registry_pcp.on);
	KUNIT_EXPECT_FALSE(test, registry_pcp.counters);
	/* The registry does not have the policy any more. */
	lmm_policy_unregister(&registry_pcp);
	KUNIT_EXPECT_STREQ(test, "eaxdf", fake.log);
	KUNIT_EXPECT_EQ(test, 0, lmm_policy_register(&registry_pcp));
}

static struct kunit_case lmm_registry_cases[] = {
	KUNIT_CASE(registry_test_defaults),
	KUNIT_CASE(registry_test_refuses_duplicates),
	KUNIT_CASE(registry_test_refuses_bad_tables),
	KUNIT_CASE(registry_test_refuses_second_text),
	KUNIT_CASE(registry_test_refuses_too_many_modes),
	KUNIT_CASE(registry_test_refuses_what_cannot_be_shown),
	KUNIT_CASE(registry_test_find_and_walk),
	KUNIT_CASE(registry_test_on_off),
	KUNIT_CASE(registry_test_text),
	KUNIT_CASE_PARAM(registry_test_refused, refusal_gen_params),
	KUNIT_CASE(registry_test_settings_while_off),
	KUNIT_CASE(registry_test_off_is_never_refused),
	KUNIT_CASE(registry_test_mode_changes),
	KUNIT_CASE(registry_test_several_all_or_none),
	KUNIT_CASE(registry_test_unregister_switches_off),
	{}
};

static struct kunit_suite lmm_registry_suite = {
	.name = "livemm-registry",
	.init = registry_test_init,
	.exit = registry_test_exit,
	.test_cases = lmm_registry_cases,
};
