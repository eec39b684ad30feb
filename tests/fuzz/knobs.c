// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - fuzz the text of knobs, of `config` and of the parameter `policies`
 */
#include "input.h"

#include "control/knobs.h"

/* From knobs_rows.c, which is built once for each policy; tests/tables.py defines ROWS(). */
#define DECLARE(rows)	extern struct lmm_policy rows;
#define ADDRESS(rows)	&rows,
ROWS(DECLARE)

static struct lmm_policy *table[] = { ROWS(ADDRESS) };

/* A refusal says why, in one line that a terminal can show. */
static void refused(int err, const char *why, size_t len)
{
	size_t i, used = strnlen(why, len);

	MUST_BE(err == -EINVAL || err == -ERANGE);
	MUST_BE(used && used < len);
	for (i = 0; i < used; i++)
		MUST(isprint((u8)why[i]) ? 0 : why[i], ==, 0);
}

static void within(const struct lmm_policy *policy, const struct lmm_config *cfg)
{
	unsigned int i;

	for (i = 0; i < policy->nr_knobs; i++) {
		const struct lmm_knob *knob = &policy->knobs[i];

		if (knob->kind != LMM_KNOB_TEXT)
			MUST_BE(cfg->value[i] >= knob->min && cfg->value[i] <= knob->max);
	}
}

static void defaults(const struct lmm_policy *policy, struct lmm_config *cfg)
{
	unsigned int i;

	memset(cfg, 0, sizeof(*cfg));
	for (i = 0; i < policy->nr_knobs; i++)
		cfg->value[i] = policy->knobs[i].def;
}

/* A line of settings, which must read back as the same settings. */
static void comes_back(const struct lmm_policy *policy, const struct lmm_config *cfg)
{
	static struct lmm_config again;
	char line[4096], why[LMM_WHY_LEN] = "";
	char separator = cfg->value[0] & 1 ? ' ' : ',';
	size_t len = lmm_config_format(policy, cfg, separator, line, sizeof(line));

	MUST(len, <, sizeof(line) - 1);
	MUST(len, <=, lmm_policies_room(policy));
	defaults(policy, &again);
	MUST(lmm_config_parse(policy, line, len, &again, why, sizeof(why)), ==, 0);
	MUST_BE(!memcmp(again.value, cfg->value, sizeof(again.value)) &&
		again.enabled == cfg->enabled && !strcmp(again.text, cfg->text));
}

/* A refused text changes nothing; was the text refused? */
static bool unchanged(int err, const struct lmm_config *cfg, const struct lmm_config *before,
		      const char *why, size_t len)
{
	if (err) {
		refused(err, why, len);
		MUST_BE(!memcmp(cfg, before, sizeof(*cfg)));
	}
	return err;
}

static void one_line(struct input *input)
{
	const struct lmm_policy *policy = table[take_within(input, 0, LMM_NR_POLICIES - 1)];
	static struct lmm_config cfg, before;
	char why[LMM_WHY_LEN] = "";
	int err;

	defaults(policy, &cfg);
	before = cfg;
	err = lmm_config_parse(policy, (const char *)input->at, input->left, &cfg, why,
			       sizeof(why));
	if (unchanged(err, &cfg, &before, why, sizeof(why)))
		return;
	within(policy, &cfg);
	comes_back(policy, &cfg);
}

static void one_value(struct input *input)
{
	const struct lmm_policy *policy = table[take_within(input, 0, LMM_NR_POLICIES - 1)];
	unsigned int key = take_within(input, 0, policy->nr_knobs);
	char why[LMM_WHY_LEN] = "", text[LMM_TEXT_LEN + 64];
	static struct lmm_config cfg, before;
	size_t len;
	int err;

	defaults(policy, &cfg);
	before = cfg;
	err = lmm_key_parse(policy, key, (const char *)input->at, input->left, &cfg, why,
			    sizeof(why));
	if (unchanged(err, &cfg, &before, why, sizeof(why)))
		return;
	within(policy, &cfg);
	len = lmm_key_format(policy, &cfg, key, text, sizeof(text));
	before = cfg;
	MUST(lmm_key_parse(policy, key, text, len, &cfg, why, sizeof(why)), ==, 0);
	MUST_BE(!memcmp(&cfg, &before, sizeof(cfg)));
}

static void all(struct input *input)
{
	static struct lmm_config want[LMM_NR_POLICIES];
	char why[LMM_WHY_LEN] = "";
	unsigned int id, named;
	int err;

	for (id = 0; id < LMM_NR_POLICIES; id++)
		defaults(table[id], &want[id]);
	err = lmm_policies_parse(table, (const char *)input->at, input->left, want, &named, why,
				 sizeof(why));
	if (err) {
		refused(err, why, sizeof(why));
		return;
	}
	MUST(named, <, 1U << LMM_NR_POLICIES);
	for (id = 0; id < LMM_NR_POLICIES; id++) {
		within(table[id], &want[id]);
		comes_back(table[id], &want[id]);
	}
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = { one_line, one_value, all };
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
