# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# kernels: 6.12
# named: 6.1
# timeout: 900
# args: transparent_hugepage=never
#
# Somebody switches our livepatch off behind our back while mode event is on.  It says
# so, what it has raised goes back by itself, and off and on again puts it right.
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
check "status says so" grep -q "no events: livemm_klp was disabled or replaced from outside" \
	"$LMM_DBG/status"
check "no livepatch hook counts as armed" awk \
	'$2 == "livepatch" && $4 == "armed" { exit 1 }' "$LMM_DBG/hooks"
grown=$(counter grown)
sleep $decay
same "nothing grows without events" "$(counter grown)" "$grown"
check "the policy is still on" grep -Eq '^pcp +on +event' "$LMM_DBG/status"
# While the load works they are in use, and may stay.
load_stop

# No reading in between: the processes that read are a load themselves.
sleep $((3 * decay))
check "lists go back by themselves within 3 x decay_ms" lists_idle
same "every list has the kernel's own bound" "$(lists_changed)" ""

need write_to "$LMM_DBG/pcp/enabled" 0
same "off, list bounds are as before" "$(lists_bounds)" "$bounds"
check "on again" write_to "$LMM_DBG/pcp/enabled" 1
check "with the livepatch live" grep -Eq '^drain +livepatch .* armed' "$LMM_DBG/hooks"
refute "and status content" grep -q "no events" "$LMM_DBG/status"
load_start
check "lists are raised again" wait_for 60 lists_raised
load_stop
pcp_after ""
check "unloads" lmm_unload
