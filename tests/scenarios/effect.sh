# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# memory: 2G
# timeout: 900
# args: transparent_hugepage=never
#
# With pcp on, pages that cross zone->lock per page fault fall, in mode event to under a tenth.
# bench measures how far.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

# Mode depth looks at what a second sees, into which a round need not fit on a busy host.
measure() { crossings -w 16 -r $(($1 * 4)) -p 2; }

measure 2 >/dev/null
base=$(measure 8)
need lmm_load
need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
need write_to "$tracing/livemm/enable" 1
periods=$(counter periods)
for _try in $(seq 30); do
	! counted periods $((periods + 4)) || break
	measure 2 >/dev/null
done
policy=$(measure 8)
need write_to "$LMM_DBG/pcp/mode" event
measure 2 >/dev/null
event=$(measure 8)
note "crossings per 1000 faults: stock $base, depth $policy, event $event"
check "event brings it under a tenth" test "$((event * 10))" -lt "$base"
check "by raising lists at drains" test "$(counter grown)" -gt 0
check "each step is traced" grep -q 'pcp_decision: .*least=.*reason=use' /sys/kernel/tracing/trace
check "stock crosses nearly twice a fault" test "$base" -gt 1000
check "depth brings it under three quarters" test "$((policy * 4))" -lt "$((base * 3))"
check "by raising lists" test "$(counter raised)" -gt 0
check "each decision is traced" grep -q \
	'pcp_decision: .*alloc_depth=.*reason=depth' /sys/kernel/tracing/trace
check "switches off" write_to "$LMM_DBG/pcp/enabled" 0
back=$(measure 4)
note "after switching off: $back"
check "and stock is back" test "$((back * 2))" -gt "$base"
check "unloads" lmm_unload
