/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * livemm.h - the vocabulary shared by hooks, policies and control
 *
 * Data flows one way: hook -> event -> policy core -> actuator -> counter ->
 * debugfs.  This header names what is passed at each arrow and nothing else.
 */
#ifndef LIVEMM_H
#define LIVEMM_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct lmm_events;
struct lmm_hook_client;
struct seq_file;

#define LMM_VERSION	"0.1.0"
#define LMM_ABI		3

/* Room for a reason in words, the NUL included. */
#define LMM_WHY_LEN	192
#define LMM_MAX_KNOBS	8
/* Room for the text of a knob, the NUL included. */
#define LMM_TEXT_LEN	512

/**
 * enum lmm_policy_id - every policy of livemm, in the order in
 *	which events are delivered to them (see flow/deliver.h)
 * @LMM_ZONELOCK: fills lists before the list sizing sees a refill
 * @LMM_CMA: chooses where a refill comes from
 * @LMM_PCP: sizes the per-CPU page lists
 * @LMM_PAGEBLOCK: keeps pageblocks to one migratetype
 * @LMM_NUMA: scan period of an address space
 * @LMM_NR_POLICIES: number of the above
 */
enum lmm_policy_id {
	LMM_ZONELOCK,
	LMM_CMA,
	LMM_PCP,
	LMM_PAGEBLOCK,
	LMM_NUMA,
	LMM_NR_POLICIES
};

/* The recorder is no policy, but has hooks as a policy has. */
#define LMM_RECORDER	LMM_NR_POLICIES

/* Modes that a policy may have at most: the choices of its mode knob. */
#define LMM_MAX_MODES	4

/**
 * enum lmm_knob_kind - how a knob's text is read
 * @LMM_KNOB_UINT: decimal digits
 * @LMM_KNOB_TENTHS: decimal digits, optionally a point and one more digit;
 *	stored as tenths (12.5 is 125)
 * @LMM_KNOB_CHOICE: one of @choices; stored as its index
 * @LMM_KNOB_TEXT: plain ASCII without blank, comma and semicolon, which separate
 *	in a config line; may be empty, and is at load.  Stored as @text of the
 *	settings, so a policy has at most one such knob; members from @min on are unused.
 */
enum lmm_knob_kind {
	LMM_KNOB_UINT,
	LMM_KNOB_TENTHS,
	LMM_KNOB_CHOICE,
	LMM_KNOB_TEXT,
};

/**
 * struct lmm_knob - one row of a policy's knob table
 * @name: file name in debugfs and key in a config line
 * @kind: how the text is read
 * @min: smallest stored value accepted
 * @max: largest stored value accepted
 * @def: stored value at load
 * @choices: NULL-terminated words, for LMM_KNOB_CHOICE
 * @unit: for documents alone
 * @text: the meaning, for documents alone
 */
struct lmm_knob {
	const char *name;
	enum lmm_knob_kind kind;
	u32 min;
	u32 max;
	u32 def;
	const char *const *choices;
#ifdef LMM_KNOB_DOCS
	const char *unit, *text;
#define LMM_KNOB_DOC(unit_, text_)	.unit = unit_, .text = text_
#else
#define LMM_KNOB_DOC(...)
#endif
};

/*
 * Rows of a knob table, by kind; the words of a choice end in NULL.  What follows are the unit and
 * the meaning in one line, for documents: see tests/tables.py.
 */
#define LMM_UINT(name_, min_, max_, def_, ...) \
	{ .name = name_, .kind = LMM_KNOB_UINT, .min = min_, .max = max_, .def = def_, \
	  LMM_KNOB_DOC(__VA_ARGS__) }
#define LMM_TENTHS(name_, min_, max_, def_, ...) \
	{ .name = name_, .kind = LMM_KNOB_TENTHS, .min = min_, .max = max_, .def = def_, \
	  LMM_KNOB_DOC(__VA_ARGS__) }
#define LMM_CHOICE(name_, words, def_, ...) \
	{ .name = name_, .kind = LMM_KNOB_CHOICE, .max = ARRAY_SIZE(words) - 2, .def = def_, \
	  .choices = words, LMM_KNOB_DOC(__VA_ARGS__) }
#define LMM_TEXT(name_, ...) \
	{ .name = name_, .kind = LMM_KNOB_TEXT, LMM_KNOB_DOC(__VA_ARGS__) }
#define LMM_BOOL(name_)		LMM_CHOICE(name_, lmm_bool_words, 0, "", "")

/* A row of a policy's list of knobs, as enumerator and as entry of its table. */
#define LMM_KNOB_ID(id, row) \
	KNOB_##id,
#define LMM_KNOB_ROW(id, row) \
	[KNOB_##id] = row,

/* control/knobs.c */
extern const char *const lmm_bool_words[3];

/* A row of a policy's list of counters, as enumerator and as entry of its table of names. */
#define LMM_COUNTER(id, name) \
	COUNT_##id,
#define LMM_COUNTER_NAME(id, name) \
	[COUNT_##id] = name,

/**
 * struct lmm_config - one set of a policy's settings
 * @rcu: frees the set after the last reader
 * @enabled: the policy is (to be) on: 0 or 1
 * @value: stored value of each knob, in the order of the policy's table; 0 for an
 *	LMM_KNOB_TEXT
 * @key: the same by key, see control/knobs.h
 * @text: text of the policy's LMM_KNOB_TEXT, filled up with 0; "" of a policy that has none
 *
 * A writer builds and checks a new set, and publishes the set with rcu_assign_pointer().
 * A published set does not change, but for @enabled, which a cut clears.
 */
struct lmm_config {
	struct rcu_head rcu;
	union {
		struct {
			u32 enabled;
			u32 value[LMM_MAX_KNOBS];
		};
		u32 key[LMM_MAX_KNOBS + 1];
	};
	char text[LMM_TEXT_LEN];
};

/**
 * enum lmm_policy_state - where a policy is between off and on
 * @LMM_POLICY_OFF: nothing of the policy runs, no hook is armed for the policy
 * @LMM_POLICY_WAITING: the policy is to come on once a livepatch is in force; nothing of the policy
 *	runs.  For a moment also when an optional hook goes or comes.
 * @LMM_POLICY_LOADING: the policy is being switched on
 * @LMM_POLICY_ON: events are delivered to the policy
 * @LMM_POLICY_LEAVING: the policy gets no event any more; values that the policy has changed
 *	are being restored
 */
enum lmm_policy_state {
	LMM_POLICY_OFF,
	LMM_POLICY_WAITING,
	LMM_POLICY_LOADING,
	LMM_POLICY_ON,
	LMM_POLICY_LEAVING,
};

/**
 * struct lmm_policy - a policy as control sees it
 * @id: which one
 * @name: its directory in debugfs and its word in @policies
 * @knobs: its knob table
 * @nr_knobs: rows in @knobs, at most LMM_MAX_KNOBS
 * @mode_knob: index of the knob that `status` shows as the mode, an LMM_KNOB_CHOICE with at most
 *	LMM_MAX_MODES words, or -1; the mode chooses the hooks (see struct lmm_subscription), so a
 *	change while on switches the policy off and on
 * @uses: hooks that the policy uses, and structs of the kernel that the policy touches
 * @events: events that the policy handles
 * @counter_names: one name a counter
 * @nr_counters: entries in @counter_names
 * @supported: can this kernel run the policy?  Returns false with the reason
 *	in @why.  May be NULL (then only its required hooks decide).
 * @validate: judge a whole configuration beyond each knob's own range.
 *	Returns 0 or -EINVAL/-ERANGE/-EOPNOTSUPP with the reason in @why
 *	("knob: value: words"); changes nothing.  May be NULL.
 * @enable: allocate and start; called before any of the policy's hooks is
 *	armed.  Returns 0, or -errno with the reason in @why and everything
 *	undone.  May sleep.
 * @armed: the policy's hooks are armed, and no event is delivered yet: look which hooks the policy
 *	has, with lmm_hook_armed().  Returns 0 or -errno with the reason in @why; the hooks are
 *	then disarmed and @disable is called.  May sleep.  May be NULL.
 * @disable: stop and restore every kernel value the policy changed; called
 *	after the policy's hooks are disarmed and no handler runs any more.
 *	Cannot fail.  May sleep.
 * @configure: the settings changed while on; @new is about to be published.
 *	Cannot fail (whatever can be refused is refused in @validate).
 *	May sleep.  May be NULL.
 * @state_show: print the table for people, while on.  May sleep.
 * @census_show: print the census, of file `census`; on or off, and whether or not
 *	the policy is supported.  May take seconds.  May sleep.  Called without @lock, by
 *	several readers at once.  May be NULL, then there is no such file.
 * @reason_show: words for the last column of `status` while on; @why is "" before.
 *	May be NULL.
 * @lock: held while the policy is switched or takes settings.  The kernel may make an op wait for
 *	long, so nobody who reads, switches off, or changes another policy takes the lock
 * @work: tidies up after a cut, and looks after the hooks; takes @lock
 * @config: published settings
 * @counters: per-CPU, @nr_counters values, never reset
 * @state: state of the policy
 * @tell: has the kernel log say what the policy waits for, when @state lasts
 * @cuts: number of times that somebody asked for the policy to be off; see lmm_policy_cut()
 * @off_reason: why livemm has switched the policy off, in words; "" if somebody else has
 *
 * Every op runs in process context with @lock held, except @supported, @reason_show and
 * @census_show.  Ops of two policies may run side by side.  @supported may be called at any time,
 * @reason_show also while the policy goes off.  Both are called with or without the lock, and read
 * only data that live as long as the module.
 *
 * Members from @config to @off_reason are written under a spinlock of state.c, so that
 * switching off and reading never wait.  @config is replaced under @lock alone.
 */
struct lmm_policy {
	enum lmm_policy_id id;
	const char *name;
	const struct lmm_knob *knobs;
	unsigned int nr_knobs;
	int mode_knob;
	const struct lmm_hook_client *uses;
	const struct lmm_events *events;
	const char *const *counter_names;
	unsigned int nr_counters;

	bool (*supported)(struct lmm_policy *policy, char *why, size_t len);
	int (*validate)(struct lmm_policy *policy, const struct lmm_config *cfg,
			char *why, size_t len);
	int (*enable)(struct lmm_policy *policy, const struct lmm_config *cfg,
		      char *why, size_t len);
	int (*armed)(struct lmm_policy *policy, char *why, size_t len);
	void (*disable)(struct lmm_policy *policy);
	void (*configure)(struct lmm_policy *policy, const struct lmm_config *new);
	void (*state_show)(struct lmm_policy *policy, struct seq_file *m);
	void (*census_show)(struct lmm_policy *policy, struct seq_file *m);
	void (*reason_show)(struct lmm_policy *policy, char *why, size_t len);

	/* Owned by control from lmm_policy_register() on. */
	struct mutex lock;
	struct work_struct work;
	struct lmm_config __rcu *config;
	u64 __percpu *counters;
	enum lmm_policy_state state;
	struct delayed_work tell;
	unsigned int cuts;
	char off_reason[LMM_WHY_LEN];
};

/* What each policy has, in tables and functions whose names begin with the policy's. */
#define LMM_POLICY(id_, policy)						\
	.id = LMM_##id_,						\
	.name = #policy,						\
	.knobs = policy##_knobs,					\
	.nr_knobs = ARRAY_SIZE(policy##_knobs) +			\
		BUILD_BUG_ON_ZERO(ARRAY_SIZE(policy##_knobs) > LMM_MAX_KNOBS),	\
	.uses = &policy##_uses,						\
	.events = &policy##_events,					\
	.counter_names = policy##_counter_names,			\
	.nr_counters = ARRAY_SIZE(policy##_counter_names),		\
	.enable = policy##_enable,					\
	.disable = policy##_disable,					\
	.configure = policy##_configure,				\
	.state_show = policy##_state_show,				\
	.reason_show = policy##_reason_show

/**
 * lmm_policy_mode() - the mode that a set of settings asks for
 * @policy: the policy of the settings
 * @cfg: the settings
 *
 * Context: any.
 * Return: index of the choice; 0 for a policy without modes.
 */
static inline unsigned int lmm_policy_mode(const struct lmm_policy *policy,
					   const struct lmm_config *cfg)
{
	return policy->mode_knob < 0 ? 0 : cfg->value[policy->mode_knob];
}

/* policy/<name>/policy.c */
extern struct lmm_policy lmm_zonelock_policy;
extern struct lmm_policy lmm_cma_policy;
extern struct lmm_policy lmm_pcp_policy;
extern struct lmm_policy lmm_pageblock_policy;
extern struct lmm_policy lmm_numa_policy;

/* counters.c */
u64 __percpu *lmm_counters_alloc(unsigned int nr);
u64 lmm_counter_read(const u64 __percpu *counters, unsigned int idx);

/**
 * lmm_count() - add to one of a policy's counters
 * @policy: the policy
 * @idx: index in its counter_names
 * @n: number to add
 *
 * Context: any, interrupts included; one instruction on this CPU's copy.
 */
static inline void lmm_count(struct lmm_policy *policy, unsigned int idx, u64 n)
{
	this_cpu_add(policy->counters[idx], n);
}

#endif /* LIVEMM_H */
