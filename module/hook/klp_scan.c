// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_scan.ko - livepatch wrapper around the scan of NUMA balancing
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm_types.h>
#include <linux/preempt.h>

#include "compat/compat.h"

#define KLP_IN_scan(...)	KLP_ROW(__VA_ARGS__)
#include "klp_module.h"

KLP_HANDLER(scan);

/*
 * Handlers run with preemption off and check there again whether they are armed.  One RCU grace
 * period after a disarm the last handler has run, although the scan itself may sleep.  After a
 * disarm the rest of the range is one part.
 */
static bool scan_part(struct vm_area_struct *vma, unsigned long end, struct lmm_klp_part *part)
{
	bool more;

	preempt_disable();
	if (static_branch_likely(&scan_armed)) {
		more = static_call(on_scan)(vma, end, part);
	} else {
		part->start = part->end;
		part->end = end;
		more = part->start < end;
	}
	preempt_enable();
	return more;
}

/* Replaces change_prot_numa(): entries are made to fault, part by part. */
static unsigned long wrap_scan(struct vm_area_struct *vma, unsigned long start,
			       unsigned long end)
{
	struct lmm_klp_part part = { .start = start, .end = start };

	if (!static_branch_unlikely(&scan_armed))
		return static_call(orig_scan)(vma, start, end);
	while (scan_part(vma, end, &part)) {
		part.updated = static_call(orig_scan)(vma, part.start, part.end);
		part.total += part.updated;
	}
	return part.total;
}

static void klp_set_handlers(const struct lmm_klp_handlers *handlers)
{
	KLP_TELL(scan);
}

KLP_MODULE(scan, "the scan of NUMA balancing");
