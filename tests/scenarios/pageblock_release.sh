# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# named: 6.1 6.12
# memory: 1G
# args: transparent_hugepage=never
#
# Somebody else ends isolations of blocks, as alloc_contig_range() does when it fails: of each block
# that the worker isolates. The kernel's count of free pages stays true.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_counted.sh"

PB=$LMM_DBG/pageblock
released=/sys/module/lmm_release/parameters/released

free_mib() { echo $(($(meminfo MemFree) / 1024)); }

need write_to /proc/sys/vm/compaction_proactiveness 0
need insmod "$LMM_MODDIR/lmm_release.ko"
pages_before pageblock
check "free pages are counted" wait_for 20 all_counted
# Half of memory is free, a page here and a page there, so the worker has blocks to empty.
hog_hold $(($(free_mib) - 40)) sh -c 'exec "$@" -s' sh
need write_to "$PB/config" "enabled=1 reserve_blocks=64 move_pages_per_s=3000"
# The reserve is 31 blocks, and the hog has left 20 at most: the worker does not rest before it has
# made some.
check "isolations are ended early" wait_for 60 grown 5 cat $released
note "released $(cat $released), $(grep -E '^(made|moved|not_moved)' "$PB/counters" | tr '\n' ' ')"
need write_to "$PB/config" "enabled=0 reserve_blocks=16 move_pages_per_s=1450"
check "free pages are counted as before" wait_for 20 all_counted
note "counted without being on a list: $(miscounted)"
need rmmod lmm_release

hog_end
none_armed
all_back
