# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1
# guest: shared
# memory: 2G
# timeout: 900
# args: transparent_hugepage=never
#
# With pcp and zonelock both on, pages that cross zone->lock per page fault are no more than with
# pcp alone: a list that grows keeps its pages, and the depot gets the rest. bench measures how far.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

zonelock=$LMM_DBG/zonelock
measure() { crossings -w 64 -r "$1" -p 2; }

measure 2 >/dev/null
base=$(measure 4)
need lmm_load
need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=60000"
measure 3 >/dev/null
alone=$(measure 4)
need write_to "$LMM_DBG/pcp/enabled" 0
# However slow the machine is, what waits for a list that grows is not taken for old.
need write_to "$zonelock/config" "enabled=1 max_age_ms=60000"
need write_to "$LMM_DBG/pcp/enabled" 1
grown=$(counter grown)
measure 3 >/dev/null
# A list may be about to grow.
for _try in 1 2 3; do
	both=$(measure 4)
	[ "$both" -gt $((alone + 10)) ] || break
done
note "crossings per 1000 faults: stock $base, pcp $alone, both $both"
check "pcp grows lists beside zonelock" test "$(counter grown)" -gt "$grown"
check "both cross no more than pcp alone" test "$both" -le $((alone + 10))
check "and at most half of stock" test $((both * 2)) -le "$base"
check "state says what lists hold" grep -qE '^# held 0 DMA32 [1-9][0-9]+$' "$LMM_DBG/pcp/state"
check "zonelock goes off" write_to "$zonelock/enabled" 0
check "pcp goes off" write_to "$LMM_DBG/pcp/enabled" 0
check "unloads" lmm_unload
