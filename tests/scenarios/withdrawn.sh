# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
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

need lmm_load
need write_to "$LMM_DBG/pcp/config" "mode=event decay_ms=${decay}000"
bounds=$(lists_bounds)
need write_to "$LMM_DBG/pcp/enabled" 1
load_start
check "lists are raised" wait_for 60 lists_raised
need write_to "$LMM_PATCH/enabled" 0
need wait_for 60 sh -c "[ ! -e $LMM_PATCH ] || [ \"\$(cat $LMM_PATCH/transition)\" = 0 ]"
check "status says so" wait_for 60 grep -Eq \
	'^pcp +standby +event .*livemm_klp_lists was disabled or replaced from outside' \
	"$LMM_DBG/status"
check "no livepatch hook counts as armed" awk \
	'$2 == "livepatch" && $4 == "armed" { exit 1 }' "$LMM_DBG/hooks"
same "the policy shall still be on" "$(cat "$LMM_DBG/pcp/enabled")" 1
same "every list has the kernel's own bound" "$(lists_changed)" ""
grown=$(counter grown)
sleep $decay
same "nothing grows meanwhile" "$(counter grown)" "$grown"
check "a knob can be set" write_to "$LMM_DBG/pcp/config" "decay_ms=${decay}500"
check "to say that it be on brings the livepatch back" write_to "$LMM_DBG/pcp/enabled" 1
check "it is on" grep -Eq '^pcp +on +event' "$LMM_DBG/status"
check "lists are raised anew" wait_for 60 lists_raised
load_stop

need write_to "$LMM_PATCH/enabled" 0
check "it stands by again" wait_for 60 grep -Eq '^pcp +standby' "$LMM_DBG/status"
need write_to "$LMM_DBG/pcp/enabled" 0
same "off, list bounds are as before" "$(lists_bounds)" "$bounds"
check "on again" write_to "$LMM_DBG/pcp/enabled" 1
check "with the livepatch live" grep -Eq '^drain +livepatch .* armed' "$LMM_DBG/hooks"
load_start
check "lists are raised again" wait_for 60 lists_raised
load_stop
pcp_after ""
check "unloads" lmm_unload
