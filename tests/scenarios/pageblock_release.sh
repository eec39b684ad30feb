# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# named: 6.1 6.12
# memory: 512M
# args: transparent_hugepage=never
#
# Somebody else ends isolations of blocks, as alloc_contig_range() does when it fails: of each block
# that the worker isolates, then of two in three while the reserve is given back. The kernel's count
# of free pages stays true, and no block of the reserve stays unmovable.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_counted.sh"

PB=$LMM_DBG/pageblock
released=/sys/module/lmm_release/parameters/released

# Wholly free unmovable blocks.
unmovable() {
	awk '$4 == "DMA32," && $6 == "Unmovable" { print $16 + 2 * $17 }' /proc/pagetypeinfo
}

need write_to /proc/sys/vm/compaction_proactiveness 0
need insmod "$LMM_MODDIR/lmm_release.ko"
pages_before pageblock
check "free pages are counted" wait_for 20 all_counted
need write_to "$PB/config" "enabled=1"
check "isolations are ended early" wait_for 120 grown 15 cat $released
note "released $(cat $released), $(grep -E '^(made|moved|not_moved)' "$PB/counters" | tr '\n' ' ')"
need write_to "$PB/enabled" 0
check "free pages are counted as before" wait_for 20 all_counted
note "counted without being on a list: $(miscounted)"
need rmmod lmm_release

before=$(unmovable)
need write_to "$PB/config" "enabled=1"
# The policy wants one block in 16: 13 or 14. Blocks that were unmovable before are among these.
check "there is a reserve" wait_for 120 grown 11 unmovable
guarded=$(unmovable)
check "of blocks that were movable before" test "$guarded" -ge $((before + 6))
need insmod "$LMM_MODDIR/lmm_release.ko" spared=3
need write_to "$PB/enabled" 0
note "free unmovable blocks $before, with the reserve $guarded, afterwards $(unmovable); released $(cat $released)"
check "isolations of blocks that are given back end early" grown 2 cat $released
check "the whole reserve is given back" test "$(unmovable)" -le $((before + 2))
check "free pages are counted then" wait_for 20 all_counted
need rmmod lmm_release
none_armed
all_back
