# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# guest: shared
# named: 6.1
# timeout: 900
# args: transparent_hugepage=never
#
# Our livepatch is disabled through sysfs while mode event is on. The policy goes to standby and
# gives the reason, raised list bounds are restored, and writing 1 to enabled loads the livepatch
# anew.
. "$LMM_ROOT/tests/scenarios/lib.sh"

decay=2
patch_settled() { [ ! -e "$LMM_PATCH" ] || gives 0 cat "$LMM_PATCH/transition"; }

need lmm_load
need write_to "$LMM_DBG/pcp/config" "mode=event decay_ms=${decay}000"
bounds=$(lists_bounds)
need write_to "$LMM_DBG/pcp/enabled" 1
load_start
check "lists are raised" wait_for 60 lists_raised
need write_to "$LMM_PATCH/enabled" 0
need wait_for 60 patch_settled
check "status says so" wait_for 60 tells status \
	'^pcp +standby +event .*livemm_klp_lists was disabled or replaced from outside'
check "no livepatch hook counts as armed" awk \
	'$2 == "livepatch" && $4 == "armed" { exit 1 }' "$LMM_DBG/hooks"
same "the policy shall still be on" "$(cat "$LMM_DBG/pcp/enabled")" 1
same "every list has the kernel's own bound" "$(lists_changed)" ""
grown=$(counter grown)
sleep $decay
same "nothing grows meanwhile" "$(counter grown)" "$grown"
check "a knob can be set" write_to "$LMM_DBG/pcp/config" "decay_ms=${decay}500"
check "to say that it be on brings the livepatch back" write_to "$LMM_DBG/pcp/enabled" 1
check "it is on" tells status '^pcp +on +event'
check "lists are raised anew" wait_for 60 lists_raised
load_stop

need write_to "$LMM_PATCH/enabled" 0
check "it stands by again" wait_for 60 policy_is pcp standby
need write_to "$LMM_DBG/pcp/enabled" 0
same "off, list bounds are as before" "$(lists_bounds)" "$bounds"
check "on again" write_to "$LMM_DBG/pcp/enabled" 1
check "with the livepatch live" tells hooks '^drain +livepatch .* armed'
load_start
check "lists are raised again" wait_for 60 lists_raised
load_stop
pcp_after ""
check "unloads" lmm_unload
