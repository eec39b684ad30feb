// SPDX-License-Identifier: GPL-2.0-only
/*
 * livemm_klp_scan.ko - livepatch wrapper around the scan of NUMA balancing
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/mm_types.h>
#include <linux/preempt.h>

#include "compat/compat.h"
#include "klp_module.h"

typedef unsigned long scan_fn(struct vm_area_struct *, unsigned long, unsigned long);
KLP_ORIGINAL(scan);

DEFINE_STATIC_CALL_NULL(on_scan, bool (struct vm_area_struct *, unsigned long,
				       struct lmm_klp_part *));
DEFINE_STATIC_CALL_NULL(on_scan_charge, unsigned long (struct vm_area_struct *,
						       unsigned long));

static DEFINE_STATIC_KEY_FALSE(scan_armed);

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

static unsigned long scan_charge(struct vm_area_struct *vma, unsigned long total)
{
	preempt_disable();
	if (static_branch_likely(&scan_armed))
		total = static_call(on_scan_charge)(vma, total);
	preempt_enable();
	return total;
}

/* Stands in for change_prot_numa(): entries are made to fault, part by part. */
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
	return scan_charge(vma, part.total);
}

static void scan_handlers(const struct lmm_klp_handlers *handlers)
{
	static_call_update(on_scan, handlers->scan);
	static_call_update(on_scan_charge, handlers->scan_charge);
}

static const struct klp_wrapped wrapped[] = {
	KLP_WRAPPED("change_prot_numa", LMM_KLP_SCAN, scan, scan),
};

const struct lmm_klp_port *const livemm_klp_scan_port = &port;
EXPORT_SYMBOL_GPL(livemm_klp_scan_port);

static int __init klp_init(void)
{
	return klp_begin(wrapped, ARRAY_SIZE(wrapped));
}

module_init(klp_init);
module_exit(klp_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("livemm: livepatch wrapper around the scan of NUMA balancing");
MODULE_INFO(livepatch, "Y");
