// SPDX-License-Identifier: GPL-2.0-only
/*
 * switch_test.c - suite livemm-switch: off without a mutex, waiting, off against on
 *
 * The suite uses the policies and fakes of registry_test.c and is included after that file.
 */
#include <kunit/test.h>

static enum lmm_policy_state registry_state(struct lmm_policy *policy)
{
	registry_why[0] = '\0';
	return lmm_policy_state(policy, registry_why, sizeof(registry_why));
}

static void registry_look(void)
{
	struct lmm_policy *policy;

	lmm_for_each_policy(policy, LMM_ALL_POLICIES) {
		mutex_lock(&policy->lock);
		lmm_policy_look(policy);
		mutex_unlock(&policy->lock);
	}
}

/* Off takes effect without the mutex; the next holder of the mutex tidies up. */
static void switch_test_cut_waits_for_nobody(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	lmm_policy_cut(&registry_pcp);
	KUNIT_EXPECT_EQ(test, 0UL, fake.listening);
	KUNIT_EXPECT_FALSE(test, registry_config(&registry_pcp)->enabled);
	KUNIT_EXPECT_EQ(test, 8U, registry_config(&registry_pcp)->value[0]);
	KUNIT_EXPECT_EQ(test, LMM_POLICY_LEAVING, registry_state(&registry_pcp));
	KUNIT_EXPECT_STREQ(test, "ea", fake.log);

	/* A second cut, and the cut of a policy that is off, change nothing. */
	lmm_policy_cut(&registry_pcp);
	lmm_policy_cut(&registry_numa);
	KUNIT_EXPECT_EQ(test, LMM_POLICY_LEAVING, registry_state(&registry_pcp));
	KUNIT_EXPECT_EQ(test, LMM_POLICY_OFF, registry_state(&registry_numa));
	registry_look();
	registry_expect(test, &registry_pcp, false, 8, "eaxd");

	/* Switching on before anybody has tidied up tidies up first. */
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	lmm_policy_cut(&registry_pcp);
	fake.log[0] = '\0';
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	registry_expect(test, &registry_pcp, true, 8, "xdea");
}

/*
 * Off comes during a change of mode: the old mode is not tried.  The end of the change is no second
 * cut, which would refuse an "on" that was asked for after the first.
 */
static void switch_test_cut_while_mode_changes(struct kunit *test)
{
	unsigned int cuts = registry_pcp.cuts;

	registry_pcp.mode_knob = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 1));
	fake.log[0] = '\0';
	fake.cut_at_arm = &registry_pcp;
	KUNIT_EXPECT_EQ(test, -ECANCELED, registry_set(&registry_pcp, true, 2));
	registry_expect(test, &registry_pcp, false, 1, "xdeaxd");
	KUNIT_EXPECT_EQ(test, cuts + 1, registry_pcp.cuts);
}

/* Off comes between a request and its execution: off prevails. */
static void switch_test_cut_since_asked(struct kunit *test)
{
	unsigned int cuts = registry_pcp.cuts;
	struct lmm_config *want;

	want = registry_want(&registry_pcp);
	want->enabled = true;
	lmm_policy_cut(&registry_pcp);
	KUNIT_EXPECT_EQ(test, -ECANCELED, registry_apply_since(&registry_pcp, want, cuts));
	KUNIT_EXPECT_STREQ(test, "pcp/enabled: 1: switched off meanwhile", registry_why);
	registry_expect(test, &registry_pcp, false, 7, "");

	/* A knob of a policy that was cut: the policy is not enabled a second time. */
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	want = registry_want(&registry_pcp);
	want->value[0] = 9;
	cuts = registry_pcp.cuts;
	lmm_policy_cut(&registry_pcp);
	fake.log[0] = '\0';
	KUNIT_EXPECT_EQ(test, -ECANCELED, registry_apply_since(&registry_pcp, want, cuts));
	registry_expect(test, &registry_pcp, false, 8, "xd");
}

/* Off comes while a policy takes new settings: no event is delivered afterwards. */
static void switch_test_cut_while_configuring(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	fake.cut_at_configure = &registry_pcp;
	KUNIT_EXPECT_EQ(test, -ECANCELED, registry_set(&registry_pcp, true, 9));
	KUNIT_EXPECT_EQ(test, 0UL, fake.listening);
	registry_look();
	registry_expect(test, &registry_pcp, false, 8, "eacxd");
}

/* A policy that is cut while another policy comes on stays off when that change fails. */
static void switch_test_revert_leaves_off(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	fake.cut_at_arm = &registry_pcp;
	fake.arm_err = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set_both(true, 9, true));
	registry_look();
	KUNIT_EXPECT_EQ(test, LMM_POLICY_OFF, registry_pcp.state);
	KUNIT_EXPECT_EQ(test, LMM_POLICY_ON, registry_numa.state);

	fake.cut_at_arm = NULL;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_numa, false, 7));
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 7));
	fake.cut_at_enable = &registry_pcp;
	fake.enable_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(true, 9, true));
	registry_look();
	KUNIT_EXPECT_EQ(test, LMM_POLICY_OFF, registry_pcp.state);
	KUNIT_EXPECT_FALSE(test, registry_config(&registry_pcp)->enabled);
}

/*
 * A policy goes off because a change is taken back: a task that asked for "on" before, and waits,
 * gets the policy.
 */
static void switch_test_taken_back_refuses_nobody(struct kunit *test)
{
	unsigned int cuts = registry_pcp.cuts;
	struct lmm_config *want;

	fake.enable_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set_both(true, 9, true));
	registry_expect(test, &registry_pcp, false, 7, "eaxd");
	want = registry_want(&registry_pcp);
	want->enabled = true;
	KUNIT_EXPECT_EQ(test, 0, registry_apply_since(&registry_pcp, want, cuts));

	/* The new mode and the old mode are refused. */
	registry_pcp.mode_knob = 0;
	fake.arm_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set(&registry_pcp, true, 3));
	fake.arm_err = 0;
	fake.log[0] = '\0';
	want = registry_want(&registry_pcp);
	KUNIT_EXPECT_FALSE(test, want->enabled);
	want->enabled = true;
	KUNIT_EXPECT_EQ(test, 0, registry_apply_since(&registry_pcp, want, cuts));
	registry_expect(test, &registry_pcp, true, 7, "ea");
}

/* "Off" beside other settings refuses a task that asked for "on" before, on or not. */
static void switch_test_off_with_a_knob_prevails(struct kunit *test)
{
	unsigned int cuts = registry_pcp.cuts;
	struct lmm_config *want;

	KUNIT_EXPECT_EQ(test, 0, registry_set_both(false, 9, true));
	want = registry_want(&registry_pcp);
	want->enabled = true;
	KUNIT_EXPECT_EQ(test, -ECANCELED, registry_apply_since(&registry_pcp, want, cuts));

	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 9));
	cuts = registry_pcp.cuts;
	KUNIT_EXPECT_EQ(test, 0, registry_set_both(false, 8, true));
	want = registry_want(&registry_pcp);
	want->enabled = true;
	KUNIT_EXPECT_EQ(test, -ECANCELED, registry_apply_since(&registry_pcp, want, cuts));
	KUNIT_EXPECT_EQ(test, LMM_POLICY_OFF, registry_pcp.state);
}

/* A required hook is taken away: the policy is off, says why, and stays off. */
static void switch_test_lost(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	registry_look();
	registry_expect(test, &registry_pcp, true, 8, "ea");
	fake.lost = LOST_REQUIRED;
	registry_look();
	KUNIT_EXPECT_EQ(test, LMM_POLICY_OFF, registry_state(&registry_pcp));
	KUNIT_EXPECT_STREQ(test, "hook drain: covered", registry_why);
	registry_expect(test, &registry_pcp, false, 8, "eaxd");

	/* The hook is back, and nobody has switched the policy on. */
	fake.lost = LOST_NONE;
	registry_look();
	registry_expect(test, &registry_pcp, false, 8, "eaxd");

	/* Whoever switches the policy on or off has seen the reason. */
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	lmm_policy_cut(&registry_pcp);
	registry_look();
	registry_state(&registry_pcp);
	KUNIT_EXPECT_STREQ(test, "", registry_why);
}

/* A livepatch is being loaded: the settings are published, and the policy comes on later. */
static void switch_test_waits(struct kunit *test)
{
	fake.await_err = -EINPROGRESS;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	registry_look();
	KUNIT_EXPECT_EQ(test, LMM_POLICY_WAITING, registry_state(&registry_pcp));
	KUNIT_EXPECT_TRUE(test, registry_config(&registry_pcp)->enabled);
	KUNIT_EXPECT_STREQ(test, "", fake.log);

	/* Other settings meanwhile. */
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 9));
	KUNIT_EXPECT_EQ(test, LMM_POLICY_WAITING, registry_state(&registry_pcp));
	fake.await_err = 0;
	registry_look();
	registry_expect(test, &registry_pcp, true, 9, "ea");
}

/* Off while a policy waits. */
static void switch_test_off_while_waiting(struct kunit *test)
{
	fake.await_err = -EINPROGRESS;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	lmm_policy_cut(&registry_pcp);
	registry_expect(test, &registry_pcp, false, 8, "");
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, false, 9));
	registry_expect(test, &registry_pcp, false, 9, "");
	fake.await_err = 0;
	registry_look();
	registry_expect(test, &registry_pcp, false, 9, "");
}

/* What a policy waits for does not come, or the policy cannot come on: off, with the reason. */
static void switch_test_waits_in_vain(struct kunit *test)
{
	fake.await_err = -EINPROGRESS;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	fake.await_err = -ENOENT;
	registry_look();
	KUNIT_EXPECT_EQ(test, LMM_POLICY_OFF, registry_state(&registry_pcp));
	KUNIT_EXPECT_STREQ(test, "livemm_klp_lists is being loaded", registry_why);
	registry_expect(test, &registry_pcp, false, 8, "");

	fake.await_err = -EINPROGRESS;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	fake.await_err = 0;
	fake.armed_err = -EOPNOTSUPP;
	registry_look();
	registry_state(&registry_pcp);
	KUNIT_EXPECT_STREQ(test, "no way out", registry_why);
	registry_expect(test, &registry_pcp, false, 8, "eaxd");

	fake.await_err = -EINPROGRESS;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	fake.hooks_ok = false;
	registry_look();
	registry_state(&registry_pcp);
	KUNIT_EXPECT_STREQ(test, "no hook", registry_why);
	KUNIT_EXPECT_FALSE(test, registry_config(&registry_pcp)->enabled);
}

/* A livepatch that cannot come is refused at once. */
static void switch_test_refused_at_once(struct kunit *test)
{
	fake.await_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set(&registry_pcp, true, 8));
	KUNIT_EXPECT_STREQ(test, "pcp/enabled: 1: livemm_klp_lists is being loaded", registry_why);
	registry_expect(test, &registry_pcp, false, 7, "");
}

/* A mode that requires another livepatch: the policy goes off, and waits with the new mode. */
static void switch_test_mode_waits(struct kunit *test)
{
	registry_pcp.mode_knob = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 1));
	fake.await_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, registry_set(&registry_pcp, true, 2));
	registry_expect(test, &registry_pcp, true, 1, "ea");
	fake.await_err = -EINPROGRESS;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 2));
	KUNIT_EXPECT_EQ(test, LMM_POLICY_WAITING, registry_state(&registry_pcp));
	KUNIT_EXPECT_STREQ(test, "eaxd", fake.log);
	fake.await_err = 0;
	registry_look();
	registry_expect(test, &registry_pcp, true, 2, "eaxdea");
}

/* A policy that loses an optional hook goes on with the other hooks, until the hook is back. */
static void switch_test_goes_on_without_the_optional(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	fake.lost = LOST_OPTIONAL;
	registry_look();
	registry_expect(test, &registry_pcp, true, 8, "eaxdea");

	/* The hook is free again: a new start with the hook. */
	fake.regained = true;
	registry_look();
	registry_expect(test, &registry_pcp, true, 8, "eaxdeaxdea");
	registry_look();
	registry_expect(test, &registry_pcp, true, 8, "eaxdeaxdea");
}

/* Off comes while a policy that waits finds its livepatch there: off prevails. */
static void switch_test_cut_while_looking(struct kunit *test)
{
	fake.await_err = -EINPROGRESS;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	fake.await_err = 0;
	fake.cut_at_await = &registry_pcp;
	registry_look();
	registry_expect(test, &registry_pcp, false, 8, "");
}

/* A policy that is on goes on to ask for livepatches that it does not require. */
static void switch_test_still_asks_when_on(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 8));
	KUNIT_EXPECT_EQ(test, LMM_KLP_WANTED, fake.wish);
	registry_look();
	KUNIT_EXPECT_EQ(test, LMM_KLP_STILL, fake.wish);
	registry_expect(test, &registry_pcp, true, 8, "ea");
}

/* What is refused for a livepatch is judged once more after a survey. */
static void switch_test_surveys_again(struct kunit *test)
{
	struct lmm_delta deltas[LMM_NR_POLICIES] = { };

	registry_pcp.mode_knob = 0;
	KUNIT_EXPECT_EQ(test, 0, registry_set(&registry_pcp, true, 1));
	deltas[LMM_PCP].keys = BIT(1);
	deltas[LMM_PCP].key[1] = 2;
	fake.await_err = -EBUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, change_settings(deltas, registry_why));
	KUNIT_EXPECT_EQ(test, 1U, fake.surveys);
	registry_expect(test, &registry_pcp, true, 1, "ea");
}

static struct kunit_case lmm_switch_cases[] = {
	KUNIT_CASE(switch_test_cut_waits_for_nobody),
	KUNIT_CASE(switch_test_cut_while_mode_changes),
	KUNIT_CASE(switch_test_cut_since_asked),
	KUNIT_CASE(switch_test_cut_while_configuring),
	KUNIT_CASE(switch_test_revert_leaves_off),
	KUNIT_CASE(switch_test_taken_back_refuses_nobody),
	KUNIT_CASE(switch_test_off_with_a_knob_prevails),
	KUNIT_CASE(switch_test_lost),
	KUNIT_CASE(switch_test_waits),
	KUNIT_CASE(switch_test_off_while_waiting),
	KUNIT_CASE(switch_test_waits_in_vain),
	KUNIT_CASE(switch_test_refused_at_once),
	KUNIT_CASE(switch_test_mode_waits),
	KUNIT_CASE(switch_test_goes_on_without_the_optional),
	KUNIT_CASE(switch_test_cut_while_looking),
	KUNIT_CASE(switch_test_still_asks_when_on),
	KUNIT_CASE(switch_test_surveys_again),
	{}
};

static struct kunit_suite lmm_switch_suite = {
	.name = "livemm-switch",
	.init = registry_test_init,
	.exit = registry_test_exit,
	.test_cases = lmm_switch_cases,
};
