/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - text of files and parameters <-> settings; no kernel state, any context
 *
 * A policy's *keys* are `enabled` (key 0) and then its knobs in the order of
 * their table (key i + 1 is knob i).
 *
 *	value    = digits | digits "." digit | "0" | "1" | word | text
 *	line     = [ key "=" value { separator key "=" value } ]
 *	policies = [ name ":" line { ";" name ":" line } [ ";" ] ]
 *
 * A separator is one or more blanks or commas.  A text may be empty and may hold
 * "=" and ":", since a word is split at its first "=" and a section at its first
 * ":".  Errors are -EINVAL for what is malformed or unknown, -ERANGE for a number
 * outside its knob's range or a text too long; reasons read
 * "policy/key: value: words", and have room in LMM_WHY_LEN characters.
 */
#ifndef LIVEMM_CONTROL_KNOBS_H
#define LIVEMM_CONTROL_KNOBS_H

#include "livemm.h"

#define LMM_KEY_ENABLED	0
/* No keys of a policy: a line of all keys, and the lease. */
#define LMM_ALL_KEYS	UINT_MAX
#define LMM_KEY_LEASE	(UINT_MAX - 1)

/**
 * struct lmm_delta - what a text says of one policy, whatever is in force
 * @keys: a bit per key that the text names; the members below have values for these alone
 * @key: stored value of each key
 * @text: value of the LMM_KNOB_TEXT, a part of the text that was parsed
 */
struct lmm_delta {
	u32 keys;
	u32 key[LMM_MAX_KNOBS + 1];
	const char *text;
};

/**
 * lmm_nr_keys() - number of a policy's keys
 * @policy: the policy
 *
 * Return: number of knobs plus 1 for `enabled`.
 */
static inline unsigned int lmm_nr_keys(const struct lmm_policy *policy)
{
	return policy->nr_knobs + 1;
}

const struct lmm_knob *lmm_key(const struct lmm_policy *policy, unsigned int key);
char *lmm_chomp(char *text);
int lmm_knob_parse(const struct lmm_knob *knob, const char *text, u32 *value, char *why,
		   size_t len);
int lmm_parse(struct lmm_policy *const table[LMM_NR_POLICIES], const struct lmm_policy *policy,
	      unsigned int key, char *text, struct lmm_delta deltas[LMM_NR_POLICIES], char *why);
void lmm_delta_apply(const struct lmm_policy *policy, const struct lmm_delta *delta,
		     struct lmm_config *config);
int lmm_knob_format(const struct lmm_knob *knob, u32 value, char *buf, size_t len);
size_t lmm_format(const struct lmm_policy *policy, unsigned int key,
		  const struct lmm_config *config, char separator, char *buf, size_t len);

#endif /* LIVEMM_CONTROL_KNOBS_H */
