# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12 7.2
# args: panic_on_warn=0
# allow: WARNING: .* klp_ftrace_handler\+
# allow: \bCall Trace:
#
# A livepatch goes while a task ends that is in no list of tasks any more. The kernel warns once,
# and nothing else happens (docs/beside-others.md).
. "$LMM_ROOT/tests/scenarios/lib.sh"

warned() { dmesg | grep -c 'WARNING: .* klp_ftrace_handler+'; }

ln -s /bin/true /run/lmm_dying
need taskset -pc 0 $$
# Lists that stay shorter than what the interrupt frees, so that pages are drained.
need write_to /proc/sys/vm/percpu_pagelist_high_fraction 64
need lmm_load policies=pcp:enabled=1
need write_to "$LMM_DBG/pcp/enabled" 0
# The transition lasts as long as that module is loaded.
need insmod "$LMM_MODDIR/lmm_stall.ko"
need insmod "$LMM_MODDIR/lmm_dying.ko"
same "no warning before" "$(warned)" 0
taskset -c 1 /run/lmm_dying
same "a task is held" "$(cat /sys/module/lmm_dying/parameters/held)" 1
same "no list of tasks has that task" "$(pgrep -c lmm_dying)" 0
check "the livepatch begins to go" livepatch_off livemm_klp_lists
check "pages come and go in an interrupt" write_to /sys/module/lmm_dying/parameters/interrupt 1
same "the kernel warns" "$(warned)" 1
need rmmod lmm_stall
check "the livepatch goes" lmm_klp_unload
need rmmod lmm_dying
check "and comes again" write_to "$LMM_DBG/pcp/enabled" 1
check "hooks are armed" tells hooks '^drain +livepatch .* armed'
check "unloads" lmm_unload
