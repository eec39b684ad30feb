# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# named: 6.1 6.12
# guest: shared
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never
#
# A process that ends frees more pages than a depot holds. The pages go to the buddy as larger
# blocks, so fewer blocks cross zone->lock. Before Linux 6.7 a process that allocates gets larger
# blocks, too.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

# Blocks that crossed by an event of kmem.
blocks() { awk '$1 == "Hits:" { sum += $2 } END { print sum + 0 }' "$tracing/kmem/$1/hist"; }

# Sets in and out: blocks over the lock while a process takes 96 MiB page by page, and ends.
measure() {
	_in=$(blocks mm_page_alloc_zone_locked) _out=$(blocks mm_page_pcpu_drain)
	taskset -c 0 "$LMM_ROOT/build/bench/pagetouch" -w 96 -r 1 >/dev/null
	in=$(($(blocks mm_page_alloc_zone_locked) - _in))
	out=$(($(blocks mm_page_pcpu_drain) - _out))
}

need lmm_load
measure
measure
stock_in=$in stock_out=$out
# Large blocks are split only while few pages are free in small ones.
echo 3 >/proc/sys/vm/drop_caches
need write_to /proc/sys/vm/compact_memory 1
need write_to "$zonelock/config" "enabled=1 max_age_ms=10000"
measure
measure
note "blocks over zone->lock: stock $stock_in in, $stock_out out; zonelock $in in, $out out"
note "$(tr '\n' ' ' <"$zonelock/counters")"
check "stock drains page by page" test "$stock_out" -gt 4000
check "zonelock drains less than half as many blocks" test $((out * 2)) -lt "$stock_out"
check "pages were joined" test "$(counter joined_pages zonelock)" -gt 4000
check "many under one hold, also where the kernel drains in parts of 63" \
	test "$(counter joined_pages zonelock)" -gt $(($(counter joined zonelock) * 200))
if [ "$LMM_KERNEL" = 6.1 ]; then
	check "large blocks were split" test "$(counter split_pages zonelock)" -gt 4000
	check "and fewer blocks taken" test "$in" -lt "$stock_in"
fi
check "switched off" write_to "$zonelock/enabled" 0
same "all that was stored was taken or went back" "$(unaccounted)" 0
check "unloads" lmm_unload
