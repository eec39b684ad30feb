/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * control.h - what the parts of control share, and what main.c calls
 *
 * Load:   hooks, policies registered, lmm_params_apply_boot(), and last
 *	   lmm_control_init(), which cannot fail: no file may be open when the
 *	   module's init fails.
 * Unload: lmm_control_exit(), policies unregistered, hooks.
 */
#ifndef LIVEMM_CONTROL_CONTROL_H
#define LIVEMM_CONTROL_CONTROL_H

#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "livemm.h"
#include "knobs.h"

/*
 * One mutex serialises every change of settings, enable, disable and registration.  The mutex is
 * taken in process context only and is the outermost lock of livemm.  The mutex may be held for
 * long where the kernel makes an op wait.  Reading settings, status, hooks and counters, switching
 * off, and the end of the lease must never wait, and take no mutex.
 */
extern struct mutex lmm_control_mutex;

/* registry.c */
int lmm_registry_init(void);
void lmm_registry_exit(void);
int lmm_policy_register(struct lmm_policy *policy);
void lmm_policy_unregister(struct lmm_policy *policy);
struct lmm_policy *lmm_policy_next(struct lmm_policy *prev);

/* debugfs.c */

/**
 * struct lmm_control_session - something that lasts as long as a process has a file open
 * @knob: name and kind of the file, at the top of the tree: a boolean, which reads as whether the
 *	session goes on.  1 begins, 0 and closing the file end.
 * @begin: returns 0, or -errno with the reason in @why.  Process, no lock held; killable.
 * @end: also called when the process that began is killed or exits, which can then not be killed:
 *	no wait without an end.  Process, no lock held.
 * @goes_on: has somebody begun?  Any context.
 */
struct lmm_control_session {
	struct lmm_knob knob;
	int (*begin)(char *why, size_t len);
	void (*end)(void);
	bool (*goes_on)(void);
};

extern const struct lmm_control_session *lmm_control_session;

void lmm_control_init(void);
void lmm_control_exit(void);

/* params.c */
extern bool lmm_off;

/* A bit for every policy. */
#define LMM_ALL_POLICIES	GENMASK(LMM_NR_POLICIES - 1, 0)

int lmm_params_apply_boot(char *why, size_t len);
void lmm_params_close(void);
__printf(1, 2) void lmm_control_set_error(const char *fmt, ...);
void lmm_control_get_error(char *buf, size_t len);

/* lease.c */
extern const struct lmm_knob lmm_lease_knob;

void lmm_lease_init(void);
void lmm_lease_set(u32 seconds);
u32 lmm_lease_left(void);
void lmm_lease_cancel(void);

/* change.c */

/**
 * struct lmm_change - a text that changes settings
 * @parse: read the text.  @want holds the settings in force, by policy id, and gets the new
 *	settings.  @named gets a bit per policy that the text names.  Returns 0, or -errno with
 *	the reason in @why.  Called more than once, because settings may change meanwhile.
 * @text: the text
 * @len: length of @text
 * @policy: policy that the text is for; for @parse
 * @key: key that the text is for; for @parse
 */
struct lmm_change {
	int (*parse)(const struct lmm_change *change, struct lmm_config *want,
		     unsigned int *named, char *why, size_t len);
	const char *text;
	size_t len;
	struct lmm_policy *policy;
	unsigned int key;
};

int lmm_control_change(const struct lmm_change *change, char *why, size_t len);

/* registry.c, state.c and switch.c: functions that only control calls */
int lmm_policies_missing(const struct lmm_config want[LMM_NR_POLICIES], unsigned int named,
			 u32 *functions, unsigned int *waiting, char *why, size_t len);
int lmm_policies_apply(const struct lmm_config want[LMM_NR_POLICIES], unsigned int named,
		       unsigned int off, const unsigned int cuts[LMM_NR_POLICIES], char *why,
		       size_t len);
bool lmm_policy_supported(struct lmm_policy *policy, char *why, size_t len);
int lmm_policy_check(struct lmm_policy *policy, const struct lmm_config *want,
		     char *why, size_t len);
bool lmm_policy_to_arm(const struct lmm_policy *policy, const struct lmm_config *want);
int lmm_policy_apply(struct lmm_policy *policy, const struct lmm_config *want,
		     unsigned int cuts, char *why, size_t len);
void lmm_policy_config_copy(const struct lmm_policy *policy, struct lmm_config *config);
bool lmm_policy_changes_values(const struct lmm_policy *policy, const struct lmm_config *want);
enum lmm_policy_state lmm_policy_state(struct lmm_policy *policy, char *why, size_t len);
void lmm_policy_cut(struct lmm_policy *policy);
void lmm_policy_tidy(struct lmm_policy *policy);
bool lmm_policy_look(struct lmm_policy *policy);
bool lmm_policies_look(void);
void lmm_policies_look_soon(void);
void lmm_policies_cut(unsigned int named);
void lmm_policies_wait(unsigned int named, unsigned int timeout_ms);
void lmm_policies_cuts(unsigned int cuts[LMM_NR_POLICIES]);
bool lmm_policies_were_cut(unsigned int named, const unsigned int cuts[LMM_NR_POLICIES]);
void lmm_policies_waiting(unsigned int named, bool wait);

#endif /* LIVEMM_CONTROL_CONTROL_H */
