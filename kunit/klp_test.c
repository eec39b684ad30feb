// SPDX-License-Identifier: GPL-2.0-only
/*
 * klp_test.c - suite livemm-klp: which livepatch module is asked for, and when
 *
 * Included after registry_test.c, for its fakes.
 */
#include <kunit/test.h>

#include "../module/hook/symbols.h"

/* What modprobe was asked for, and what the kernel answered. */
static struct klp_fake {
	const char *asked;
	int err;
	unsigned long delay;	/* until the worker is to run */
} klp_fake;

static int klp_fake_ask(const char *module)
{
	klp_fake.asked = module;
	return klp_fake.err;
}

bool lmm_klp_covered(const struct lmm_hook *hook, char *why, size_t len)
{
	return false;
}

int lmm_klp_may_patch(struct klp_object *obj)
{
	return 0;
}

void lmm_klp_changed(bool leaves)
{
}

unsigned long lmm_symbol_ftrace_site(unsigned long addr)
{
	return addr;
}

#undef pr_fmt
#undef request_module_nowait
#define request_module_nowait(format, module)	klp_fake_ask(module)
#define queue_delayed_work(wq, work, after)	((void)(work), klp_fake.delay = (after))
#define mod_delayed_work(wq, work, after)	((void)(work), klp_fake.delay = (after))
#include "../module/hook/klp_client.c"
#undef request_module_nowait
#undef queue_delayed_work
#undef mod_delayed_work

#define KLP_TRY		"if nothing happens, try modprobe "
#define KLP_ALL		GENMASK(LMM_KLP_NR - 1, 0)
#define KLP_LISTS	BIT(LMM_KLP_DRAIN)
#define KLP_GIVEBACK	BIT(LMM_KLP_COMPACT)
#define KLP_FALLBACK	BIT(LMM_KLP_FALLBACK)

static struct klp_object klp_fake_objs[NR_LIVEPATCHES];
static struct klp_patch klp_fake_patches[NR_LIVEPATCHES];

static int klp_test_init(struct kunit *test)
{
	unsigned int i;

	fake = (struct registry_fake)FAKE();
	klp_fake = (struct klp_fake){ };
	for (i = 0; i < NR_LIVEPATCHES; i++) {
		livepatches[i] = (struct lmm_livepatch){ .module = livepatches[i].module };
		klp_fake_patches[i] = (struct klp_patch){
			.objs = &klp_fake_objs[i], .enabled = true,
		};
	}
	lmm_klp_init();
	return 0;
}

/* The worker runs: which module does it ask for? */
static const char *klp_asked(void)
{
	klp_fake.asked = "";
	ask_next();
	return klp_fake.asked;
}

static char klp_why[LMM_WHY_LEN];

static int klp_still(u32 functions)
{
	return lmm_klp_await(functions, LMM_KLP_STILL, klp_why, sizeof(klp_why));
}

static int klp_wanted(u32 functions)
{
	return lmm_klp_await(functions, LMM_KLP_WANTED, klp_why, sizeof(klp_why));
}

static void klp_comes(unsigned int which)
{
	livepatch_come(&livepatches[which], &klp_fake_patches[which],
		       livepatches[which].functions);
}

/* The next module is asked for when the last one is live, or when it does not begin. */
static void klp_asks_one_by_one(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_ALL), -EINPROGRESS);
	KUNIT_EXPECT_EQ(test, klp_fake.delay, 0UL);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_lists");
	KUNIT_EXPECT_EQ(test, klp_fake.delay, (unsigned long)RETRY_JIFFIES);
	klp_comes(LIVEPATCH_lists);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "");
	livepatch_set(&klp_fake_objs[LIVEPATCH_lists], true);
	KUNIT_EXPECT_EQ(test, klp_fake.delay, 0UL);
	KUNIT_EXPECT_EQ(test, klp_still(KLP_LISTS), 0);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_giveback");
	KUNIT_EXPECT_EQ(test, klp_still(KLP_ALL), -EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_why, "livemm_klp_giveback is being loaded; "
			   KLP_TRY "livemm_klp_giveback");
	KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_fallback");
	KUNIT_EXPECT_EQ(test, klp_still(KLP_ALL), -EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "");
	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_ALL), -EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_giveback");
}

/* Only saying asks for nothing, and forgets nothing. */
static void klp_tells(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, lmm_klp_await(KLP_LISTS, LMM_KLP_TELL, klp_why, sizeof(klp_why)),
			-EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_why, "livemm_klp_lists is not loaded; " KLP_TRY
			   "livemm_klp_lists");
	KUNIT_EXPECT_STREQ(test, klp_asked(), "");
	KUNIT_EXPECT_EQ(test, klp_still(KLP_LISTS), -EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_why, "livemm_klp_lists is being loaded; " KLP_TRY
			   "livemm_klp_lists");
	livepatch_go(&livepatches[LIVEPATCH_lists], -ENODEV);
	KUNIT_EXPECT_EQ(test, lmm_klp_await(KLP_LISTS, LMM_KLP_TELL, klp_why, sizeof(klp_why)),
			-ENODEV);
	KUNIT_EXPECT_STREQ(test, klp_why, "livemm_klp_lists cannot be loaded (-19); see dmesg");
}

/* A module that the kernel refuses for another one's transition is tried again, not for ever. */
static void klp_tries_again(struct kunit *test)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_LISTS), -EINPROGRESS);
	for (i = 0; i < TRIES_MAX; i++) {
		KUNIT_EXPECT_EQ(test, klp_still(KLP_LISTS), -EINPROGRESS);
		KUNIT_EXPECT_EQ(test, klp_fake.delay, i ? RETRY_JIFFIES : 0UL);
		KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_lists");
		klp_comes(LIVEPATCH_lists);
		livepatch_go(&livepatches[LIVEPATCH_lists], -EBUSY);
	}
	KUNIT_EXPECT_EQ(test, klp_still(KLP_LISTS), -EBUSY);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "");
	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_LISTS), -EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_lists");
}

/* What has failed for good is asked for again by a new wish alone, with all that is wished for. */
static void klp_new_wish(struct kunit *test)
{
	klp_fake.err = -ENOMEM;
	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_LISTS | KLP_FALLBACK), -EINPROGRESS);
	klp_asked();
	klp_asked();
	KUNIT_EXPECT_EQ(test, klp_still(KLP_LISTS | KLP_FALLBACK), -ENOMEM);
	KUNIT_EXPECT_EQ(test, klp_still(KLP_FALLBACK), -ENOMEM);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "");
	klp_fake.err = 0;
	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_LISTS | KLP_FALLBACK), -EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_lists");
	KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_fallback");
}

/* Beside a transition of somebody else's: refused at once, or waited for. */
static void klp_beside_others(struct kunit *test)
{
	fake.others = "theirs";
	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_LISTS), -EBUSY);
	KUNIT_EXPECT_STREQ(test, klp_why,
			   "livepatch theirs is in transition; try again after that");
	KUNIT_EXPECT_EQ(test, klp_still(KLP_LISTS), -EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "");
	fake.others = NULL;
	KUNIT_EXPECT_EQ(test, klp_still(KLP_LISTS), -EINPROGRESS);
	KUNIT_EXPECT_STREQ(test, klp_asked(), "livemm_klp_lists");
}

/* A livepatch that somebody has disabled is in the way, whatever else is on its way. */
static void klp_disabled(struct kunit *test)
{
	klp_comes(LIVEPATCH_giveback);
	livepatch_set(&klp_fake_objs[LIVEPATCH_giveback], true);
	livepatch_set(&klp_fake_objs[LIVEPATCH_giveback], false);
	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_ALL), -EBUSY);
	KUNIT_EXPECT_TRUE(test, strstarts(klp_why, "livepatch livemm_klp_giveback was disabled"));
	livepatch_go(&livepatches[LIVEPATCH_giveback], 0);
	KUNIT_EXPECT_EQ(test, klp_wanted(KLP_GIVEBACK), -EINPROGRESS);
}

static struct kunit_case klp_cases[] = {
	KUNIT_CASE(klp_asks_one_by_one),
	KUNIT_CASE(klp_tells),
	KUNIT_CASE(klp_tries_again),
	KUNIT_CASE(klp_new_wish),
	KUNIT_CASE(klp_beside_others),
	KUNIT_CASE(klp_disabled),
	{ }
};

static struct kunit_suite klp_suite = {
	.name = "livemm-klp",
	.init = klp_test_init,
	.test_cases = klp_cases,
};
