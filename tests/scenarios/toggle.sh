# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
# guest: shared
# named: 6.1 6.12
# timeout: 900
# args: transparent_hugepage=never
# emulation: parallel 6.1 debug
#
# The policy goes on and off many times under load, in each mode. Afterwards every list bound and
# every page is as before.
. "$LMM_ROOT/tests/scenarios/lib.sh"

rounds=$(soaked 30 100) crowded=10
[ "$LMM_DEBUG" = 0 ] || rounds=$(soaked 6 20) crowded=3
pcp_before
need write_to "$LMM_DBG/pcp/config" "decay_ms=500"
load_start
for round in $(seq "$rounds"); do
	# Under single emulation a CPU that patches code waits for a turn of the other CPU, 0.1 s,
	# while both are busy.  Only the first rounds therefore keep both busy there.
	if [ "$LMM_TURNS" = 1 ] && [ "$round" = $((crowded + 1)) ]; then
		load_stop
		taskset -pc 0 $$ >/dev/null
		LOAD_PROCS=1 load_start
	fi
	mode=event
	[ $((round % 3)) -ne 2 ] || mode=depth
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=$mode"
	# On a busy host the load gets nothing done between two writes.
	[ $((round % 10)) -ne 5 ] || wait_for 60 grown "$(counter raised)" counter raised
	need write_to "$LMM_DBG/pcp/enabled" 0
done
note "switched $round times under load"
check "lists were raised" test "$(counter raised)" -gt 0
check "lists were restored" test "$(counter restored)" -gt 0
check "drains were counted" test "$(counter drains)" -gt 0
same "list bounds under load are as before" "$(lists_bounds)" "$bounds"
none_armed
load_stop
all_back
