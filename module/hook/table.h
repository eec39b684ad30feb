/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h - the rows of hooks: places where the kernel calls us, or where we call or read the
 * kernel
 */
#ifndef LIVEMM_HOOK_TABLE_H
#define LIVEMM_HOOK_TABLE_H

#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/stringify.h>
#include <linux/tracepoint.h>

#include "compat/compat.h"
#include "livemm.h"
#include "klp_link.h"

/**
 * enum lmm_mechanism - how a row reaches the kernel
 * @LMM_MECH_LIVEPATCH: a wrapper in one of livemm_klp_*.ko
 * @LMM_MECH_KPROBE: a kprobe with a pre_handler only (a post_handler would
 *	conflict with a livepatch of the same function)
 * @LMM_MECH_DIRECT: a direct call at a function's ftrace site, for a function that is
 *	called too often for a kprobe; see direct.c
 * @LMM_MECH_TRACEPOINT: a probe on a tracepoint
 * @LMM_MECH_CALL: a function that we call
 * @LMM_MECH_DATA: a variable that we read
 */
enum lmm_mechanism {
	LMM_MECH_LIVEPATCH,
	LMM_MECH_KPROBE,
	LMM_MECH_DIRECT,
	LMM_MECH_TRACEPOINT,
	LMM_MECH_CALL,
	LMM_MECH_DATA,
};

/*
 * A test build names a row, a variable or a function in LMM_BREAK: what is expected of it is then
 * wrong on purpose.
 */
#ifndef LMM_BREAK
#define LMM_BREAK	""
#endif
#define LMM_BROKEN(name)	(!__builtin_strcmp(name, LMM_BREAK))

/* The rows of rows.h. */
enum lmm_hook_id {
#define ROW(kind, id, ...)	LMM_HOOK_##id,
#include "rows.h"
	LMM_NR_HOOKS
};

/**
 * struct lmm_hook_alternative - a symbol and the prototype it must have
 * @symbol: function, tracepoint or variable
 * @proto: expected prototype as btf.c writes it; NULL for a variable (BTF does
 *	not describe variables).  Arguments have the names of the kernel's source
 */
struct lmm_hook_alternative {
	const char *symbol;
	const char *proto;
};

#define LMM_HOOK_ALTERNATIVES	3

/* A user of hooks is a client in one of its modes.  The hook layer knows no policy. */
#define LMM_MAX_CLIENTS		8
#define LMM_ALL_MODES		GENMASK(LMM_MAX_MODES - 1, 0)

/**
 * struct lmm_subscription - a client uses a hook
 * @hook: the row
 * @modes: BIT() of each mode that uses the row
 * @required: BIT() of each mode that cannot work without the row; a subset of @modes
 * @fallback: the row is used only where @fallback_for cannot be used
 * @fallback_for: the row that the client prefers; of a livepatch, and before @hook
 * @impact: what the client loses without the row, for people
 * @handler: of a kprobe or a tracepoint that the client uses alone; see flow/probe.h.  Of livemm.ko
 *	itself: the row keeps it
 */
struct lmm_subscription {
	enum lmm_hook_id hook;
	u8 modes;
	u8 required;
	bool fallback;
	enum lmm_hook_id fallback_for;
	const char *impact;
	void *handler;
};

/*
 * A row of a client's table: a hook used in some modes, and required in some of these modes.  Other
 * members may follow.
 */
#define LMM_USES_IN(modes_, required_, hook_, impact_, ...) {		\
	.hook = LMM_HOOK_##hook_,					\
	.modes = modes_,						\
	.required = required_,						\
	.impact = impact_,						\
	__VA_ARGS__							\
}

/* A hook used in every mode. */
#define LMM_USES(...)	LMM_USES_IN(LMM_ALL_MODES, 0, __VA_ARGS__)

/*
 * For each client with a direct call, which makes room where BPF wants the same function.  Without
 * a JIT the kernel calls no BPF program at a function.
 */
#define LMM_USES_BPF_LINKS						\
	LMM_USES(BPF_LINK, IS_ENABLED(CONFIG_BPF_JIT) ?			\
		 "cheap direct calls: BPF could not be called at the same functions" : \
		 "nothing, as this kernel calls no BPF program at a function"), \
	LMM_USES(BPF_LINKS, IS_ENABLED(CONFIG_BPF_JIT) ?		\
		 "cheap direct calls, where the kernel has that function" : \
		 "nothing, as this kernel calls no BPF program at a function")

/* A hook that every mode requires. */
#define LMM_NEEDS(...)	LMM_USES_IN(LMM_ALL_MODES, LMM_ALL_MODES, __VA_ARGS__)

/* A hook used in every mode where another hook cannot be used. */
#define LMM_USES_FOR(hook_, instead, impact_)				\
	LMM_USES(hook_, impact_, .fallback = true, .fallback_for = LMM_HOOK_##instead)

/**
 * struct lmm_hook_client - all that a client asks of the hook layer
 * @name: of the client, for people
 * @subscriptions: hooks that the client uses
 * @nr_subscriptions: entries in @subscriptions
 */
struct lmm_hook_client {
	const char *name;
	const struct lmm_subscription *subscriptions;
	unsigned int nr_subscriptions;
};

/* The client whose table begins with its name. */
#define LMM_HOOK_CLIENT(client) {					\
	.name = #client,						\
	.subscriptions = client##_subscriptions,			\
	.nr_subscriptions = ARRAY_SIZE(client##_subscriptions),		\
}

/**
 * struct lmm_hook - one row
 * @name: name in livemm; the first column of `hooks`
 * @mech: the mechanism
 * @alternatives: names in kernels; the first name that exists counts, with any of its prototypes
 * @handler: probe, entry or pre_handler (tracepoint, direct, kprobe)
 * @shared: the entry as an ftrace callback (direct); NULL if there must be no other call
 * @function: the wrapper (livepatch)
 * @size: of the variable's type (data)
 * @align: alignment of the variable's type (data)
 * @symbol: the alternative found
 * @addr: its address; of a tracepoint, struct tracepoint
 * @kp: the kprobe
 * @ops: the direct call
 * @shared_ops: the ftrace callback that replaces the direct call
 * @is_shared: an armed row has @shared_ops registered, and not @ops
 * @is_alone: @is_shared without another direct call being known, because nobody would announce one
 * @makes_room: the direct call shall not be used any more
 * @covered_by: the livepatch of somebody else's that holds the function, or a word of
 *	klp_conflict.c, or ""
 * @replaced: a cumulative livepatch of somebody else's is about to take our wrapper off
 * @only_ours: our wrapper is at the function, and nobody else's, now or soon
 * @available: verified on this kernel
 * @stuck: the row could not be disarmed, and its handler may still be called
 * @lock: held while the kernel is made to call the row, or no longer, which may take long
 * @waits: BIT() of each client that waits for @lock, or for the kernel
 * @armed: BIT() of each client for which the row is armed
 * @refused: errno of the kernel at the last try to arm the row, or 0
 * @why: why the row is not available, or a remark
 *
 * Members up to @align are constant, but for @handler, which flow/ or a client sets where the table
 * has none.  Members from @kp to @makes_room, and from @stuck on, are written under @lock only;
 * @covered_by, @replaced and @only_ours under locks of klp_conflict.c.
 */
struct lmm_hook {
	const char *name;
	enum lmm_mechanism mech;
	struct lmm_hook_alternative alternatives[LMM_HOOK_ALTERNATIVES];
	void *handler;
	ftrace_func_t shared;
	enum lmm_klp_function function;
	u32 size;
	u32 align;

	const char *symbol;
	unsigned long addr;
	struct kprobe kp;
	struct ftrace_ops ops;
	struct ftrace_ops shared_ops;
	bool is_shared;
	bool is_alone;
	bool makes_room;
	char covered_by[MODULE_NAME_LEN];
	bool replaced;
	bool only_ours;
	bool available;
	bool stuck;
	/* Arming and disarming. */
	struct mutex lock;
	unsigned long waits;
	u32 armed;
	int refused;
	char why[LMM_WHY_LEN];
};

extern struct lmm_hook lmm_hooks[LMM_NR_HOOKS];
extern const char *const lmm_mechanism_name[];

#define lmm_for_each_hook(hook) \
	for ((hook) = lmm_hooks; (hook) < lmm_hooks + LMM_NR_HOOKS; (hook)++)

/* Per-CPU hits, one a row; the handlers count. */
extern u64 __percpu *lmm_hook_hits;

/**
 * lmm_hook_hit() - count one hit of a hook
 * @id: the row
 *
 * Context: any.
 */
static inline void lmm_hook_hit(enum lmm_hook_id id)
{
	this_cpu_inc(lmm_hook_hits[id]);
}

/**
 * lmm_hook_only_ours() - does a call of a function run our wrapper, and nobody else's?
 * @id: the row, of a livepatch
 *
 * Context: any, preemption off; the answer holds until preemption is on.
 * Return: true if so.
 */
static inline bool lmm_hook_only_ours(enum lmm_hook_id id)
{
	return READ_ONCE(lmm_hooks[id].only_ours);
}

/* table.c */
unsigned long lmm_hook_address(enum lmm_hook_id id);

/**
 * lmm_hook_available() - was a row verified?
 * @id: the row
 *
 * Context: any.
 * Return: true if the row may be used.
 */
static inline bool lmm_hook_available(enum lmm_hook_id id)
{
	return lmm_hook_address(id);
}

/* subscribe.c */
int lmm_hooks_subscribe(unsigned int client, const struct lmm_hook_client *uses);
void lmm_hooks_unsubscribe(unsigned int client);
const struct lmm_subscription *lmm_hook_use(const struct lmm_hook *hook, unsigned int client,
					    unsigned int mode);
bool lmm_hook_required(const struct lmm_hook *hook, unsigned int client, unsigned int mode);
void lmm_hook_impact(const struct lmm_hook *hook, const char *words, char *why, size_t len);

/* verify.c */
void lmm_hook_verify(struct lmm_hook *hook);
bool lmm_structs_agree(char *why, size_t len);

/* obstacle.c: reasons why a verified row cannot be armed, or an armed row is not called */
void lmm_obstacles_init(void);
bool lmm_row_obstacle(const struct lmm_hook *hook, char *why, size_t len);
bool lmm_row_silence(const struct lmm_hook *hook, char *why, size_t len);

/* direct.c */
int lmm_direct_arm(struct lmm_hook *hook);
int lmm_direct_disarm(struct lmm_hook *hook);
void lmm_direct_exit(void);

#endif /* LIVEMM_HOOK_TABLE_H */
