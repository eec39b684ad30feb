# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# named: 6.12
# args: transparent_hugepage=never
#
# A livepatch transition that stalls is given up after a bounded time. The task that holds up the
# transition is named, and the kernel is unchanged. When the task has ended, the policy comes on.
. "$LMM_ROOT/tests/scenarios/lib.sh"

need insmod "$LMM_MODDIR/lmm_stall.ko"
need lmm_load transition_timeout_ms=10000
bounds=$(lists_bounds)
refuses "$LMM_DBG/pcp/enabled" 1 "timed out" "transition stalled, held by "
check "last_error names that task" tells last_error 'held by .*lmm_stall\('
check "pcp is off" policy_is pcp off
none_armed
check "the livepatch is gone" klp_wait livepatch_gone livemm_klp_lists
refute "and its module" any_klp_loaded
same "list bounds are as before" "$(lists_bounds)" "$bounds"
need rmmod lmm_stall
# On a busy host a good transition may take longer than the time that was given to this one.
need write_to "$LMM_PARAMS/transition_timeout_ms" 120000
check "without that task it is switched on" write_to "$LMM_DBG/pcp/enabled" 1
check "hooks are armed" tells hooks '^drain +livepatch .* armed'
check "unloads" lmm_unload
