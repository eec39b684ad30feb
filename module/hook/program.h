/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program.h - run a program of user space, as the kernel runs modprobe
 */
#ifndef LIVEMM_HOOK_PROGRAM_H
#define LIVEMM_HOOK_PROGRAM_H

#include <linux/types.h>

int lmm_program_run(char *program, const char *module, char *option, char *why, size_t len);

#endif /* LIVEMM_HOOK_PROGRAM_H */
