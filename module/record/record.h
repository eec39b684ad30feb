/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * record.h - what main.c calls of the recorder
 */
#ifndef LIVEMM_RECORD_RECORD_H
#define LIVEMM_RECORD_RECORD_H

int lmm_record_init(void);
void lmm_record_exit(void);

#endif /* LIVEMM_RECORD_RECORD_H */
