// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - text of files and parameters <-> settings; no kernel state, any context
 */
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/string_helpers.h>

#include "knobs.h"

/* Length of the part of a refused text that the reason repeats, and room for the part. */
#define LMM_SHOWN	40
#define LMM_QUOTE_LEN	(LMM_SHOWN * sizeof("\\377") + 1)

#define LMM_SEPARATORS	" \t,"

/* Digits stop counting here: more than any u32, and ten times the value fits a u64. */
#define LMM_SATURATED	BIT_ULL(40)

const char *const lmm_bool_words[3] = { "0", "1", NULL };

static const struct lmm_knob lmm_knob_enabled = LMM_BOOL("enabled");

/**
 * lmm_key() - the knob row behind a key
 * @policy: the policy
 * @key: a key, below lmm_nr_keys()
 *
 * Return: the row, never NULL.
 */
const struct lmm_knob *lmm_key(const struct lmm_policy *policy, unsigned int key)
{
	return key == LMM_KEY_ENABLED ? &lmm_knob_enabled : &policy->knobs[key - 1];
}

/**
 * lmm_chomp() - drop the newline that a text may end in
 * @text: the text
 *
 * Return: @text.
 */
char *lmm_chomp(char *text)
{
	size_t len = strlen(text);

	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

/* Text in which all but printable ASCII is escaped: a reason is a line for any terminal. */
static const char *lmm_quote(const char *text, char quote[LMM_QUOTE_LEN])
{
	int len = string_escape_mem(text, strnlen(text, LMM_SHOWN), quote, LMM_QUOTE_LEN - 1,
				    ESCAPE_ANY | ESCAPE_NAP, NULL);

	quote[len] = '\0';
	return len ? quote : "(empty)";
}

/* A reason; @policy stands before what was refused, or NULL. */
static int lmm_malformed(char *why, const struct lmm_policy *policy, const char *text,
			 const char *words)
{
	char quote[LMM_QUOTE_LEN];

	scnprintf(why, LMM_WHY_LEN, "%s%s%s: %s", policy ? policy->name : "", policy ? "/" : "",
		  lmm_quote(text, quote), words);
	return -EINVAL;
}

/* Digits; of tenths also a point and one more digit. */
static int lmm_number(const struct lmm_knob *knob, const char *text, u32 *value)
{
	const char *at = text;
	u64 sum = 0;

	for (; isdigit(*at); at++)
		sum = min(sum * 10 + (*at - '0'), LMM_SATURATED);
	if (at == text)
		return -EINVAL;
	if (knob->kind == LMM_KNOB_TENTHS) {
		sum *= 10;
		if (at[0] == '.' && isdigit(at[1])) {
			sum += at[1] - '0';
			at += 2;
		}
	}
	if (*at)
		return -EINVAL;
	if (sum < knob->min || sum > knob->max)
		return -ERANGE;
	*value = sum;
	return 0;
}

static int lmm_value(const struct lmm_knob *knob, const char *text, u32 *value)
{
	const char *at;
	u32 i;

	switch (knob->kind) {
	case LMM_KNOB_CHOICE:
		for (i = 0; knob->choices[i] && strcmp(text, knob->choices[i]); i++)
			;
		if (!knob->choices[i])
			return -EINVAL;
		*value = i;
		return 0;
	case LMM_KNOB_TEXT:
		for (at = text; *at; at++)
			if (!isascii(*at) || !isgraph(*at) || *at == ',' || *at == ';')
				return -EINVAL;
		return at - text < LMM_TEXT_LEN ? 0 : -ERANGE;
	default:
		return lmm_number(knob, text, value);
	}
}

/**
 * lmm_knob_parse() - read one value
 * @knob: row of the knob; for LMM_KNOB_TEXT only the kind is looked at
 * @text: the text
 * @value: the stored value, on success only, and not of an LMM_KNOB_TEXT
 * @why: reason, on failure
 * @len: size of @why
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int lmm_knob_parse(const struct lmm_knob *knob, const char *text, u32 *value, char *why,
		   size_t len)
{
	static const char *const malformed[] = {
		[LMM_KNOB_UINT] = "not a whole number",
		[LMM_KNOB_TENTHS] = "not a number with at most one decimal",
		[LMM_KNOB_CHOICE] = "not one of",
		[LMM_KNOB_TEXT] = "not plain text, or a blank, comma or semicolon in it",
	};
	int err = lmm_value(knob, text, value);
	char quote[LMM_QUOTE_LEN];
	size_t n, i;

	if (!err)
		return 0;
	n = scnprintf(why, len, "%s: %s: ", knob->name, lmm_quote(text, quote));
	if (err == -EINVAL) {
		n += scnprintf(why + n, len - n, "%s", malformed[knob->kind]);
		for (i = 0; knob->choices && knob->choices[i]; i++)
			n += scnprintf(why + n, len - n, " %s", knob->choices[i]);
	} else if (knob->kind == LMM_KNOB_TEXT) {
		scnprintf(why + n, len - n, "longer than %d characters", LMM_TEXT_LEN - 1);
	} else {
		n += scnprintf(why + n, len - n, "not in ");
		n += lmm_knob_format(knob, knob->min, why + n, len - n);
		n += scnprintf(why + n, len - n, "..");
		lmm_knob_format(knob, knob->max, why + n, len - n);
	}
	return err;
}

static int lmm_key_take(const struct lmm_policy *policy, unsigned int key, const char *text,
			struct lmm_delta *delta, char *why)
{
	const struct lmm_knob *knob = lmm_key(policy, key);
	size_t n = scnprintf(why, LMM_WHY_LEN, "%s/", policy->name);

	delta->keys |= BIT(key);
	if (knob->kind == LMM_KNOB_TEXT)
		delta->text = text;
	return lmm_knob_parse(knob, text, &delta->key[key], why + n, LMM_WHY_LEN - n);
}

/* One "key=value" of a line. */
static int lmm_word_parse(const struct lmm_policy *policy, char *value, struct lmm_delta *delta,
			  char *why)
{
	const char *name = strsep(&value, "=");
	unsigned int key;

	if (!value)
		return lmm_malformed(why, policy, name, "no = in it");
	for (key = 0; strcmp(name, lmm_key(policy, key)->name); key++)
		if (key == policy->nr_knobs)
			return lmm_malformed(why, policy, name, "no such knob");
	if (delta->keys & BIT(key))
		return lmm_malformed(why, policy, name, "given twice");
	return lmm_key_take(policy, key, value, delta, why);
}

static int lmm_line_parse(const struct lmm_policy *policy, char *line, struct lmm_delta *delta,
			  char *why)
{
	char *word;
	int err = 0;

	BUILD_BUG_ON(LMM_MAX_KNOBS + 1 > 32);

	while (!err && (word = strsep(&line, LMM_SEPARATORS)))
		if (*word)
			err = lmm_word_parse(policy, word, delta, why);
	return err;
}

/* One "name:line" of the policies grammar. */
static int lmm_section_parse(struct lmm_policy *const table[LMM_NR_POLICIES], char *line,
			     struct lmm_delta deltas[LMM_NR_POLICIES], char *why)
{
	const char *name = strsep(&line, ":");
	unsigned int id = 0;

	while (id < LMM_NR_POLICIES && !(table[id] && !strcmp(name, table[id]->name)))
		id++;
	if (id == LMM_NR_POLICIES)
		return lmm_malformed(why, NULL, name, "no such policy");
	if (!line)
		return lmm_malformed(why, NULL, name, "no : after the policy's name");
	if (deltas[id].keys)
		return lmm_malformed(why, NULL, name, "policy given twice");
	return lmm_line_parse(table[id], line, &deltas[id], why);
}

/**
 * lmm_parse() - read a text
 * @table: policies by id; NULL for a policy that is not registered
 * @policy: the policy that the text is for; NULL: the text names policies
 * @key: the key that the text is a value of, or LMM_ALL_KEYS: the text names keys
 * @text: the text, which is cut into words, and lives as long as @deltas
 * @deltas: empty; get what the text says of each policy, and are undefined on failure
 * @why: reason, on failure; undefined on success
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int lmm_parse(struct lmm_policy *const table[LMM_NR_POLICIES], const struct lmm_policy *policy,
	      unsigned int key, char *text, struct lmm_delta deltas[LMM_NR_POLICIES], char *why)
{
	char *section;
	int err = 0;

	if (policy && key == LMM_ALL_KEYS)
		return lmm_line_parse(policy, text, &deltas[policy->id], why);
	if (policy)
		return lmm_key_take(policy, key, text, &deltas[policy->id], why);
	while (!err && (section = strsep(&text, ";"))) {
		section += strspn(section, LMM_SEPARATORS);
		/* What follows the last semicolon may be empty. */
		if (text || *section)
			err = lmm_section_parse(table, section, deltas, why);
	}
	return err;
}

/**
 * lmm_delta_apply() - change settings as a text says
 * @policy: the policy of the settings
 * @delta: what the text says
 * @config: the settings, not published
 */
void lmm_delta_apply(const struct lmm_policy *policy, const struct lmm_delta *delta,
		     struct lmm_config *config)
{
	unsigned int key;

	for (key = 0; key < lmm_nr_keys(policy); key++) {
		if (!(delta->keys & BIT(key)))
			continue;
		config->key[key] = delta->key[key];
		if (lmm_key(policy, key)->kind == LMM_KNOB_TEXT)
			strscpy_pad(config->text, delta->text, sizeof(config->text));
	}
}

/**
 * lmm_knob_format() - print one value as lmm_knob_parse() reads it
 * @knob: row of the knob, not LMM_KNOB_TEXT
 * @value: the stored value
 * @buf: destination
 * @len: size of @buf
 *
 * Return: characters in @buf without the NUL.
 */
int lmm_knob_format(const struct lmm_knob *knob, u32 value, char *buf, size_t len)
{
	if (knob->kind == LMM_KNOB_CHOICE)
		return scnprintf(buf, len, "%s", knob->choices[value]);
	if (knob->kind == LMM_KNOB_TENTHS && value % 10)
		return scnprintf(buf, len, "%u.%u", value / 10, value % 10);
	return scnprintf(buf, len, "%u", knob->kind == LMM_KNOB_TENTHS ? value / 10 : value);
}

static size_t lmm_key_format(const struct lmm_policy *policy, const struct lmm_config *config,
			     unsigned int key, char *buf, size_t len)
{
	const struct lmm_knob *knob = lmm_key(policy, key);

	if (knob->kind == LMM_KNOB_TEXT)
		return scnprintf(buf, len, "%s", config->text);
	return lmm_knob_format(knob, READ_ONCE(config->key[key]), buf, len);
}

/**
 * lmm_format() - print settings as lmm_parse() reads them
 * @policy: the policy of the settings
 * @key: the key to print, or LMM_ALL_KEYS: a line with all
 * @config: the settings
 * @separator: character between two keys, ' ' or ','
 * @buf: destination
 * @len: size of @buf
 *
 * Return: characters in @buf without the NUL.
 */
size_t lmm_format(const struct lmm_policy *policy, unsigned int key,
		  const struct lmm_config *config, char separator, char *buf, size_t len)
{
	size_t n = 0;

	if (key != LMM_ALL_KEYS)
		return lmm_key_format(policy, config, key, buf, len);
	for (key = 0; key < lmm_nr_keys(policy); key++) {
		if (key)
			n += scnprintf(buf + n, len - n, "%c", separator);
		n += scnprintf(buf + n, len - n, "%s=", lmm_key(policy, key)->name);
		n += lmm_key_format(policy, config, key, buf + n, len - n);
	}
	return n;
}
