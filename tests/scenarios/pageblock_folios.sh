# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# named: 6.12
# memory: 512M
# args: transparent_hugepage=madvise
#
# Movable blocks are half full of larger folios. The worker moves the folios as a whole, makes
# blocks, and the content of the pages stays. The worker leaves folios alone to which somebody has a
# reference: it unmaps none in vain.
. "$LMM_ROOT/tests/scenarios/lib.sh"

PB=$LMM_DBG/pageblock
folios=/sys/kernel/mm/transparent_hugepage/hugepages-64kB
says() { grep -qx "$1" /run/folios; }
gone() { ! lives foliohold; }
# A process that was killed is there until somebody waits for the process.
holds_or_killed() { says held || ! grep -q '^State:.[^Z]' "/proc/$holder/status" 2>/dev/null; }

need write_to /proc/sys/vm/compaction_proactiveness 0
need write_to $folios/enabled always
pages_before pageblock

# Prints the free memory but for $1 MiB, in MiB.
free_but() { echo $((($(meminfo MemFree) / 1024 - $1) / 2 * 2)); }

# The reserve is at most 14 blocks here, and what is left free can be 12 of these: as huge pages the
# free blocks are out of the way, and the worker has to make the reserve.
take_free_blocks() {
	write_to /proc/sys/vm/nr_hugepages "$(kernels_blocks)" || return 1
	note "huge pages $(cat /proc/sys/vm/nr_hugepages), free blocks $(kernels_blocks)"
}

# With 12 MiB left the kernel has killed the program on a busy host.
mib=$(free_but 20)
"$LMM_ROOT/build/programs/foliohold" "$mib" 64 >/run/folios 2>&1 &
holder=$!
need wait_for 300 holds_or_killed
check "half of $mib MiB is given back" says held
note "folios of 64 kB: $(cat $folios/stats/anon_fault_alloc), others $(cat $folios/stats/anon_fault_fallback)"
check "most memory is in folios" test "$(cat $folios/stats/anon_fault_alloc)" -gt $((mib * 12))

need take_free_blocks
splits=$(cat $folios/stats/split)
need write_to "$PB/config" "enabled=1 reserve_blocks=64 move_pages_per_s=20000"
check "blocks are made" wait_for 120 grown 3 counter made pageblock
note "$(grep -E '^(made|moved|looked|skipped|no_room|not_moved)' "$PB/counters" | tr '\n' ' ')"
check "by moving folios" test "$(counter moved pageblock)" -ge $((4 * 128))

pkill -USR1 foliohold
check "the content of the pages stays" wait_for 60 says intact
need write_to "$PB/enabled" 0
# Reclaim by the kernel itself may split some.
check "folios were not split for that" test "$(cat $folios/stats/split)" -le $((splits + 10))
pkill foliohold
check "the folios are gone" wait_for 20 gone
need write_to /proc/sys/vm/nr_hugepages 0

# The first part leaves less to reclaim, so more stays free here, but less than the reserve wants.
mib=$(free_but 24)
note "$mib MiB, boost $(awk '$1 == "boost" {b += $2} END {print b}' /proc/zoneinfo) pages"
"$LMM_ROOT/build/programs/foliohold" "$mib" 64 pin >/run/folios 2>&1 &
holder=$!
need wait_for 300 holds_or_killed
check "half is held again, and each folio in a pipe" says held
need take_free_blocks
vain=$(counter not_moved pageblock) skipped=$(counter skipped pageblock)
need write_to "$PB/config" "enabled=1 reserve_blocks=64 move_pages_per_s=20000"
check "the worker comes upon the folios" wait_for 120 grown $((skipped + 200)) counter skipped pageblock
note "moved $(counter moved pageblock), not moved $vain, then $(counter not_moved pageblock), skipped $(counter skipped pageblock)"
check "and tries to move hardly any" test "$(counter not_moved pageblock)" -le $((vain + 64))
need write_to "$PB/enabled" 0
pkill foliohold
check "the pinned folios are gone, too" wait_for 20 gone
need write_to /proc/sys/vm/nr_hugepages 0
none_armed
all_back
