// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_user.c - suites of pure cores, in one program of user space
 *
 * Prints KTAP.  With arguments, only suites run whose name contains an argument.  Exit status 0
 * if there were cases and all have passed.
 */
#include "test.h"

void *kunit_user_alloc(struct kunit *test, size_t size)
{
	void *block = calloc(1, size);

	if (!block || test->nr_blocks == ARRAY_SIZE(test->blocks))
		abort();
	test->blocks[test->nr_blocks++] = block;
	return block;
}

void kunit_user_fail(struct kunit *test, const char *file, int line, const char *format, ...)
{
	va_list args;

	test->failed = true;
	printf("    # %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

#define ADD_SUITES(...)	static struct kunit_suite *const suites[] = { __VA_ARGS__ }
#include "../core_suites.h"

/* Run a case once; return whether the case has passed. */
static bool run_once(const struct kunit_suite *suite, const struct kunit_case *one,
		     const void *param)
{
	struct kunit test = { .param_value = param };

	if (!setjmp(test.end)) {
		if (suite->init && suite->init(&test))
			KUNIT_FAIL(&test, "the suite's init has failed");
		else
			one->run_case(&test);
	}
	if (suite->exit)
		suite->exit(&test);
	while (test.nr_blocks)
		free(test.blocks[--test.nr_blocks]);
	return !test.failed;
}

static bool result(bool good, unsigned int nr, const char *name, const char *desc)
{
	printf("    %s %u %s%s%s\n", good ? "ok" : "not ok", nr, name, desc ? ": " : "",
	       desc ?: "");
	return good;
}

/* Return the number of failed cases; @passed counts the others. */
static unsigned int run_suite(const struct kunit_suite *suite, unsigned int *passed)
{
	char desc[KUNIT_PARAM_DESC_SIZE];
	unsigned int nr = 0, failed = 0;
	const struct kunit_case *one;
	const void *param;

	for (one = suite->test_cases; one->run_case; one++) {
		if (!one->generate_params) {
			nr++;
			failed += !result(run_once(suite, one, NULL), nr, one->name, NULL);
			continue;
		}
		for (param = one->generate_params(NULL, desc); param;
		     param = one->generate_params(param, desc)) {
			nr++;
			failed += !result(run_once(suite, one, param), nr, one->name, desc);
		}
	}
	printf("    1..%u\n", nr);
	*passed += nr - failed;
	return failed;
}

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (strstr(name, argv[i]))
			return true;
	return argc <= 1;
}

int main(int argc, char **argv)
{
	unsigned int i, nr = 0, passed = 0, failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("KTAP version 1");
	for (i = 0; i < ARRAY_SIZE(suites); i++) {
		unsigned int bad;

		if (!wanted(suites[i]->name, argc, argv))
			continue;
		printf("    KTAP version 1\n    # Subtest: %s\n", suites[i]->name);
		bad = run_suite(suites[i], &passed);
		failed += bad;
		printf("%s %u %s\n", bad ? "not ok" : "ok", ++nr, suites[i]->name);
	}
	printf("1..%u\n", nr);
	return failed || !passed;
}
