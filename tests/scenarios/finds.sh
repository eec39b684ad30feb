# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1 7.2
# memory: 1G
# timeout: 900
# args: transparent_hugepage=madvise
#
# Who asks in a way of its own finds the pages that depots hold: a program's huge pages without
# MADV_HUGEPAGE, for which the kernel neither wakes kswapd nor compacts.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"
. "$LMM_ROOT/tests/scenarios/lib_frames.sh"

thp=/sys/kernel/mm/transparent_hugepage

# Faults huge pages one after the other until one cannot be had; prints how many there were.
huge_until_none() {
	/usr/bin/python3 - <<-'END'
	import mmap

	HUGE = 2 << 20

	def fallbacks():
	    with open("/proc/vmstat", encoding="ascii") as file:
	        return int(dict(line.split() for line in file)["thp_fault_fallback"])

	area = mmap.mmap(-1, 512 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
	before, number = fallbacks(), 0
	for at in range(HUGE, len(area) - HUGE, HUGE):
	    area[at] = 1
	    if fallbacks() > before:
	        break
	    number += 1
	print(number)
	END
}

listed() { awk '/^# held/ { sum += $NF } END { print sum + 0 }' "$LMM_DBG/pcp/state"; }
lists_hold_less() { [ "$(listed)" -lt $(($1 / 2)) ]; }

half_free
write_to $thp/defrag madvise
# Nobody compacts on the kernel's own account: a depot goes back to compaction, too.
need write_to $thp/khugepaged/defrag 0
# As `stock` does with the policy on: what is in per-CPU lists is missing either way.
stock_huge() {
	hog_hold 64 taskset -c 0
	hog_end
	write_to $thp/enabled always
	huge_until_none
	write_to $thp/enabled madvise
}
note "huge pages until none is left, policy off: $(stock_huge), then $(stock_huge)"

# A quarter of max_pages_pct is what a depot may hold at first.
need write_to "$zonelock/config" "enabled=1 max_pages_pct=20 max_age_ms=60000"
# Compaction drains a CPU's lists with preemption off, which must not last until a large depot is
# empty. Hibernation drains twice with interrupts off, and counts pages in between: the first drain
# leaves nothing.
drain() {
	before=$(counter returned_drain zonelock) taken=$(counter taken_pages zonelock) had=$(held)
	need write_to /sys/module/lmm_pageset/parameters/drain "$1"
	back=$(($(counter returned_drain zonelock) - before))
	# Processes of this script take some meanwhile.
	had=$((had + taken - $(counter taken_pages zonelock)))
}
depot_is_small() { [ "$(held)" -le 300 ]; }
need insmod "$LMM_MODDIR/lmm_pageset.ko"
check "a depot holds more than eight batches" stock 4100 128
drain 0
check "with preemption off some go back: $back of $had pages" test "$back" -gt 0 -a "$back" -le 4032
check "the rest goes back soon" wait_for 20 depot_is_small
check "and holds as many again" stock 4100 128
drain 1
check "with interrupts off all go back: $back of $had pages" test "$back" -ge $((had - 300))
check "at once" depot_is_small
need rmmod lmm_pageset
check "a depot holds pages before huge pages are wanted" stock
returned=$(counter returned_order zonelock)
had=$(held)
write_to $thp/enabled always
on_huge=$(huge_until_none)
write_to $thp/enabled madvise
note "huge pages until none is left, $had pages in the depot: $on_huge, then $(held) pages"
note "$(tr '\n' ' ' <"$zonelock/counters")"
check "the depot was asked" grown 0 counter huge zonelock
check "and gave back" grown "$returned" counter returned_order zonelock

# Raised lists give back too.
need write_to "$zonelock/enabled" 0
need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=60000"
for _ in 1 2 3 4; do
	hog_hold 64 taskset -c 0
	hog_end
done
had=$(listed)
note "lists hold $had pages more than by default"
check "lists hold pages before huge pages are wanted" test "$had" -gt 2000
write_to $thp/enabled always
pcp_huge=$(huge_until_none)
write_to $thp/enabled madvise
note "huge pages until none is left, with pcp: $pcp_huge"
check "pcp was asked for huge pages" grown 0 counter huge pcp
# Not only because memory is short: that is limited_room.
check "and lists went back to their defaults" grown 0 counter limited_reclaim pcp
check "and gave back" wait_for 60 lists_hold_less "$had"
need write_to "$LMM_DBG/pcp/enabled" 0
note "huge pages until none is left, both off again: $(stock_huge)"
need write_to "$zonelock/enabled" 1

check "switched off, zonelock takes nothing more" write_to "$zonelock/enabled" 0
same "all that was stored was taken or went back" "$(unaccounted)" 0
need rmmod lmm_holes
check "unloads" lmm_unload
