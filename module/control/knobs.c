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

/* Length of the part of a refused text that the reason repeats. */
#define LMM_SHOWN	40

/* Digits stop counting here: more than any u32, and ten times the value fits a u64. */
#define LMM_SATURATED	BIT_ULL(40)

/* Room for a u32 in tenths. */
#define LMM_NUM_LEN	12

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

static struct lmm_span lmm_text(const char *text, size_t len)
{
	if (len && text[len - 1] == '\n')
		len--;
	return (struct lmm_span){ text, len };
}

static bool lmm_span_is(struct lmm_span span, const char *word)
{
	return strlen(word) == span.len && !memcmp(word, span.at, span.len);
}

/* Cut what is before the first @split off the front of @rest, the whole where there is none. */
static struct lmm_span lmm_cut(struct lmm_span *rest, char split)
{
	const char *end = rest->len ? memchr(rest->at, split, rest->len) : NULL;
	struct lmm_span first = { rest->at, end ? end - rest->at : rest->len };

	rest->at += first.len + !!end;
	rest->len -= first.len + !!end;
	return first;
}

static bool lmm_is_separator(char c)
{
	return c == ' ' || c == '\t' || c == ',';
}

static struct lmm_span lmm_strip(struct lmm_span span, bool at_end)
{
	for (; span.len && lmm_is_separator(span.at[0]); span.len--)
		span.at++;
	while (at_end && span.len && lmm_is_separator(span.at[span.len - 1]))
		span.len--;
	return span;
}

/* Text in which all but printable ASCII is escaped: a reason is a line for any terminal. */
struct lmm_quote {
	char text[LMM_SHOWN * sizeof("\\377") + 1];
};

static const char *lmm_quote(struct lmm_span span, struct lmm_quote *quote)
{
	int len = string_escape_mem(span.at, min_t(size_t, span.len, LMM_SHOWN), quote->text,
				    sizeof(quote->text) - 1, ESCAPE_ANY | ESCAPE_NAP, NULL);

	quote->text[len] = '\0';
	return span.len ? quote->text : "(empty)";
}

/* A reason; @where and @slash stand before what was refused. */
static int lmm_malformed(char *why, const char *where, const char *slash, struct lmm_span span,
			 const char *words)
{
	struct lmm_quote quote;

	scnprintf(why, LMM_WHY_LEN, "%s%s%s: %s", where, slash, lmm_quote(span, &quote), words);
	return -EINVAL;
}

/* Digits; of tenths also a point and one more digit. */
static int lmm_number(const struct lmm_knob *knob, struct lmm_span span, u32 *value)
{
	bool tenths = knob->kind == LMM_KNOB_TENTHS;
	bool point = tenths && span.len > 2 && span.at[span.len - 2] == '.';
	u64 sum = 0;
	size_t i;

	if (!span.len)
		return -EINVAL;
	for (i = 0; i < span.len; i++) {
		if (point && i == span.len - 2)
			continue;
		if (!isdigit(span.at[i]))
			return -EINVAL;
		sum = min(sum * 10 + (span.at[i] - '0'), LMM_SATURATED);
	}
	if (tenths && !point)
		sum *= 10;
	if (sum < knob->min || sum > knob->max)
		return -ERANGE;
	*value = sum;
	return 0;
}

static int lmm_value(const struct lmm_knob *knob, struct lmm_span span, u32 *value)
{
	size_t i;

	switch (knob->kind) {
	case LMM_KNOB_CHOICE:
		for (i = 0; knob->choices[i]; i++) {
			*value = i;
			if (lmm_span_is(span, knob->choices[i]))
				return 0;
		}
		return -EINVAL;
	case LMM_KNOB_TEXT:
		for (i = 0; i < span.len; i++) {
			char c = span.at[i];

			if (!isascii(c) || !isgraph(c) || c == ',' || c == ';')
				return -EINVAL;
		}
		return span.len < LMM_TEXT_LEN ? 0 : -ERANGE;
	default:
		return lmm_number(knob, span, value);
	}
}

/* Why a text is no value of a knob. */
static void lmm_words(const struct lmm_knob *knob, int err, char *why, size_t len)
{
	static const char *const malformed[] = {
		[LMM_KNOB_UINT] = "not a whole number",
		[LMM_KNOB_TENTHS] = "not a number with at most one decimal",
		[LMM_KNOB_CHOICE] = "not one of",
		[LMM_KNOB_TEXT] = "not plain text, or a blank, comma or semicolon in it",
	};
	char low[LMM_NUM_LEN], high[LMM_NUM_LEN];
	size_t n;
	u32 i;

	if (err == -ERANGE && knob->kind == LMM_KNOB_TEXT) {
		scnprintf(why, len, "longer than %d characters", LMM_TEXT_LEN - 1);
	} else if (err == -ERANGE) {
		lmm_knob_format(knob, knob->min, low, sizeof(low));
		lmm_knob_format(knob, knob->max, high, sizeof(high));
		scnprintf(why, len, "not in %s..%s", low, high);
	} else {
		n = scnprintf(why, len, "%s", malformed[knob->kind]);
		for (i = 0; knob->kind == LMM_KNOB_CHOICE && knob->choices[i]; i++)
			n += scnprintf(why + n, len - n, " %s", knob->choices[i]);
	}
}

/* @before stands before the knob's name in a reason. */
static int lmm_span_parse(const char *before, const char *slash, const struct lmm_knob *knob,
			  struct lmm_span span, u32 *value, char *why)
{
	struct lmm_quote quote;
	u32 stored = 0;
	size_t n;
	int err;

	err = lmm_value(knob, span, &stored);
	if (err) {
		n = scnprintf(why, LMM_WHY_LEN, "%s%s%s: %s: ", before, slash, knob->name,
			      lmm_quote(span, &quote));
		lmm_words(knob, err, why + n, LMM_WHY_LEN - n);
	} else {
		*value = stored;
	}
	return err;
}

/**
 * lmm_knob_parse() - read one value
 * @knob: row of the knob; for LMM_KNOB_TEXT only the kind is looked at
 * @text: the text
 * @len: bytes in @text
 * @value: the stored value, on success only
 * @why: reason, on failure
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int lmm_knob_parse(const struct lmm_knob *knob, const char *text, size_t len, u32 *value,
		   char *why)
{
	return lmm_span_parse("", "", knob, lmm_text(text, len), value, why);
}

static int lmm_key_take(const struct lmm_policy *policy, unsigned int key, struct lmm_span span,
			struct lmm_delta *delta, char *why)
{
	const struct lmm_knob *knob = lmm_key(policy, key);
	u32 value;
	int err;

	err = lmm_span_parse(policy->name, "/", knob, span, &value, why);
	if (err)
		return err;
	delta->keys |= BIT(key);
	if (knob->kind == LMM_KNOB_TEXT)
		delta->text = span;
	else if (key == LMM_KEY_ENABLED)
		delta->enabled = value;
	else
		delta->value[key - 1] = value;
	return 0;
}

/* One "key=value" of a line. */
static int lmm_word_parse(const struct lmm_policy *policy, struct lmm_span word,
			  struct lmm_delta *delta, char *why)
{
	struct lmm_span value = word, name = lmm_cut(&value, '=');
	unsigned int key;

	if (name.len == word.len)
		return lmm_malformed(why, policy->name, ": ", name, "no = in it");
	for (key = 0; !lmm_span_is(name, lmm_key(policy, key)->name); key++)
		if (key == policy->nr_knobs)
			return lmm_malformed(why, policy->name, "/", name, "no such knob");
	if (delta->keys & BIT(key))
		return lmm_malformed(why, policy->name, "/", name, "given twice");
	return lmm_key_take(policy, key, value, delta, why);
}

static int lmm_line_parse(const struct lmm_policy *policy, struct lmm_span line,
			  struct lmm_delta *delta, char *why)
{
	struct lmm_span word;
	int err = 0;

	BUILD_BUG_ON(LMM_MAX_KNOBS + 1 > 32);

	for (line = lmm_strip(line, false); line.len && !err; line = lmm_strip(line, false)) {
		word = (struct lmm_span){ line.at, 0 };
		while (word.len < line.len && !lmm_is_separator(word.at[word.len]))
			word.len++;
		line.at += word.len;
		line.len -= word.len;
		err = lmm_word_parse(policy, word, delta, why);
	}
	return err;
}

/* One "name:line" of the policies grammar. */
static int lmm_section_parse(struct lmm_policy *const table[LMM_NR_POLICIES],
			     struct lmm_span section, struct lmm_delta deltas[LMM_NR_POLICIES],
			     unsigned int *named, char *why)
{
	struct lmm_span line = section, name = lmm_cut(&line, ':');
	unsigned int id = 0;

	while (id < LMM_NR_POLICIES && !(table[id] && lmm_span_is(name, table[id]->name)))
		id++;
	if (id == LMM_NR_POLICIES)
		return lmm_malformed(why, "", "", name, "no such policy");
	if (name.len == section.len)
		return lmm_malformed(why, "", "", name, "no : after the policy's name");
	if (*named & BIT(id))
		return lmm_malformed(why, "", "", name, "policy given twice");
	*named |= BIT(id);
	return lmm_line_parse(table[id], line, &deltas[id], why);
}

/**
 * lmm_parse() - read a text
 * @table: policies by id; NULL for a policy that is not registered
 * @policy: the policy that the text is for; NULL: the text names policies
 * @key: the key that the text is a value of, or LMM_ALL_KEYS: the text names keys
 * @text: the text
 * @len: bytes in @text
 * @deltas: empty; get what the text says of each policy, and are undefined on failure
 * @why: reason, on failure
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int lmm_parse(struct lmm_policy *const table[LMM_NR_POLICIES], const struct lmm_policy *policy,
	      unsigned int key, const char *text, size_t len,
	      struct lmm_delta deltas[LMM_NR_POLICIES], char *why)
{
	struct lmm_span rest = lmm_text(text, len);
	unsigned int named = 0;
	int err = 0;

	if (policy && key == LMM_ALL_KEYS)
		return lmm_line_parse(policy, rest, &deltas[policy->id], why);
	if (policy)
		return lmm_key_take(policy, key, rest, &deltas[policy->id], why);
	rest = lmm_strip(rest, true);
	while (rest.len && !err)
		err = lmm_section_parse(table, lmm_strip(lmm_cut(&rest, ';'), true), deltas,
					&named, why);
	return err;
}

/**
 * lmm_config_size() - room for a policy's settings
 * @policy: the policy
 *
 * Return: size of a struct lmm_config with its text, in bytes.
 */
size_t lmm_config_size(const struct lmm_policy *policy)
{
	unsigned int i;

	for (i = 0; i < policy->nr_knobs; i++)
		if (policy->knobs[i].kind == LMM_KNOB_TEXT)
			return sizeof(struct lmm_config) + LMM_TEXT_LEN;
	return sizeof(struct lmm_config) + 1;
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
	unsigned int i;

	if (delta->keys & BIT(LMM_KEY_ENABLED))
		config->enabled = delta->enabled;
	for (i = 0; i < policy->nr_knobs; i++) {
		if (!(delta->keys & BIT(i + 1)))
			continue;
		if (policy->knobs[i].kind == LMM_KNOB_TEXT) {
			memcpy(config->text, delta->text.at, delta->text.len);
			memset(config->text + delta->text.len, 0,
			       LMM_TEXT_LEN - delta->text.len);
		}
		config->value[i] = delta->value[i];
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
	return lmm_knob_format(knob, key == LMM_KEY_ENABLED ? READ_ONCE(config->enabled) :
			       config->value[key - 1], buf, len);
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
