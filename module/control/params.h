/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * params.h - control by module parameters, and the reason of the last refused write
 */
#ifndef LIVEMM_CONTROL_PARAMS_H
#define LIVEMM_CONTROL_PARAMS_H

struct lmm_policy;
struct seq_file;

int lmm_params_apply_boot(char *why);
void lmm_params_close(void);
int lmm_control_refuse(int err, const char *why);
void lmm_control_error_show(struct lmm_policy *policy, struct seq_file *m);

#endif /* LIVEMM_CONTROL_PARAMS_H */
