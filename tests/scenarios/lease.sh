# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# named: 6.12
# args: transparent_hugepage=never
# emulation: parallel 6.1
#
# A host whose controller died goes back to stock by itself.
. "$LMM_ROOT/tests/scenarios/lib.sh"

need lmm_load policies=pcp:enabled=1
same "no lease at first" "$(cat "$LMM_DBG/lease")" 0
check "a lease is taken" write_to "$LMM_DBG/lease" 5
left=$(cat "$LMM_DBG/lease")
check "seconds left are shown" test "$left" -ge 1 -a "$left" -le 5
check "and renewed" write_to "$LMM_DBG/lease" 600
sleep 6
refute "a renewed lease does not run out" policy_is pcp off
check "a lease can be dropped" write_to "$LMM_DBG/lease" 0
same "then there is none" "$(cat "$LMM_DBG/lease")" 0
need write_to "$LMM_DBG/lease" 2
check "an expired lease switches off" wait_for 60 policy_is pcp off
same "and is none" "$(cat "$LMM_DBG/lease")" 0
none_armed
check "it can be switched on again" write_to "$LMM_DBG/pcp/enabled" 1
need write_to "$LMM_DBG/lease" 600
check "a lease does not hold the module" lmm_unload
