/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - what cores and their suites take from the kernel, for programs of user space
 *
 * Stands in for each <linux/...> header that a core or a suite includes.  Where the kernel's
 * function promises less than C, so does the stand-in: READ_ONCE() is relaxed, and only locks and
 * atomic additions that return their result order anything.
 */
#ifndef KUNIT_USER_KERNEL_H
#define KUNIT_USER_KERNEL_H

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef uint16_t u16;
typedef int32_t s32;
typedef long long s64;
typedef unsigned int gfp_t;

#define __percpu
#define __rcu
#define __printf(a, b)		__attribute__((format(printf, a, b)))

#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define PAGE_SHIFT		12
#define PAGE_SIZE		(1UL << PAGE_SHIFT)
#define GFP_KERNEL		0

#define BIT(n)			(1UL << (n))
#define BITS_PER_LONG		(8 * sizeof(long))
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK(h, l)		((~0UL << (l)) & (~0UL >> (63 - (h))))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define BUILD_BUG_ON(x)		_Static_assert(!(x), #x)
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define DIV_ROUND_CLOSEST(n, d)	(((n) + (d) / 2) / (d))
#define mult_frac(n, a, b)	((n) / (b) * (a) + (n) % (b) * (a) / (b))
#define __ffs(n)		__builtin_ctzl(n)
#define __fls(n)		(BITS_PER_LONG - 1 - __builtin_clzl(n))
#define __ffs64(n)		__builtin_ctzll(n)
#define smp_rmb()		atomic_thread_fence(memory_order_acquire)
#define smp_wmb()		atomic_thread_fence(memory_order_release)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define unlikely(x)		(x)

#define min(a, b) \
	({ __typeof__(a) min_a = (a); __typeof__(b) min_b = (b); min_a < min_b ? min_a : min_b; })
#define max(a, b) \
	({ __typeof__(a) max_a = (a); __typeof__(b) max_b = (b); max_a > max_b ? max_a : max_b; })
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define min3(a, b, c)		min(min(a, b), c)
#define max3(a, b, c)		max(max(a, b), c)
#define clamp(v, lo, hi)	min(max(v, lo), hi)
#define clamp_t(type, v, lo, hi) clamp((type)(v), (type)(lo), (type)(hi))
#define abs(x)			({ __typeof__(x) abs_x = (x); abs_x < 0 ? -abs_x : abs_x; })
#define cmpxchg(at, old, new)						\
	({								\
		__typeof__(at) cmpxchg_at = (at);			\
		__typeof__(*cmpxchg_at) cmpxchg_old = (old);		\
		__atomic_compare_exchange_n(cmpxchg_at, &cmpxchg_old, new, 0, \
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
		cmpxchg_old;						\
	})
#define time_before(a, b)	((long)((a) - (b)) < 0)
#define time_after(a, b)	time_before(b, a)
#define ilog2(n)		(63 - __builtin_clzll(n))
#define fls(n)			((n) ? 32 - __builtin_clz(n) : 0)
#define fls64(n)		((n) ? 64 - __builtin_clzll(n) : 0)
#define hweight64(n)		__builtin_popcountll(n)

#define div_u64(a, b)		((u64)(a) / (u32)(b))
#define div64_u64(a, b)		((u64)(a) / (u64)(b))
#define div_s64(a, b)		((s64)(a) / (s32)(b))
#define div64_s64(a, b)		((s64)(a) / (s64)(b))
#define mul_u32_u32(a, b)	((u64)(u32)(a) * (u32)(b))

#define hash_32(value, bits)	((u32)(value) * 0x61C88647u >> (32 - (bits)))

static inline u64 div_u64_rem(u64 value, u32 by, u32 *rest)
{
	*rest = value % by;
	return value / by;
}

static inline const void *memchr_inv(const void *start, int c, size_t len)
{
	const u8 *at = start;

	for (; len; at++, len--)
		if (*at != (u8)c)
			return at;
	return NULL;
}

static inline __printf(3, 4) int scnprintf(char *buf, size_t len, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(buf, len, format, args);
	va_end(args);
	return len && n >= (int)len ? (int)len - 1 : n;
}

#define ESCAPE_ANY		1
#define ESCAPE_NAP		2

/* With these two flags alone: printable ASCII stays. */
static inline int string_escape_mem(const char *from, size_t len, char *to, size_t room,
				    unsigned int flags, const char *only)
{
	static const char plain[] = "\n\r\t\v\f\a\033";
	static const char letter[] = "nrtvfae";
	int n = 0;

	for (; len; len--, from++) {
		const char *at = *from ? strchr(plain, *from) : NULL;

		if (*from >= ' ' && *from <= '~')
			n += snprintf(to + n, room - n + 1, "%c", *from);
		else if (at)
			n += snprintf(to + n, room - n + 1, "\\%c", letter[at - plain]);
		else
			n += snprintf(to + n, room - n + 1, *from ? "\\%03o" : "\\0", (u8)*from);
	}
	return n;
}

static inline ssize_t strscpy(char *to, const char *from, size_t len)
{
	size_t n = strnlen(from, len);

	if (n == len) {
		memcpy(to, from, len - 1);
		to[len - 1] = '\0';
		return -E2BIG;
	}
	memcpy(to, from, n + 1);
	return n;
}

static inline ssize_t strscpy_pad(char *to, const char *from, size_t len)
{
	memset(to, 0, len);
	return strscpy(to, from, len);
}

/* Not the kernel's sequence: no suite depends on single numbers. */
struct rnd_state { u64 value; };

static inline void prandom_seed_state(struct rnd_state *state, u64 seed)
{
	state->value = seed * 2 + 1;
}

static inline u32 prandom_u32_state(struct rnd_state *state)
{
	state->value = state->value * 6364136223846793005ull + 1442695040888963407ull;
	return state->value >> 33;
}

/* From livemm.h: settings and locks of the glue, which no core touches. */
/* Members that only control uses. */
struct work_struct { int unused; };
struct delayed_work { int unused; };
struct rcu_head { void *unused; };
struct mutex { int unused; };

#define this_cpu_add(variable, n)	((variable) += (n))

#define ____cacheline_aligned_in_smp	__attribute__((aligned(64)))
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define time_before_eq(a, b)	((long)((a) - (b)) <= 0)

typedef struct { atomic_int value; } atomic_t;
typedef struct { atomic_long value; } atomic_long_t;
typedef struct { atomic_llong value; } atomic64_t;

#define atomic_read(v)		atomic_load_explicit(&(v)->value, memory_order_relaxed)
#define atomic_set(v, i)	atomic_store_explicit(&(v)->value, i, memory_order_relaxed)
#define atomic_add(i, v)	atomic_fetch_add_explicit(&(v)->value, i, memory_order_relaxed)
#define atomic_long_read	atomic_read
#define atomic_long_set		atomic_set
#define atomic_long_add		atomic_add
#define atomic64_read		atomic_read

static inline void set_bit(unsigned long n, unsigned long *word)
{
	__atomic_fetch_or(word, BIT(n), __ATOMIC_RELAXED);
}

static inline void clear_bit(unsigned long n, unsigned long *word)
{
	__atomic_fetch_and(word, ~BIT(n), __ATOMIC_RELAXED);
}

static inline s64 atomic64_add_return(s64 i, atomic64_t *v)
{
	return atomic_fetch_add(&v->value, i) + i;
}

static inline s64 atomic64_cmpxchg(atomic64_t *v, s64 old, s64 new)
{
	atomic_compare_exchange_strong(&v->value, &old, new);
	return old;
}

typedef struct { atomic_flag taken; } spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	atomic_flag_clear(&lock->taken);
}

static inline bool spin_trylock(spinlock_t *lock)
{
	return !atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire);
}

static inline void spin_lock(spinlock_t *lock)
{
	while (!spin_trylock(lock))
		;
}

static inline void spin_unlock(spinlock_t *lock)
{
	atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

struct list_head {
	struct list_head *next, *prev;
};

#define LIST_HEAD(name)	struct list_head name = { &(name), &(name) }

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define list_entry(ptr, type, member)	container_of(ptr, type, member)
#define list_first_entry(head, type, member)	list_entry((head)->next, type, member)
#define list_last_entry(head, type, member)	list_entry((head)->prev, type, member)
#define list_for_each_entry(at, head, member)				\
	for ((at) = list_first_entry(head, __typeof__(*(at)), member);	\
	     &(at)->member != (head);					\
	     (at) = list_entry((at)->member.next, __typeof__(*(at)), member))

static inline void list_add_tail(struct list_head *item, struct list_head *head)
{
	item->prev = head->prev;
	item->next = head;
	head->prev->next = item;
	head->prev = item;
}

static inline void list_del(struct list_head *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	item->prev = NULL;
	item->next = NULL;
}

#define list_for_each(at, head) \
	for ((at) = (head)->next; (at) != (head); (at) = (at)->next)

/* Move all entries of a list between two neighbours. */
static inline void list_move_between(struct list_head *list, struct list_head *prev,
				     struct list_head *next)
{
	if (list_empty(list))
		return;
	prev->next = list->next;
	list->next->prev = prev;
	next->prev = list->prev;
	list->prev->next = next;
	INIT_LIST_HEAD(list);
}

static inline char *strnstr(const char *text, const char *what, size_t len)
{
	size_t size = strlen(what);

	for (; len >= size && *text; text++, len--)
		if (!memcmp(text, what, size))
			return (char *)text;
	return NULL;
}

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_move_between(list, head->prev, head);
}

/* Unlike the kernel's, also empties the spliced list, which nobody may read afterwards. */
#define list_splice(list, head)		list_move_between(list, head, (head)->next)
#define list_splice_tail(list, head)	list_move_between(list, (head)->prev, head)

static inline void list_move_tail(struct list_head *item, struct list_head *head)
{
	list_del(item);
	list_add_tail(item, head);
}

static inline void list_move(struct list_head *item, struct list_head *head)
{
	list_move_tail(item, head->next);
}

#endif /* KUNIT_USER_KERNEL_H */
