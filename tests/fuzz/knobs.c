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

/* The rest of the input as a text, which the grammar cuts; a file refuses a text with a NUL. */
static char *text_of(const struct input *input)
{
	static char text[4097];
	size_t len = min_t(size_t, input->left, sizeof(text) - 1);

	memcpy(text, input->at, len);
	text[len] = '\0';
	return lmm_chomp(text);
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

static void defaults(const struct lmm_policy *policy, struct lmm_config *config)
{
	unsigned int i;

	memset(config, 0, sizeof(*config));
	for (i = 0; i < policy->nr_knobs; i++)
		config->value[i] = policy->knobs[i].def;
}

/* Settings as a text says; a line of them must read back as the same settings. */
static void comes_back(const struct lmm_policy *policy, const struct lmm_delta *delta)
{
	static struct lmm_config now, again;
	char line[4096], why[LMM_WHY_LEN] = "";
	struct lmm_delta backs[LMM_NR_POLICIES] = { };
	size_t len;

	defaults(policy, &now);
	lmm_delta_apply(policy, delta, &now);
	within(policy, &now);
	len = lmm_format(policy, LMM_ALL_KEYS, &now, now.value[0] & 1 ? ' ' : ',', line,
			 sizeof(line));
	MUST(len, <, sizeof(line) - 1);
	MUST(lmm_parse(table, policy, LMM_ALL_KEYS, line, backs, why), ==, 0);
	MUST(backs[policy->id].keys, ==, (1U << lmm_nr_keys(policy)) - 1);
	defaults(policy, &again);
	lmm_delta_apply(policy, &backs[policy->id], &again);
	MUST_BE(!memcmp(&again, &now, sizeof(now)));
}

static void one_line(struct input *input)
{
	const struct lmm_policy *policy = table[take_within(input, 0, LMM_NR_POLICIES - 1)];
	struct lmm_delta deltas[LMM_NR_POLICIES] = { };
	char why[LMM_WHY_LEN] = "";
	int err;

	err = lmm_parse(table, policy, LMM_ALL_KEYS, text_of(input), deltas, why);
	if (err)
		refused(err, why, sizeof(why));
	else
		comes_back(policy, &deltas[policy->id]);
}

static void one_value(struct input *input)
{
	const struct lmm_policy *policy = table[take_within(input, 0, LMM_NR_POLICIES - 1)];
	unsigned int key = take_within(input, 0, policy->nr_knobs);
	char why[LMM_WHY_LEN] = "", text[LMM_TEXT_LEN + 64];
	struct lmm_delta deltas[LMM_NR_POLICIES] = { }, delta;
	static struct lmm_config now, again;
	int err;

	err = lmm_parse(table, policy, key, text_of(input), deltas, why);
	delta = deltas[policy->id];
	if (err) {
		refused(err, why, sizeof(why));
		return;
	}
	MUST(delta.keys, ==, 1U << key);
	comes_back(policy, &delta);
	defaults(policy, &now);
	lmm_delta_apply(policy, &delta, &now);
	lmm_format(policy, key, &now, ' ', text, sizeof(text));
	memset(deltas, 0, sizeof(deltas));
	MUST(lmm_parse(table, policy, key, text, deltas, why), ==, 0);
	defaults(policy, &again);
	lmm_delta_apply(policy, &deltas[policy->id], &again);
	MUST_BE(!memcmp(&again, &now, sizeof(now)));
}

static void all(struct input *input)
{
	struct lmm_delta deltas[LMM_NR_POLICIES] = { };
	char why[LMM_WHY_LEN] = "";
	unsigned int id;
	int err;

	err = lmm_parse(table, NULL, 0, text_of(input), deltas, why);
	if (err) {
		refused(err, why, sizeof(why));
		return;
	}
	for (id = 0; id < LMM_NR_POLICIES; id++)
		comes_back(table[id], &deltas[id]);
}

/* Entry of libFuzzer. */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *input) = { one_line, one_value, all };
	struct input input = { data, size };

	parts[take_within(&input, 0, ARRAY_SIZE(parts) - 1)](&input);
	return 0;
}
