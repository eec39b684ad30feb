# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# memory: 1G
# args: transparent_hugepage=madvise
#
# As scenario `unused`, first where few blocks are free for huge pages, then where huge pages are
# wanted, too: there a drain begins with the list of the page that was freed, as on stock, and the
# unused movable pages stay. Earlier kernels do not drain in parts: one drain may take more than that
# list has, and goes on with the others.
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
	check "the list goes back to its default" wait_for 60 at_default
}
at_default() { state_rows | awk '$2 == "DMA32" && $3 == 0 { exit $4 > $6 + 64 }'; }

half_free
# No more than five huge pages.
need insmod "$LMM_MODDIR/lmm_frames.ko" order=3 leave=3000
unused "nobody wants huge pages" 120
check "movable pages that nobody uses make room" test $(($(drained 1) * 16)) -gt "$had"

need write_to /sys/kernel/mm/transparent_hugepage/enabled always
unused "huge pages are wanted" 120 want_huge
check "the list has pages" test "$had" -gt 1000
check "what the CPU freed goes" test "$(drained 0)" -gt 1000
check "unused pages stay in a drain" test $(($(drained 1) * 16)) -lt "$had"
need kill $!
wait $! 2>/dev/null
need write_to /sys/kernel/mm/transparent_hugepage/enabled madvise
need rmmod lmm_frames lmm_holes
check "unloads" lmm_unload
