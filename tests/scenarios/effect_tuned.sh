# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# memory: 2G
# args: transparent_hugepage=never
#
# A kernel that tunes its lists by itself does badly under a load with pauses. With pcp on, pages
# that cross zone->lock per page fault fall to under a third. bench measures how far.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

measure() { crossings -w 64 -r "$1" -p 2 -H 300 -F 300; }

measure 2 >/dev/null
base=$(measure 5)
need lmm_load
# However slow the machine is, what is not used between two rounds is not given back.
need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=event decay_ms=60000"
measure 3 >/dev/null
policy=$(measure 5)
note "crossings per 1000 faults: own tuning $base, event $policy"
check "the kernel's own tuning crosses the lock" test "$base" -gt 100
check "event brings it under a third" test "$((policy * 3))" -lt "$base"
check "by raising lists at drains" test "$(counter grown)" -gt 0
check "state says what it stands on" grep -q 'refills cannot be hooked here' "$LMM_DBG/pcp/state"
check "switches off" write_to "$LMM_DBG/pcp/enabled" 0
back=$(measure 4)
note "after switching off: $back"
check "and the kernel's own tuning is back" test "$((back * 2))" -gt "$base"
check "unloads" lmm_unload
