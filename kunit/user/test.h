/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * test.h - what suites take from <kunit/test.h>, for a program of user space
 *
 * A failed expectation is printed, and the case goes on.  A failed assertion ends the case.
 * Memory of a case is freed at its end, so that AddressSanitizer sees a later use.
 */
#ifndef KUNIT_USER_TEST_H
#define KUNIT_USER_TEST_H

#include <setjmp.h>

#include "kernel.h"

#define KUNIT_PARAM_DESC_SIZE	128

struct kunit;

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

/* A case that runs. */
struct kunit {
	const void *param_value;
	void *priv;		/* of the suite */
	bool failed;		/* an expectation or an assertion */
	jmp_buf end;		/* where a failed assertion jumps to */
	void *blocks[64];	/* memory to free at the end */
	unsigned int nr_blocks;
};

#define KUNIT_CASE(function)		{ .run_case = function, .name = #function }
#define KUNIT_CASE_PARAM(function, params) \
	{ .run_case = function, .name = #function, .generate_params = params }

#define NAMED_CASES(what, array)						\
	static const void *what##_gen_params(const void *prev, char *desc)	\
	{									\
		__typeof__((array)[0]) *next = prev;				\
										\
		next = next ? next + 1 : (array);				\
		if (next - (array) >= (long)ARRAY_SIZE(array))			\
			return NULL;						\
		strscpy(desc, next->name, KUNIT_PARAM_DESC_SIZE);		\
		return next;							\
	}

void *kunit_user_alloc(struct kunit *test, size_t size);

#define kunit_kzalloc(test, size, gfp)		kunit_user_alloc(test, size)
#define kunit_kcalloc(test, nr, size, gfp)	kunit_user_alloc(test, (nr) * (size))

__attribute__((format(printf, 4, 5)))
void kunit_user_fail(struct kunit *test, const char *file, int line, const char *format, ...);

#define KUNIT_FAIL(test, ...)		kunit_user_fail(test, __FILE__, __LINE__, __VA_ARGS__)

#define KUNIT_CHECK(test, good, after, ...)			\
do {								\
	if (!(good)) {						\
		KUNIT_FAIL(test, __VA_ARGS__);			\
		after;						\
	}							\
} while (0)

#define KUNIT_STOP(test)	longjmp((test)->end, 1)

#define KUNIT_COMPARE(test, a, op, b, after, ...)				\
do {										\
	__typeof__(a) kunit_a = (a);						\
	__typeof__(b) kunit_b = (b);						\
	KUNIT_CHECK(test, kunit_a op kunit_b, after, "%s %s %s: %lld and %lld: " \
		    KUNIT_FORMAT(__VA_ARGS__), #a, #op, #b, (long long)kunit_a,	\
		    (long long)kunit_b KUNIT_ARGS(__VA_ARGS__));		\
} while (0)

/* A message is a format and arguments; without one, both are empty. */
#define KUNIT_FORMAT(...)	KUNIT_FIRST(__VA_ARGS__ __VA_OPT__(,) "")
#define KUNIT_FIRST(first, ...)	first
#define KUNIT_ARGS(...)		__VA_OPT__(KUNIT_REST(__VA_ARGS__))
#define KUNIT_REST(first, ...)	__VA_OPT__(,) __VA_ARGS__

#define KUNIT_EXPECT_EQ(test, a, b)	KUNIT_COMPARE(test, a, ==, b, )
#define KUNIT_EXPECT_NE(test, a, b)	KUNIT_COMPARE(test, a, !=, b, )
#define KUNIT_EXPECT_LT(test, a, b)	KUNIT_COMPARE(test, a, <, b, )
#define KUNIT_EXPECT_LE(test, a, b)	KUNIT_COMPARE(test, a, <=, b, )
#define KUNIT_EXPECT_GT(test, a, b)	KUNIT_COMPARE(test, a, >, b, )
#define KUNIT_EXPECT_GE(test, a, b)	KUNIT_COMPARE(test, a, >=, b, )
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...)	KUNIT_COMPARE(test, a, ==, b, , __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(test, a, b, ...)	KUNIT_COMPARE(test, a, <=, b, , __VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, a, b)	KUNIT_COMPARE(test, a, ==, b, KUNIT_STOP(test))
#define KUNIT_ASSERT_NE(test, a, b)	KUNIT_COMPARE(test, a, !=, b, KUNIT_STOP(test))
#define KUNIT_ASSERT_LT(test, a, b)	KUNIT_COMPARE(test, a, <, b, KUNIT_STOP(test))
#define KUNIT_ASSERT_LE(test, a, b)	KUNIT_COMPARE(test, a, <=, b, KUNIT_STOP(test))
#define KUNIT_ASSERT_GT(test, a, b)	KUNIT_COMPARE(test, a, >, b, KUNIT_STOP(test))
#define KUNIT_ASSERT_GE(test, a, b)	KUNIT_COMPARE(test, a, >=, b, KUNIT_STOP(test))
#define KUNIT_ASSERT_EQ_MSG(test, a, b, ...) \
	KUNIT_COMPARE(test, a, ==, b, KUNIT_STOP(test), __VA_ARGS__)

#define KUNIT_EXPECT_TRUE(test, x)	KUNIT_CHECK(test, x, , "%s", #x)
#define KUNIT_EXPECT_FALSE(test, x)	KUNIT_CHECK(test, !(x), , "not %s", #x)
#define KUNIT_ASSERT_TRUE(test, x)	KUNIT_CHECK(test, x, KUNIT_STOP(test), "%s", #x)
#define KUNIT_ASSERT_FALSE(test, x)	KUNIT_CHECK(test, !(x), KUNIT_STOP(test), "not %s", #x)
#define KUNIT_ASSERT_NOT_NULL(test, x)	KUNIT_ASSERT_TRUE(test, x)
#define KUNIT_ASSERT_NOT_ERR_OR_NULL(test, x)	KUNIT_ASSERT_TRUE(test, x)
#define KUNIT_EXPECT_TRUE_MSG(test, x, ...)	KUNIT_CHECK(test, x, , __VA_ARGS__)
#define KUNIT_ASSERT_TRUE_MSG(test, x, ...) \
	KUNIT_CHECK(test, x, KUNIT_STOP(test), __VA_ARGS__)
#define KUNIT_EXPECT_PTR_EQ(test, a, b)	KUNIT_CHECK(test, (a) == (b), , "%s is not %s", #a, #b)
#define KUNIT_EXPECT_STREQ(test, a, b) \
	KUNIT_CHECK(test, !strcmp(a, b), , "\"%s\", expected \"%s\"", a, b)
#define KUNIT_EXPECT_STREQ_MSG(test, a, b, ...)	KUNIT_EXPECT_STREQ(test, a, b)

#endif /* KUNIT_USER_TEST_H */
