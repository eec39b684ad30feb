// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs_user.c - the module's knobs, counters and their grammar, as a program of user space
 *
 *	knobs			print the tables of all policies as JSON
 *	knobs PRESENT WANTED	judge a write of WANTED to the parameter policies, with PRESENT as
 *				the settings before; print the settings afterwards, or the
 *				number of the error and the reason
 *
 * tests/tables.py builds the program, once for each release of the kernel, with LMM_KNOB_DOCS: rows
 * have units and meanings.
 */
#include "kernel.h"

#include "control/knobs.h"

/*
 * From knobs_rows.c, which is built once for each policy.  tests/tables.py defines ROWS(), with
 * the policies in the order of enum lmm_policy_id.
 */
#define DECLARE(rows)	extern struct lmm_policy rows;
ROWS(DECLARE)
#define ADDRESS(rows)	&rows,
static struct lmm_policy *policies[] = { ROWS(ADDRESS) };

int numa_validate(struct lmm_policy *policy, const struct lmm_config *cfg, char *why, size_t len);

static const char *const kinds[] = {
	[LMM_KNOB_UINT] = "UINT",
	[LMM_KNOB_TENTHS] = "TENTHS",
	[LMM_KNOB_CHOICE] = "CHOICE",
	[LMM_KNOB_TEXT] = "TEXT",
};

static void print_knob(const struct lmm_knob *knob)
{
	char text[3][64] = { "", "", "" };
	unsigned int i;

	if (knob->kind != LMM_KNOB_TEXT) {
		lmm_knob_format(knob, knob->min, text[0], sizeof(text[0]));
		lmm_knob_format(knob, knob->max, text[1], sizeof(text[1]));
		lmm_knob_format(knob, knob->def, text[2], sizeof(text[2]));
	}
	printf("{\"name\": \"%s\", \"kind\": \"%s\", \"low\": \"%s\", \"high\": \"%s\", ",
	       knob->name, kinds[knob->kind], text[0], text[1]);
	printf("\"default\": \"%s\", \"unit\": \"%s\", \"text\": \"%s\", \"choices\": [", text[2],
	       knob->unit, knob->text);
	for (i = 0; knob->choices && knob->choices[i]; i++)
		printf("%s\"%s\"", i ? ", " : "", knob->choices[i]);
	printf("]}");
}

static void print_tables(void)
{
	unsigned int id, i;

	printf("{");
	for (id = 0; id < LMM_NR_POLICIES; id++) {
		const struct lmm_policy *policy = policies[id];

		printf("%s\n\"%s\": {\"knobs\": [", id ? "," : "", policy->name);
		for (i = 0; i < policy->nr_knobs; i++) {
			printf("%s\n  ", i ? "," : "");
			print_knob(&policy->knobs[i]);
		}
		printf("],\n  \"counters\": [");
		for (i = 0; i < policy->nr_counters; i++)
			printf("%s\"%s\"", i ? ", " : "", policy->counter_names[i]);
		printf("]}");
	}
	printf("\n}\n");
}

static int judge(char *present, char *wanted)
{
	static struct lmm_config settings[LMM_NR_POLICIES];
	char why[LMM_WHY_LEN] = "", reason[LMM_WHY_LEN - 8] = "", line[4096];
	char *const texts[] = { present, wanted };
	unsigned int id, i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(texts) && !err; i++) {
		struct lmm_delta deltas[LMM_NR_POLICIES] = { };

		err = lmm_parse(policies, NULL, 0, lmm_chomp(texts[i]), deltas, why);
		for (id = 0; id < LMM_NR_POLICIES && !err; id++)
			lmm_delta_apply(policies[id], &deltas[id], &settings[id]);
	}
	if (!err) {
		err = numa_validate(policies[LMM_NUMA], &settings[LMM_NUMA], reason,
				    sizeof(reason));
		if (err)
			snprintf(why, sizeof(why), "numa/%s", reason);
	}
	if (err) {
		printf("%d %s\n", -err, why);
		return 1;
	}
	for (id = 0; id < LMM_NR_POLICIES; id++) {
		lmm_format(policies[id], LMM_ALL_KEYS, &settings[id], ',', line,
			   sizeof(line));
		printf("%s%s:%s", id ? ";" : "", policies[id]->name, line);
	}
	putchar('\n');
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3)
		return judge(argv[1], argv[2]);
	print_tables();
	return 0;
}
