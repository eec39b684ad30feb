/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * knobs.h - text of files and parameters <-> struct lmm_config; no kernel state, any context
 *
 * A policy's *keys* are `enabled` (key 0) and then its knobs in the order of
 * their table (key i + 1 is knob i).  All texts come with a length, may hold
 * any byte, and may end in a newline, which is dropped.
 *
 *	value    = digits | digits "." digit | "0" | "1" | word | text
 *	line     = [ key "=" value { separator key "=" value } ]
 *	policies = [ name ":" line { ";" name ":" line } [ ";" ] ]
 *
 * A separator is one or more blanks or commas.  A text may be empty and may hold
 * "=" and ":", since a word is split at its first "=" and a section at its first
 * ":".  Errors are -EINVAL for what is malformed or unknown, -ERANGE for a number
 * outside its knob's range or a text too long; reasons read
 * "policy/key: value: words".
 */
#ifndef LIVEMM_CONTROL_KNOBS_H
#define LIVEMM_CONTROL_KNOBS_H

#include "livemm.h"

#define LMM_KEY_ENABLED	0

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
int lmm_key_parse(const struct lmm_policy *policy, unsigned int key, const char *text, size_t len,
		  struct lmm_config *cfg, char *why, size_t why_len);
size_t lmm_key_format(const struct lmm_policy *policy, const struct lmm_config *cfg,
		      unsigned int key, char *buf, size_t len);

int lmm_knob_parse(const char *where, const struct lmm_knob *knob, const char *text, size_t len,
		   u32 *value, char *why, size_t why_len);
int lmm_knob_format(const struct lmm_knob *knob, u32 value, char *buf, size_t len);
int lmm_config_parse(const struct lmm_policy *policy, const char *text, size_t len,
		     struct lmm_config *cfg, char *why, size_t why_len);
size_t lmm_config_format(const struct lmm_policy *policy, const struct lmm_config *cfg,
			 char separator, char *buf, size_t len);
size_t lmm_policies_room(const struct lmm_policy *policy);
int lmm_policies_parse(struct lmm_policy *const table[LMM_NR_POLICIES], const char *text,
		       size_t len, struct lmm_config want[LMM_NR_POLICIES], unsigned int *named,
		       char *why, size_t why_len);

#endif /* LIVEMM_CONTROL_KNOBS_H */
