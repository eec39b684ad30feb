/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hints.h - while somebody records: handlers of hint faults and of scans
 */
#ifndef LIVEMM_RECORD_HINTS_H
#define LIVEMM_RECORD_HINTS_H

void lmm_hints_on_fault(int last_cpupid, int pages, int flags);
void lmm_hints_on_scan_begin(void);
void lmm_hints_flush(void);

#endif /* LIVEMM_RECORD_HINTS_H */
