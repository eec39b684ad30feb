# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1 6.12 7.2 debug
# memory: 1G
# args: transparent_hugepage=never
#
# A CPU's list is full of movable pages that the CPU does not use any more. The CPU then fills and
# closes pipes, whose pages are unmovable: the movable pages go to the buddy, and make room.
. "$LMM_ROOT/tests/scenarios/lib.sh"

tracing=/sys/kernel/tracing
drain=$tracing/events/kmem/mm_page_pcpu_drain/enable

# Blocks of a migratetype that went from lists to the buddy.
drained() { grep -c "mm_page_pcpu_drain:.* migratetype=$1\$" "$tracing/trace"; }

pipes() {
	python3 -c '
import fcntl, os
pipes = [os.pipe() for _ in range(40)]
for _, end in pipes:
    fcntl.fcntl(end, 1031, 1 << 20)
    os.write(end, bytes(1 << 20))
'
}

taskset -pc 0 $$ >/dev/null
need lmm_load
# Nothing is given back meanwhile because nobody used it for long.
need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=event decay_ms=30000 high_max_pct=6"
# The kernel's own tuning, from 6.7 on, may leave the policy nothing to raise the first time.
rises() {
	"$LMM_ROOT/build/bench/pagetouch" -w 64 -r 6 >/dev/null
	lists_raised
}
check "the load raises the list" wait_for 60 rises
# A tick sees the oldest pages, and the next tick that they have stayed.
check "two ticks pass" wait_for 60 counted periods $(($(counter periods) + 2))
held=$(state_rows | awk '$2 == "DMA32" && $3 == 0 { print $4 }')
need write_to "$drain" 1
need pipes
need write_to "$drain" 0
note "drained: $(drained 1) movable, $(drained 0) unmovable blocks; the list held $held pages"
check "the list was full of pages" test "$held" -gt 1000
# A list that has less than a drain takes stays, up to 2,016 pages.
check "movable pages that nobody uses make room" test $(($(drained 1) * 4)) -gt "$held"
check "unloads" lmm_unload
