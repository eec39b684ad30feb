/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debugfs.h - the tree of files
 */
#ifndef LIVEMM_CONTROL_DEBUGFS_H
#define LIVEMM_CONTROL_DEBUGFS_H

#include "livemm.h"

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

#endif /* LIVEMM_CONTROL_DEBUGFS_H */
