# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 7.2
# memory: 1G
# args: transparent_hugepage=madvise
#
# As scenario `unused`, first where few blocks are free for huge pages, then where huge pages are
# wanted, too: there a drain begins with the list of the page that was freed, as on stock, and the
# unused movable pages stay. By name only: a list that is lowered meanwhile gives back of all that
# it holds, and the pass before may leave few pages. Earlier kernels do not drain in parts: one
# drain may take more than that list has, and goes on with the others.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_frames.sh"
. "$LMM_ROOT/tests/scenarios/lib_unused.sh"

# Wants a huge page ten times a second.
want_huge() {
	taskset -c 1 /usr/bin/python3 -c '
import mmap, time
while True:
    area = mmap.mmap(-1, 8 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    area[4 << 20] = 1
    area.close()
    time.sleep(0.1)
' &
	check "huge pages are wanted" wait_for 60 grown "$before" huge_faults
	# A list above its lowered bound gives back of all that it holds.
	check "the list has gone back to its default" wait_for 60 at_default
}
at_default() { state_rows | awk '$2 == "DMA32" && $3 == 0 { exit $4 > $6 + 64 }'; }
huge_faults() { awk '/^thp_fault_(alloc|fallback) / { sum += $2 } END { print sum }' /proc/vmstat; }

half_free
# No more than five huge pages.
need insmod "$LMM_MODDIR/lmm_frames.ko" order=3 leave=3000
unused "nobody wants huge pages" 120
check "movable pages that nobody uses make room" test $(($(drained 1) * 16)) -gt "$had"

need write_to /sys/kernel/mm/transparent_hugepage/enabled always
control=$(drained 1)
before=$(huge_faults)
unused "huge pages are scarce" 120 want_huge
check "the list has more pages than went before" test "$had" -gt "$control"
check "what the CPU freed goes" test "$(drained 0)" -gt 1000
check "fewer than half as many unused pages go" test $(($(drained 1) * 2)) -lt "$control"
need kill $!
wait $! 2>/dev/null
need write_to /sys/kernel/mm/transparent_hugepage/enabled madvise
need rmmod lmm_frames lmm_holes
check "unloads" lmm_unload
