/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * input.h - a fuzzer's bytes as numbers, and what must hold
 *
 * Each target includes the sources of a core and decodes the bytes into calls of the core.  When
 * the bytes are used up, every number is the lowest of its range, so each input ends.
 */
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include "kernel.h"

/**
 * struct input - what is left of the fuzzer's bytes
 * @at: next byte
 * @left: number of bytes
 */
struct input {
	const u8 *at;
	size_t left;
};

/* Unlike assert(), names the values that do not agree. */
#define MUST(left, op, right)						\
	do {								\
		long long must_left = (left), must_right = (right);	\
		if (!(must_left op must_right)) {			\
			fprintf(stderr, "%s:%d: not %s %s %s: %lld, %lld\n", __FILE__,	\
				__LINE__, #left, #op, #right, must_left, must_right);	\
			abort();					\
		}							\
	} while (0)

#define MUST_BE(condition)	MUST(!!(condition), ==, 1)

/* A number of @bytes bytes. */
static inline u64 take(struct input *input, unsigned int bytes)
{
	u64 value = 0;

	for (; bytes && input->left; bytes--, input->left--)
		value = value << 8 | *input->at++;
	return value;
}

static inline bool take_bool(struct input *input)
{
	return take(input, 1) & 1;
}

/* A number from @low to @high; as few bytes are used as the range needs. */
static inline u64 take_within(struct input *input, u64 low, u64 high)
{
	u64 range = high - low;

	return low + take(input, (fls64(range) + 7) / 8) % (range + 1);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif /* TESTS_FUZZ_INPUT_H */
