// SPDX-License-Identifier: GPL-2.0-only
/*
 * knobs.c - text of files and parameters <-> struct lmm_config; no kernel state, any context
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

/* Part of a text; not NUL-terminated. */
struct lmm_span {
	const char *at;
	size_t len;
};

static const struct lmm_knob lmm_knob_enabled = LMM_BOOL("enabled", 0);

/**
 * lmm_key() - the knob row behind a key
 * @policy: the policy
 * @key: a key, below lmm_nr_keys()
 *
 * Return: the row, never NULL.
 */
const struct lmm_knob *lmm_key(const struct lmm_policy *policy, unsigned int key)
{
	return key == LMM_KEY_ENABLED ? &lmm_knob_enabled :
					&policy->knobs[key - 1];
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

/* Text in which all but printable ASCII is escaped: a reason is a line for any terminal. */
struct lmm_quote {
	char text[LMM_SHOWN * sizeof("\\377") + 1];
};

static const char *lmm_quote(struct lmm_span span, struct lmm_quote *quote)
{
	int len = string_escape_mem(span.at, min_t(size_t, span.len, LMM_SHOWN), quote->text,
				    sizeof(quote->text) - 1, ESCAPE_ANY | ESCAPE_NAP, NULL);

	quote->text[len] = '\0';
	return quote->text;
}

static int lmm_digits(struct lmm_span span, u64 *value)
{
	u64 sum = 0;
	size_t i;

	if (!span.len)
		return -EINVAL;
	for (i = 0; i < span.len; i++) {
		if (!isdigit(span.at[i]))
			return -EINVAL;
		sum = min(sum * 10 + (span.at[i] - '0'), LMM_SATURATED);
	}
	*value = sum;
	return 0;
}

static int lmm_tenths(struct lmm_span span, u64 *value)
{
	const char *point = span.len ? memchr(span.at, '.', span.len) : NULL;
	struct lmm_span whole = span;
	u64 ones, tenth = 0;

	if (point) {
		struct lmm_span rest = { point + 1,
					 span.at + span.len - point - 1 };

		whole.len = point - span.at;
		if (rest.len != 1 || lmm_digits(rest, &tenth))
			return -EINVAL;
	}
	if (lmm_digits(whole, &ones))
		return -EINVAL;
	*value = ones * 10 + tenth;
	return 0;
}

static int lmm_choice(const struct lmm_knob *knob, struct lmm_span span, u32 *value)
{
	u32 i;

	for (i = 0; knob->choices[i]; i++) {
		if (lmm_span_is(span, knob->choices[i])) {
			*value = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int lmm_plain(struct lmm_span span)
{
	size_t i;

	for (i = 0; i < span.len; i++) {
		char c = span.at[i];

		if (!isascii(c) || !isgraph(c) || c == ',' || c == ';')
			return -EINVAL;
	}
	return span.len < LMM_TEXT_LEN ? 0 : -ERANGE;
}

static int lmm_value(const struct lmm_knob *knob, struct lmm_span span, u32 *value)
{
	u64 number = 0;
	int err = -EINVAL;

	switch (knob->kind) {
	case LMM_KNOB_BOOL:
		if (!lmm_span_is(span, "0") && !lmm_span_is(span, "1"))
			return -EINVAL;
		*value = span.at[0] - '0';
		return 0;
	case LMM_KNOB_CHOICE:
		return lmm_choice(knob, span, value);
	case LMM_KNOB_UINT:
		err = lmm_digits(span, &number);
		break;
	case LMM_KNOB_TENTHS:
		err = lmm_tenths(span, &number);
		break;
	case LMM_KNOB_TEXT:
		*value = 0;
		return lmm_plain(span);
	}
	if (err)
		return err;
	if (number < knob->min || number > knob->max)
		return -ERANGE;
	*value = number;
	return 0;
}

/* Why a text is no value of a knob. */
static void lmm_words(const struct lmm_knob *knob, int err, char *why, size_t len)
{
	static const char *const malformed[] = {
		[LMM_KNOB_UINT] = "not a whole number",
		[LMM_KNOB_TENTHS] = "not a number with at most one decimal",
		[LMM_KNOB_BOOL] = "not 0 or 1",
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

static int lmm_span_parse(const char *where, const struct lmm_knob *knob, struct lmm_span span,
			  u32 *value, char *why, size_t len)
{
	static const struct lmm_span empty = { "(empty)", 7 };
	int err = lmm_value(knob, span, value);
	struct lmm_quote quote;
	size_t n;

	if (!err)
		return 0;
	if (!span.len)
		span = empty;
	n = scnprintf(why, len, "%s%s%s: %s: ", where ?: "", where ? "/" : "",
		      knob->name, lmm_quote(span, &quote));
	lmm_words(knob, err, why + n, len - n);
	return err;
}

/* Judge the text of one key and, unless @cfg is NULL, store it. */
static int lmm_key_take(const struct lmm_policy *policy, unsigned int key, struct lmm_span span,
			struct lmm_config *cfg, char *why, size_t len)
{
	const struct lmm_knob *knob = lmm_key(policy, key);
	u32 value;
	int err;

	err = lmm_span_parse(policy->name, knob, span, &value, why, len);
	if (err || !cfg)
		return err;
	if (knob->kind == LMM_KNOB_TEXT) {
		memcpy(cfg->text, span.at, span.len);
		memset(cfg->text + span.len, 0, LMM_TEXT_LEN - span.len);
	} else if (key == LMM_KEY_ENABLED) {
		cfg->enabled = value;
	} else {
		cfg->value[key - 1] = value;
	}
	return 0;
}

/**
 * lmm_key_parse() - read one key, value or text, into settings
 * @policy: the policy of the key
 * @key: the key, below lmm_nr_keys()
 * @text: the text
 * @len: bytes in @text
 * @cfg: settings to change; unchanged on failure
 * @why: reason, on failure
 * @why_len: size of @why
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int lmm_key_parse(const struct lmm_policy *policy, unsigned int key, const char *text, size_t len,
		  struct lmm_config *cfg, char *why, size_t why_len)
{
	return lmm_key_take(policy, key, lmm_text(text, len), cfg, why, why_len);
}

/**
 * lmm_knob_parse() - read one value
 * @where: the policy's name for the reason, or NULL
 * @knob: row of the knob; for LMM_KNOB_TEXT only the kind is looked at
 * @text: the text
 * @len: bytes in @text
 * @value: the stored value, on success only
 * @why: reason, on failure
 * @why_len: size of @why
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int lmm_knob_parse(const char *where, const struct lmm_knob *knob, const char *text, size_t len,
		   u32 *value, char *why, size_t why_len)
{
	return lmm_span_parse(where, knob, lmm_text(text, len), value, why, why_len);
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

/**
 * lmm_key_format() - print one key as lmm_key_parse() reads it
 * @policy: the policy of the key
 * @cfg: the settings
 * @key: the key, below lmm_nr_keys()
 * @buf: destination
 * @len: size of @buf
 *
 * Return: characters in @buf without the NUL.
 */
size_t lmm_key_format(const struct lmm_policy *policy, const struct lmm_config *cfg,
		      unsigned int key, char *buf, size_t len)
{
	const struct lmm_knob *knob = lmm_key(policy, key);

	if (knob->kind == LMM_KNOB_TEXT)
		return scnprintf(buf, len, "%s", cfg->text);
	return lmm_knob_format(knob, key == LMM_KEY_ENABLED ? cfg->enabled :
			       cfg->value[key - 1], buf, len);
}

static bool lmm_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool lmm_is_separator(char c)
{
	return lmm_is_blank(c) || c == ',';
}

/* Cut the next word off the front of @line; an empty word means the end. */
static struct lmm_span lmm_next_word(struct lmm_span *line)
{
	struct lmm_span word;

	while (line->len && lmm_is_separator(line->at[0])) {
		line->at++;
		line->len--;
	}
	word = (struct lmm_span){ line->at, 0 };
	while (word.len < line->len && !lmm_is_separator(word.at[word.len]))
		word.len++;
	line->at += word.len;
	line->len -= word.len;
	return word;
}

static int lmm_key_find(const struct lmm_policy *policy, struct lmm_span name)
{
	unsigned int key;

	for (key = 0; key < lmm_nr_keys(policy); key++) {
		if (lmm_span_is(name, lmm_key(policy, key)->name))
			return key;
	}
	return -EINVAL;
}

static int lmm_word_parse(const struct lmm_policy *policy, struct lmm_span word,
			  struct lmm_config *cfg, u32 *seen, char *why, size_t len)
{
	const char *equals = memchr(word.at, '=', word.len);
	struct lmm_span name = word, text;
	const char *words = NULL;
	struct lmm_quote quote;
	int key = -EINVAL;

	if (!equals) {
		scnprintf(why, len, "%s: %s: no = in it", policy->name, lmm_quote(word, &quote));
		return -EINVAL;
	}
	name.len = equals - word.at;
	text = (struct lmm_span){ equals + 1, word.len - name.len - 1 };
	key = lmm_key_find(policy, name);
	if (key < 0)
		words = "no such knob";
	else if (*seen & BIT(key))
		words = "given twice";
	if (words) {
		scnprintf(why, len, "%s/%s: %s", policy->name, lmm_quote(name, &quote), words);
		return -EINVAL;
	}
	*seen |= BIT(key);
	return lmm_key_take(policy, key, text, cfg, why, len);
}

static int lmm_words_parse(const struct lmm_policy *policy, struct lmm_span line,
			   struct lmm_config *cfg, char *why, size_t len)
{
	struct lmm_span word;
	u32 seen = 0;
	int err;

	BUILD_BUG_ON(LMM_MAX_KNOBS + 1 > 32);

	for (word = lmm_next_word(&line); word.len;
	     word = lmm_next_word(&line)) {
		err = lmm_word_parse(policy, word, cfg, &seen, why, len);
		if (err)
			return err;
	}
	return 0;
}

/* A refused word undoes the words before: judge all words, then store. */
static int lmm_line_parse(const struct lmm_policy *policy, struct lmm_span line,
			  struct lmm_config *cfg, char *why, size_t len)
{
	return lmm_words_parse(policy, line, NULL, why, len) ?:
	       lmm_words_parse(policy, line, cfg, why, len);
}

/**
 * lmm_config_parse() - read a line of key=value into settings
 * @policy: the policy of the keys
 * @text: the line
 * @len: bytes in @text
 * @cfg: settings to change; unchanged on failure
 * @why: reason, on failure
 * @why_len: size of @why
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int lmm_config_parse(const struct lmm_policy *policy, const char *text, size_t len,
		     struct lmm_config *cfg, char *why, size_t why_len)
{
	return lmm_line_parse(policy, lmm_text(text, len), cfg, why, why_len);
}

/**
 * lmm_config_format() - print settings as the line that recreates them
 * @policy: the policy of the keys
 * @cfg: the settings
 * @separator: character between two keys, ' ' or ','
 * @buf: destination
 * @len: size of @buf
 *
 * Return: characters in @buf without the NUL.
 */
size_t lmm_config_format(const struct lmm_policy *policy, const struct lmm_config *cfg,
			 char separator, char *buf, size_t len)
{
	unsigned int key;
	size_t n = 0;

	for (key = 0; key < lmm_nr_keys(policy); key++) {
		if (key)
			n += scnprintf(buf + n, len - n, "%c", separator);
		n += scnprintf(buf + n, len - n, "%s=", lmm_key(policy, key)->name);
		n += lmm_key_format(policy, cfg, key, buf + n, len - n);
	}
	return n;
}

/* Longest text of a row's value. */
static size_t lmm_longest(const struct lmm_knob *knob)
{
	size_t longest = 0;
	u32 i;

	switch (knob->kind) {
	case LMM_KNOB_TEXT:
		return LMM_TEXT_LEN - 1;
	case LMM_KNOB_CHOICE:
		for (i = 0; knob->choices[i]; i++)
			longest = max(longest, strlen(knob->choices[i]));
		return longest;
	case LMM_KNOB_BOOL:
		return 1;
	default:
		return LMM_NUM_LEN - 1;
	}
}

/**
 * lmm_policies_room() - longest text of a policy's section of `policies`
 * @policy: the policy
 *
 * Return: characters, the end of the section (';' or newline) included.
 */
size_t lmm_policies_room(const struct lmm_policy *policy)
{
	size_t room = strlen(policy->name) + 1;
	unsigned int key;

	/* Each key with its '=', its value and the separator. */
	for (key = 0; key < lmm_nr_keys(policy); key++)
		room += strlen(lmm_key(policy, key)->name) + 1 +
			lmm_longest(lmm_key(policy, key)) + 1;
	return room;
}

/* One "name:line" of the policies grammar. */
static int lmm_section_parse(struct lmm_policy *const table[LMM_NR_POLICIES],
			     struct lmm_span section, struct lmm_config want[LMM_NR_POLICIES],
			     unsigned int *named, char *why, size_t len)
{
	const char *colon = memchr(section.at, ':', section.len);
	struct lmm_span name = section, line;
	const char *words = NULL;
	struct lmm_quote quote;
	unsigned int id;

	if (colon)
		name.len = colon - section.at;
	for (id = 0; id < LMM_NR_POLICIES; id++) {
		if (table[id] && lmm_span_is(name, table[id]->name))
			break;
	}
	if (!name.len)
		words = "no policy's name before the first : or ;";
	else if (id == LMM_NR_POLICIES)
		words = "no such policy";
	else if (!colon)
		words = "no : after the policy's name";
	else if (*named & BIT(id))
		words = "policy given twice";
	if (words) {
		if (!name.len)
			scnprintf(why, len, "%s", words);
		else
			scnprintf(why, len, "%s: %s", lmm_quote(name, &quote), words);
		return -EINVAL;
	}
	*named |= BIT(id);
	line = (struct lmm_span){ colon + 1, section.len - name.len - 1 };
	return lmm_line_parse(table[id], line, &want[id], why, len);
}

static struct lmm_span lmm_strip(struct lmm_span span)
{
	while (span.len && lmm_is_blank(span.at[0])) {
		span.at++;
		span.len--;
	}
	while (span.len && lmm_is_blank(span.at[span.len - 1]))
		span.len--;
	return span;
}

/**
 * lmm_policies_parse() - read the settings of several policies
 * @table: policies by id; NULL for a policy that is not registered
 * @text: the text
 * @len: bytes in @text
 * @want: present settings of each policy in @table, changed as @text says;
 *	undefined on failure
 * @named: bit per policy that @text names
 * @why: reason, on failure
 * @why_len: size of @why
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int lmm_policies_parse(struct lmm_policy *const table[LMM_NR_POLICIES], const char *text,
		       size_t len, struct lmm_config want[LMM_NR_POLICIES], unsigned int *named,
		       char *why, size_t why_len)
{
	struct lmm_span rest = lmm_strip(lmm_text(text, len)), section;
	const char *end;
	int err;

	*named = 0;
	while (rest.len) {
		section = rest;
		end = memchr(rest.at, ';', rest.len);
		if (end)
			section.len = end - rest.at;
		err = lmm_section_parse(table, lmm_strip(section), want, named, why, why_len);
		if (err)
			return err;
		rest.at += section.len + !!end;
		rest.len -= section.len + !!end;
	}
	return 0;
}
