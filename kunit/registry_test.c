// SPDX-License-Identifier: GPL-2.0-only
/*
 * registry_test.c - suite livemm-registry: registering policies, and applying settings
 *
 * Included after counters_test.c, knobs_test.c and ladder_test.c, whose code under test the
 * registry calls.  The hooks below are fakes.
 */
#include <kunit/test.h>

#include "../module/control/control.h"
#include "../module/hook/hook.h"

/* Calls, in order: e/d enable/disable, a/x arm/disarm, c configure. */
static char registry_log[64];
static int registry_arm_err;
static int registry_enable_err;
static int registry_armed_err;
static int registry_validate_err;
static bool registry_hooks_ok;
static bool registry_off;

/* Modes from this number on fail to be armed. */
static unsigned int registry_arm_err_mode;

/* The policy that somebody switches off while it is being armed. */
static struct lmm_policy *registry_cut_at_arm;

/* The policy that somebody switches off while the second policy fails to be enabled. */
static struct lmm_policy *registry_cut_at_enable;

/* The policy that somebody switches off while a policy takes new settings. */
static struct lmm_policy *registry_cut_at_configure;

/* Answers of the fake hook layer: hooks alive, a hook more than before, wrappers to load. */
static bool registry_alive, registry_regained;
static u32 registry_missing;

/* BIT() of each policy that events are delivered to. */
static unsigned long registry_listening;

static void registry_cut(struct lmm_policy *policy);

static void registry_note(char what)
{
	size_t len = strlen(registry_log);

	if (len < sizeof(registry_log) - 1) {
		registry_log[len] = what;
		registry_log[len + 1] = '\0';
	}
}

static bool registry_fake_supported(enum lmm_policy_id id, unsigned int mode,
				    char *why, size_t len)
{
	if (!registry_hooks_ok)
		scnprintf(why, len, "no hook");
	return registry_hooks_ok;
}

static int registry_fake_arm(enum lmm_policy_id id, unsigned int mode, char *why,
			     size_t len)
{
	if (registry_arm_err && mode >= registry_arm_err_mode) {
		scnprintf(why, len, "not armed");
		return registry_arm_err;
	}
	registry_note('a');
	registry_regained = false;
	if (registry_cut_at_arm)
		registry_cut(registry_cut_at_arm);
	return 0;
}

static void registry_fake_disarm(enum lmm_policy_id id)
{
	registry_note('x');
}

static bool registry_fake_alive(enum lmm_policy_id id, char *why, size_t len)
{
	if (!registry_alive)
		scnprintf(why, len, "hook drain: covered");
	return registry_alive;
}

static bool registry_fake_regained(enum lmm_policy_id id, unsigned int mode, char *why, size_t len)
{
	if (registry_regained)
		scnprintf(why, len, "hook drain: available again");
	return registry_regained;
}

static bool registry_fake_ready(enum lmm_policy_id id, unsigned int mode, char *why, size_t len)
{
	if (registry_missing)
		scnprintf(why, len, "hook drain: not live");
	return !registry_missing;
}

static u32 registry_fake_missing(enum lmm_policy_id id, unsigned int mode)
{
	return registry_missing;
}

static bool registry_fake_unsettled(void)
{
	return false;
}

static void registry_fake_nothing(void)
{
}

static void registry_fake_start(enum lmm_policy_id id)
{
	registry_listening |= BIT(id);
}

static void registry_fake_stop(enum lmm_policy_id id)
{
	registry_listening &= ~BIT(id);
}

#define lmm_hooks_supported	registry_fake_supported
#define lmm_hooks_arm		registry_fake_arm
#define lmm_hooks_disarm	registry_fake_disarm
#define lmm_hooks_alive		registry_fake_alive
#define lmm_hooks_ready		registry_fake_ready
#define lmm_hooks_regained	registry_fake_regained
#define lmm_hooks_missing	registry_fake_missing
#define lmm_hooks_unsettled	registry_fake_unsettled
#define lmm_hooks_refresh	registry_fake_nothing
#define lmm_klp_wake		registry_fake_nothing
#define lmm_events_start	registry_fake_start
#define lmm_events_stop		registry_fake_stop
#define lmm_off			registry_off
#include "../module/control/switch.c"
#include "../module/control/registry.c"
#undef lmm_hooks_alive
#undef lmm_hooks_ready
#undef lmm_hooks_regained
#undef lmm_hooks_missing
#undef lmm_hooks_unsettled
#undef lmm_hooks_refresh
#undef lmm_klp_wake
#undef lmm_events_start
#undef lmm_events_stop
#undef lmm_hooks_supported
#undef lmm_hooks_arm
#undef lmm_hooks_disarm
#undef lmm_off

static void registry_cut(struct lmm_policy *policy)
{
	lmm_policy_cut(policy);
}

static int registry_fake_validate(struct lmm_policy *policy,
				  const struct lmm_config *cfg, char *why,
				  size_t len)
{
	if (registry_validate_err)
		scnprintf(why, len, "a: %u: odd", cfg->value[0]);
	return registry_validate_err;
}

static int registry_fake_enable(struct lmm_policy *policy,
				const struct lmm_config *cfg, char *why,
				size_t len)
{
	if (policy->id == LMM_NUMA && registry_cut_at_enable)
		registry_cut(registry_cut_at_enable);
	/* Only the second policy can be told to fail. */
	if (policy->id == LMM_NUMA && registry_enable_err)
		return registry_enable_err;
	registry_note('e');
	return 0;
}

static int registry_fake_armed(struct lmm_policy *policy, char *why, size_t len)
{
	if (registry_armed_err)
		scnprintf(why, len, "no way out");
	return registry_armed_err;
}

static void registry_fake_disable(struct lmm_policy *policy)
{
	registry_note('d');
}

static void registry_fake_configure(struct lmm_policy *policy,
				    const struct lmm_config *new)
{
	registry_note('c');
	if (registry_cut_at_configure)
		registry_cut(registry_cut_at_configure);
	/* A policy may ask for events while it takes new settings. */
	registry_fake_start(policy->id);
}

static const struct lmm_knob registry_knobs[] = {
	{ .name = "a", .kind = LMM_KNOB_UINT, .max = 100, .def = 7 },
	{ .name = "b", .kind = LMM_KNOB_BOOL, .max = 1, .def = 1 },
	{ .name = "t", .kind = LMM_KNOB_TEXT },
};

static const char *const registry_counters[] = { "things" };

static const struct lmm_policy registry_template = {
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

static struct lmm_policy registry_pcp, registry_numa;

static struct lmm_policy registry_policy(enum lmm_policy_id id,
					 const char *name)
{
	struct lmm_policy policy = registry_template;

	policy.id = id;
	policy.name = name;
	return policy;
}

static int registry_test_init(struct kunit *test)
{
	registry_arm_err = 0;
	registry_arm_err_mode = 0;
	registry_enable_err = 0;
	registry_armed_err = 0;
	registry_validate_err = 0;
	registry_hooks_ok = true;
	registry_off = false;
	registry_cut_at_arm = NULL;
	registry_cut_at_enable = NULL;
	registry_cut_at_configure = NULL;
	registry_alive = true;
	registry_regained = false;
	registry_missing = 0;
	registry_listening = 0;
	registry_pcp = registry_policy(LMM_PCP, "pcp");
	registry_numa = registry_policy(LMM_NUMA, "numa");
	registry_log[0] = '\0';
	return lmm_policy_register(&registry_pcp) ?:
	       lmm_policy_register(&registry_numa);
}

static void registry_test_exit(struct kunit *test)
{
	lmm_policy_unregister(&registry_numa);
	lmm_policy_unregister(&registry_pcp);
}

/* Each policy's settings under construction; too large for the stack. */
static struct lmm_config registry_want[LMM_NR_POLICIES];

static struct lmm_config *registry_config(struct lmm_policy *policy)
{
	struct lmm_config *want = &registry_want[policy->id];

	lmm_policy_config_copy(policy, want);
	return want;
}

static int registry_apply_since(struct lmm_policy *policy,
				const struct lmm_config *want, unsigned int cuts, char *why)
{
	int err;

	why[0] = '\0';
	mutex_lock(&lmm_control_mutex);
	err = lmm_policy_apply(policy, want, cuts, why, LMM_WHY_LEN);
	mutex_unlock(&lmm_control_mutex);
	return err;
}

static int registry_apply(struct lmm_policy *policy,
			  const struct lmm_config *want, char *why)
{
	return registry_apply_since(policy, want, policy->cuts, why);
}

/* Set enabled and knob a. */
static int registry_set(struct lmm_policy *policy, bool enabled, u32 a,
			char *why)
{
	struct lmm_config *want = registry_config(policy);

	want->enabled = enabled;
	want->value[0] = a;
	return registry_apply(policy, want, why);
}

static int registry_set_text(struct lmm_policy *policy, const char *text,
			     char *why)
{
	struct lmm_config *want = registry_config(policy);

	strscpy(want->text, text, sizeof(want->text));
	return registry_apply(policy, want, why);
}

static void registry_expect(struct kunit *test, struct lmm_policy *policy,
			    bool on, u32 a, const char *log)
{
	const struct lmm_config *cfg = registry_config(policy);

	KUNIT_EXPECT_EQ(test, on, policy->on);
	KUNIT_EXPECT_EQ(test, on, cfg->enabled);
	KUNIT_EXPECT_EQ(test, on, policy->state == LMM_POLICY_ON);
	KUNIT_EXPECT_EQ(test, on, !!(registry_listening & BIT(policy->id)));
	KUNIT_EXPECT_EQ(test, a, cfg->value[0]);
	KUNIT_EXPECT_STREQ(test, log, (const char *)registry_log);
}

static void registry_test_defaults(struct kunit *test)
{
	registry_expect(test, &registry_pcp, false, 7, "");
	KUNIT_EXPECT_EQ(test, 1U, registry_config(&registry_pcp)->value[1]);
	KUNIT_EXPECT_STREQ(test, "",
			   (const char *)registry_config(&registry_pcp)->text);
	KUNIT_EXPECT_EQ(test, 0ULL,
			lmm_counter_read(registry_pcp.counters, 0));
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
	static const struct lmm_knob texts[] = {
		{ .name = "t", .kind = LMM_KNOB_TEXT },
		{ .name = "u", .kind = LMM_KNOB_TEXT },
	};
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
	KUNIT_EXPECT_PTR_EQ(test, &registry_numa,
			    lmm_policy_next(&registry_pcp));
	KUNIT_EXPECT_FALSE(test, lmm_policy_next(&registry_numa));
	KUNIT_EXPECT_PTR_EQ(test, &registry_numa, lmm_policy_find("numax", 4));
	KUNIT_EXPECT_FALSE(test, lmm_policy_find("numax", 5));
	KUNIT_EXPECT_FALSE(test, lmm_policy_find("", 0));
	mutex_unlock(&lmm_control_mutex);
}

static void registry_test_on_off(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7, why));
	registry_expect(test, &registry_pcp, true, 7, "ea");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7, why));
	registry_expect(test, &registry_pcp, true, 7, "ea");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8, why));
	registry_expect(test, &registry_pcp, true, 8, "eac");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 9, why));
	registry_expect(test, &registry_pcp, false, 9, "eacxd");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 10, why));
	registry_expect(test, &registry_pcp, false, 10, "eacxd");
}

/* A new text is a change like any other; the same text is none. */
static void registry_test_text(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7, why));
	KUNIT_EXPECT_EQ(test, 0, registry_set_text(&registry_pcp, "/a", why));
	registry_expect(test, &registry_pcp, true, 7, "eac");
	KUNIT_EXPECT_EQ(test, 0, registry_set_text(&registry_pcp, "/a", why));
	registry_expect(test, &registry_pcp, true, 7, "eac");

	registry_validate_err = -EINVAL;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			registry_set_text(&registry_pcp, "/b", why));
	registry_expect(test, &registry_pcp, true, 7, "eac");
	KUNIT_EXPECT_STREQ(test, "/a",
			   (const char *)registry_config(&registry_pcp)->text);

	/* The text stays while the policy is off. */
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 7, why));
	KUNIT_EXPECT_STREQ(test, "/a",
			   (const char *)registry_config(&registry_pcp)->text);
	registry_validate_err = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set_text(&registry_pcp, "", why));
	KUNIT_EXPECT_STREQ(test, "",
			   (const char *)registry_config(&registry_pcp)->text);
}

static void registry_test_validate_refuses(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	registry_validate_err = -ERANGE;
	KUNIT_EXPECT_EQ(test, -ERANGE,
			registry_set(&registry_pcp, true, 9, why));
	KUNIT_EXPECT_STREQ(test, "pcp/a: 9: odd", (const char *)why);
	KUNIT_EXPECT_EQ(test, -ERANGE,
			registry_set(&registry_pcp, false, 9, why));
	registry_expect(test, &registry_pcp, false, 7, "");
}

/* Switching off works whatever the policy objects to. */
static void registry_test_off_is_never_refused(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7, why));
	registry_validate_err = -EINVAL;
	registry_hooks_ok = false;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 7, why));
	registry_expect(test, &registry_pcp, false, 7, "eaxd");
}

static void registry_test_unsupported(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	registry_hooks_ok = false;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			registry_set(&registry_pcp, true, 7, why));
	KUNIT_EXPECT_STREQ(test, "pcp/enabled: 1: no hook", (const char *)why);
	registry_expect(test, &registry_pcp, false, 7, "");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 8, why));
	registry_expect(test, &registry_pcp, false, 8, "");
}

static void registry_test_switched_off_at_boot(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	registry_off = true;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			registry_set(&registry_pcp, true, 7, why));
	KUNIT_EXPECT_STREQ(test,
			   "pcp/enabled: 1: livemm.off=1 on the kernel command line",
			   (const char *)why);
	registry_expect(test, &registry_pcp, false, 7, "");
}

/* Enabling fails at its first step, then at its last. */
static void registry_test_enable_unwinds(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	registry_enable_err = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			registry_set(&registry_numa, true, 9, why));
	KUNIT_EXPECT_STREQ(test, "numa/enabled: 1: enable: error -12",
			   (const char *)why);
	registry_expect(test, &registry_numa, false, 7, "");

	registry_enable_err = 0;
	registry_arm_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY,
			registry_set(&registry_numa, true, 9, why));
	KUNIT_EXPECT_STREQ(test, "numa/enabled: 1: not armed",
			   (const char *)why);
	registry_expect(test, &registry_numa, false, 7, "ed");
}

/* Knob a is the mode: a new mode switches off and on; if refused, the old mode is back. */
static void registry_test_mode_changes(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	registry_pcp.mode_knob = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 1, why));
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 2, why));
	registry_expect(test, &registry_pcp, true, 2, "eaxdea");

	registry_log[0] = '\0';
	registry_arm_err = -EBUSY;
	registry_arm_err_mode = 3;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set(&registry_pcp, true, 3, why));
	KUNIT_EXPECT_STREQ(test, "pcp/enabled: 1: not armed", (const char *)why);
	registry_expect(test, &registry_pcp, true, 2, "xdedea");

	registry_log[0] = '\0';
	registry_arm_err_mode = 0;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set(&registry_pcp, true, 3, why));
	registry_expect(test, &registry_pcp, false, 2, "xdeded");

	registry_log[0] = '\0';
	registry_hooks_ok = false;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 1, why));
	registry_expect(test, &registry_pcp, false, 1, "");
}

static int registry_set_both(bool pcp, u32 pcp_a, bool numa, char *why)
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
	err = lmm_policies_apply(registry_want, BIT(LMM_PCP) | BIT(LMM_NUMA), cuts,
				 why, LMM_WHY_LEN);
	mutex_unlock(&lmm_control_mutex);
	return err;
}

static void registry_test_several_all_or_none(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	/* The second policy fails: the first is switched off again. */
	registry_enable_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(true, 9, true, why));
	registry_expect(test, &registry_pcp, false, 7, "eaxd");
	KUNIT_EXPECT_FALSE(test, registry_numa.on);

	/* The first policy was on: it goes back to its old value and stays on. */
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7, why));
	KUNIT_EXPECT_EQ(test, 0, registry_set_text(&registry_pcp, "/a", why));
	registry_log[0] = '\0';
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(true, 9, true, why));
	registry_expect(test, &registry_pcp, true, 7, "cc");
	KUNIT_EXPECT_STREQ(test, "/a",
			   (const char *)registry_config(&registry_pcp)->text);

	/* The first policy was to go off: nothing has been done to it yet. */
	registry_log[0] = '\0';
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(false, 7, true, why));
	registry_expect(test, &registry_pcp, true, 7, "");

	registry_enable_err = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set_both(false, 9, true, why));
	registry_expect(test, &registry_pcp, false, 9, "eaxd");
	KUNIT_EXPECT_TRUE(test, registry_numa.on);
}

static void registry_test_disable_all(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	KUNIT_EXPECT_EQ(test, 0, registry_set_both(true, 7, true, why));
	mutex_lock(&lmm_control_mutex);
	lmm_policies_disable_all();
	mutex_unlock(&lmm_control_mutex);
	registry_expect(test, &registry_pcp, false, 7, "eaeaxdxd");
	KUNIT_EXPECT_FALSE(test, registry_numa.on);
}

static void registry_test_unregister_switches_off(struct kunit *test)
{
	char why[LMM_WHY_LEN];

	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7, why));
	lmm_policy_unregister(&registry_pcp);
	KUNIT_EXPECT_STREQ(test, "eaxd", (const char *)registry_log);
	KUNIT_EXPECT_FALSE(test, registry_pcp.on);
	KUNIT_EXPECT_FALSE(test, registry_pcp.counters);
	KUNIT_EXPECT_EQ(test, 0, lmm_policy_register(&registry_pcp));
}

static struct kunit_case lmm_registry_cases[] = {
	KUNIT_CASE(registry_test_defaults),
	KUNIT_CASE(registry_test_refuses_duplicates),
	KUNIT_CASE(registry_test_refuses_bad_tables),
	KUNIT_CASE(registry_test_refuses_second_text),
	KUNIT_CASE(registry_test_refuses_what_cannot_be_shown),
	KUNIT_CASE(registry_test_find_and_walk),
	KUNIT_CASE(registry_test_on_off),
	KUNIT_CASE(registry_test_text),
	KUNIT_CASE(registry_test_validate_refuses),
	KUNIT_CASE(registry_test_off_is_never_refused),
	KUNIT_CASE(registry_test_unsupported),
	KUNIT_CASE(registry_test_switched_off_at_boot),
	KUNIT_CASE(registry_test_enable_unwinds),
	KUNIT_CASE(registry_test_mode_changes),
	KUNIT_CASE(registry_test_several_all_or_none),
	KUNIT_CASE(registry_test_disable_all),
	KUNIT_CASE(registry_test_unregister_switches_off),
	{}
};

static struct kunit_suite lmm_registry_suite = {
	.name = "livemm-registry",
	.init = registry_test_init,
	.exit = registry_test_exit,
	.test_cases = lmm_registry_cases,
};
