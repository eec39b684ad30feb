// SPDX-License-Identifier: GPL-2.0-only
/*
 * registry_test.c - suite livemm-registry: registering policies, and applying settings
 *
 * Included after counters_test.c and knobs_test.c, whose code under test the registry calls.
 * The functions of the hook layer below are fakes.
 */
#include <kunit/test.h>

#include "../module/control/switch.h"
#include "../module/hook/hook.h"

/* What the fakes answer, and what was done with them. */
static struct registry_fake {
	/* Calls: e/d enable/disable, a/x arm/disarm, c configure. */
	char log[64];
	unsigned long listening;	/* BIT() of each policy that events are delivered to */
	int validate_err;	/* answer of validating, 0 for good settings */
	int enable_err;		/* answer of enabling the second policy */
	int armed_err;		/* answer of the policy that is asked what it has */
	int arm_err;		/* answer of arming modes from @arm_err_mode on */
	unsigned int arm_err_mode;
	/* A policy that somebody switches off, or NULL: */
	struct lmm_policy *cut_at_await;	/* while a policy looks for its livepatches */
	struct lmm_policy *cut_at_arm;		/* while a policy is being armed */
	struct lmm_policy *cut_at_enable;	/* while the second policy is being enabled */
	struct lmm_policy *cut_at_configure;	/* while a policy takes new settings */
	bool hooks_ok;		/* the kernel has the hooks */
	enum { LOST_NONE, LOST_OPTIONAL, LOST_REQUIRED } lost;	/* a wrapper that is not called */
	bool regained;		/* there is a hook more than before */
	int await_err;		/* -EINPROGRESS while a livepatch is being loaded */
	enum lmm_klp_wish wish;	/* the last one */
	const char *others;	/* a livepatch of somebody else's in transition, or NULL */
	unsigned int surveys;
} fake;

/* A kernel with all hooks, but for the members named. */
#define FAKE(...)	{ .hooks_ok = true, __VA_ARGS__ }

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
	fake.lost = LOST_NONE;
	if (fake.cut_at_arm)
		lmm_policy_cut(fake.cut_at_arm);
	return 0;
}

void lmm_hooks_disarm(unsigned int client)
{
	registry_note('x');
}

int lmm_hooks_await(unsigned int client, unsigned int mode, enum lmm_klp_wish wish, char *why,
		    size_t len)
{
	if (fake.await_err)
		scnprintf(why, len, "livemm_klp_lists is being loaded");
	if (fake.cut_at_await)
		lmm_policy_cut(fake.cut_at_await);
	fake.wish = wish;
	return fake.await_err;
}

bool lmm_hooks_lost(unsigned int client, unsigned int mode, char *why, size_t len, bool *required)
{
	*required = fake.lost == LOST_REQUIRED;
	if (fake.lost)
		scnprintf(why, len, "hook drain: covered");
	return fake.lost;
}

bool lmm_hooks_regained(unsigned int client, unsigned int mode)
{
	return fake.regained;
}

bool lmm_hooks_waits(unsigned int client, char *why, size_t len)
{
	return false;
}

void lmm_klp_survey(void)
{
	fake.surveys++;
}

bool lmm_klp_others_in_transition(char *name, size_t len)
{
	strscpy(name, fake.others ?: "", len);
	return name[0];
}

/* In place of the functions of deliver.c, which flow_test.c has included. */
static void registry_fake_start(enum lmm_policy_id id)
{
	fake.listening |= BIT(id);
}

static void registry_fake_stop(enum lmm_policy_id id)
{
	fake.listening &= ~BIT(id);
}

#define lmm_events_start	registry_fake_start
#define lmm_events_stop		registry_fake_stop
#include "../module/control/switch.c"
#include "../module/control/look.c"
#include "../module/control/lease.c"
#include "../module/control/change.c"
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
	LMM_UINT("b", 0, 1, 1),
	LMM_TEXT("t"),
};

static const char *const registry_counters[] = { "things" };

static struct lmm_policy registry_pcp, registry_numa;

static struct lmm_policy registry_policy(enum lmm_policy_id id, const char *name)
{
	static const struct lmm_hook_client uses = { .name = "test" };
	static const struct lmm_events none;

	return (struct lmm_policy){
		.id = id,
		.name = name,
		.knobs = registry_knobs,
		.nr_knobs = ARRAY_SIZE(registry_knobs),
		.mode_knob = -1,
		.uses = &uses,
		.events = &none,
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
	return lmm_policy_register(&registry_pcp) ?: lmm_policy_register(&registry_numa);
}

static void registry_test_exit(struct kunit *test)
{
	lmm_policy_unregister(&registry_numa);
	lmm_policy_unregister(&registry_pcp);
}

/* Why the last change was refused; "" if the change was made. */
static char registry_why[LMM_WHY_LEN];

/* What is published; no test changes settings while another task reads here. */
static const struct lmm_config *registry_config(struct lmm_policy *policy)
{
	return rcu_dereference_protected(policy->config, true);
}

/* Settings under construction, to be handed to registry_apply_since(). */
static struct lmm_config *registry_want(struct lmm_policy *policy)
{
	return kmemdup(registry_config(policy), sizeof(struct lmm_config),
		       GFP_KERNEL | __GFP_NOFAIL);
}

static int registry_apply_since(struct lmm_policy *policy, struct lmm_config *want,
				unsigned int cuts)
{
	int err;

	registry_why[0] = '\0';
	mutex_lock(&policy->lock);
	lmm_policy_tidy(policy);
	err = lmm_policy_judge(policy, want, registry_why) ?:
	      lmm_policy_apply(policy, &want, cuts, registry_why);
	mutex_unlock(&policy->lock);
	kfree_rcu(want, rcu);
	return err;
}

/* Set enabled and knob a. */
static int registry_set(struct lmm_policy *policy, bool enabled, u32 a)
{
	struct lmm_config *want = registry_want(policy);

	want->enabled = enabled;
	want->value[0] = a;
	return registry_apply_since(policy, want, policy->cuts);
}

static int registry_set_text(struct lmm_policy *policy, const char *text)
{
	struct lmm_config *want = registry_want(policy);

	strscpy(want->text, text, LMM_TEXT_LEN);
	return registry_apply_since(policy, want, policy->cuts);
}

static void registry_expect(struct kunit *test, struct lmm_policy *policy,
			    bool on, u32 a, const char *log)
{
	const struct lmm_config *cfg = registry_config(policy);

	KUNIT_EXPECT_EQ(test, (u32)on, cfg->enabled);
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

	KUNIT_EXPECT_EQ(test, -EEXIST, lmm_policy_register(&registry_pcp));
	KUNIT_EXPECT_EQ(test, -EEXIST, lmm_policy_register(&same_id));
	/* A refused policy must not take the policy of the same id along. */
	lmm_policy_unregister(&same_id);
	registry_expect(test, &registry_pcp, false, 7, "");
}

static void registry_test_walk(struct kunit *test)
{
	struct lmm_policy *policy;
	unsigned int ids = 0;

	KUNIT_EXPECT_PTR_EQ(test, &registry_pcp, lmm_policy_next(NULL, LMM_ALL_POLICIES));
	KUNIT_EXPECT_PTR_EQ(test, &registry_numa, lmm_policy_next(&registry_pcp, LMM_ALL_POLICIES));
	KUNIT_EXPECT_FALSE(test, lmm_policy_next(&registry_numa, LMM_ALL_POLICIES));
	lmm_for_each_policy(policy, BIT(LMM_NUMA) | BIT(LMM_CMA))
		ids |= BIT(policy->id);
	KUNIT_EXPECT_EQ(test, BIT(LMM_NUMA), (unsigned long)ids);
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
	{ "no hook", &registry_pcp, { }, -EOPNOTSUPP, "pcp/enabled: 1: no hook", "" },
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

/* A text, as the parameter `policies` takes it. */
static int registry_write(const char *text)
{
	registry_why[0] = '\0';
	return lmm_control_write(NULL, LMM_ALL_KEYS, knobs_copy(text), registry_why);
}

static int registry_set_both(bool pcp, u32 pcp_a, bool numa)
{
	char text[64];

	scnprintf(text, sizeof(text), "pcp:enabled=%u,a=%u;numa:enabled=%u", pcp, pcp_a, numa);
	return registry_write(text);
}

static void registry_test_several_all_or_none(struct kunit *test)
{
	/* The second policy fails: the first is switched off again. */
	fake.enable_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(true, 9, true));
	registry_expect(test, &registry_pcp, false, 7, "eaxd");
	KUNIT_EXPECT_EQ(test, LMM_POLICY_OFF, registry_numa.state);

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
	KUNIT_EXPECT_EQ(test, LMM_POLICY_ON, registry_numa.state);
}

/* A text is carried out whole, or refused with the word at fault. */
static void registry_test_writes(struct kunit *test)
{
	char shown[128];

	KUNIT_EXPECT_EQ(test, 0, registry_write(""));
	KUNIT_EXPECT_EQ(test, 0, registry_write("pcp:"));
	KUNIT_EXPECT_EQ(test, -ERANGE, registry_write("pcp:enabled=1,a=9;numa:a=101"));
	KUNIT_EXPECT_STREQ(test, "numa/a: 101: not in 0..100", registry_why);
	KUNIT_EXPECT_EQ(test, -EINVAL, registry_write("pcp:enabled=1;numa:a=1,c=1"));
	KUNIT_EXPECT_STREQ(test, "numa/c: no such knob", registry_why);
	registry_expect(test, &registry_pcp, false, 7, "");

	KUNIT_EXPECT_EQ(test, 0, registry_write("numa:t=/a;pcp:enabled=1,a=9"));
	registry_expect(test, &registry_pcp, true, 9, "ea");
	lmm_control_format(NULL, LMM_ALL_KEYS, shown, sizeof(shown));
	KUNIT_EXPECT_STREQ(test, "pcp:enabled=1,a=9,b=1,t=;numa:enabled=0,a=7,b=1,t=/a", shown);
	KUNIT_EXPECT_EQ(test, 0, registry_write(shown));
	registry_expect(test, &registry_pcp, true, 9, "ea");

	/* A text without `enabled` leaves a policy on. */
	KUNIT_EXPECT_EQ(test, 0, registry_write("pcp:a=8"));
	registry_expect(test, &registry_pcp, true, 8, "eac");
	fake.log[0] = '\0';
	KUNIT_EXPECT_EQ(test, 0, registry_write("pcp:enabled=0,a=7;numa:enabled=0"));
	registry_expect(test, &registry_pcp, false, 7, "xd");
}

/* Wrappers that are being loaded: settings are in force at once, and the policy waits. */
static void registry_test_waits(struct kunit *test)
{
	fake.await_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_write("pcp:enabled=1,a=9"));
	KUNIT_EXPECT_STREQ(test, "pcp/enabled: 1: livemm_klp_lists is being loaded", registry_why);
	registry_expect(test, &registry_pcp, false, 7, "");
	fake.await_err = -EINPROGRESS;
	KUNIT_EXPECT_EQ(test, 0, registry_write("pcp:enabled=1,a=9"));
	KUNIT_EXPECT_EQ(test, LMM_POLICY_WAITING, registry_pcp.state);
	KUNIT_EXPECT_EQ(test, 0, registry_write("pcp:enabled=0"));
	registry_expect(test, &registry_pcp, false, 9, "");
}

static void registry_test_unregister_switches_off(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	lmm_policy_unregister(&registry_pcp);
	KUNIT_EXPECT_STREQ(test, "eaxd", fake.log);
	KUNIT_EXPECT_EQ(test, LMM_POLICY_OFF, registry_pcp.state);
	KUNIT_EXPECT_FALSE(test, registry_pcp.counters);
	/* The registry does not have the policy any more. */
	lmm_policy_unregister(&registry_pcp);
	KUNIT_EXPECT_STREQ(test, "eaxd", fake.log);
	KUNIT_EXPECT_EQ(test, 0, lmm_policy_register(&registry_pcp));
}

static struct kunit_case lmm_registry_cases[] = {
	KUNIT_CASE(registry_test_defaults),
	KUNIT_CASE(registry_test_refuses_duplicates),
	KUNIT_CASE(registry_test_walk),
	KUNIT_CASE(registry_test_on_off),
	KUNIT_CASE(registry_test_text),
	KUNIT_CASE_PARAM(registry_test_refused, refusal_gen_params),
	KUNIT_CASE(registry_test_settings_while_off),
	KUNIT_CASE(registry_test_off_is_never_refused),
	KUNIT_CASE(registry_test_mode_changes),
	KUNIT_CASE(registry_test_several_all_or_none),
	KUNIT_CASE(registry_test_writes),
	KUNIT_CASE(registry_test_waits),
	KUNIT_CASE(registry_test_unregister_switches_off),
	{}
};

static struct kunit_suite lmm_registry_suite = {
	.name = "livemm-registry",
	.init = registry_test_init,
	.exit = registry_test_exit,
	.test_cases = lmm_registry_cases,
};
