/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * debugfs.h - the tree of files
 */
#ifndef LIVEMM_CONTROL_DEBUGFS_H
#define LIVEMM_CONTROL_DEBUGFS_H

struct dentry;

void lmm_control_init(void);
void lmm_control_exit(void);
struct dentry *lmm_control_dir(void);

#endif /* LIVEMM_CONTROL_DEBUGFS_H */
