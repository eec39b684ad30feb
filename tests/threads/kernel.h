/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel.h - what a policy's core takes from the kernel, for a program with threads
 *
 * Stands in for every <linux/...> header that a core includes.  Where the kernel's own
 * promises less than C does, so does this: READ_ONCE() is relaxed, and only a lock and
 * what adds to an atomic and returns order anything.
 */
#ifndef TESTS_THREADS_KERNEL_H
#define TESTS_THREADS_KERNEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

#define ____cacheline_aligned_in_smp	__attribute__((aligned(64)))
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value)	__atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))
#define time_before_eq(a, b)	((long)((a) - (b)) <= 0)

typedef struct { atomic_int value; } atomic_t;
typedef struct { atomic_long value; } atomic_long_t;

static inline void atomic_set(atomic_t *v, int i)
{
	atomic_store_explicit(&v->value, i, memory_order_relaxed);
}

static inline int atomic_read(atomic_t *v)
{
	return atomic_load_explicit(&v->value, memory_order_relaxed);
}

static inline void atomic_add(int i, atomic_t *v)
{
	atomic_fetch_add_explicit(&v->value, i, memory_order_relaxed);
}

static inline void atomic_long_set(atomic_long_t *v, long i)
{
	atomic_store_explicit(&v->value, i, memory_order_relaxed);
}

static inline long atomic_long_read(atomic_long_t *v)
{
	return atomic_load_explicit(&v->value, memory_order_relaxed);
}

static inline void atomic_long_add(long i, atomic_long_t *v)
{
	atomic_fetch_add_explicit(&v->value, i, memory_order_relaxed);
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

/* Put all of a list between two neighbours, and leave it empty. */
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

static inline void list_splice_tail_init(struct list_head *list, struct list_head *head)
{
	list_move_between(list, head->prev, head);
}

#endif /* TESTS_THREADS_KERNEL_H */
