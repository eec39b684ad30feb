# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after lib.sh by scenarios in which a list is full of movable pages that its CPU does not use.
#
#   drained TYPE       blocks of a migratetype that frees of pipes drained to the buddy, on CPU 0; what
#                      a pass of the policy gives back does not count
#   unused NAME MIB [BEFORE]
#                      the list of CPU 0, on which this shell then runs, is full of such pages; BEFORE
#                      runs; pipes of MIB are filled and closed, whose pages are unmovable.  Sets had,
#                      pages in the list before the pipes.  NAME begins the names of checks

tracing=/sys/kernel/tracing
drain=$tracing/events/kmem/mm_page_pcpu_drain/enable

drained() { grep -c "^ *python3-.* mm_page_pcpu_drain:.* migratetype=$1\$" "$tracing/per_cpu/cpu0/trace"; }

pipes() {
	python3 -c '
import fcntl, os, sys
pipes = [os.pipe() for _ in range(int(sys.argv[1]))]
for _, end in pipes:
    fcntl.fcntl(end, 1031, 1 << 20)
    os.write(end, bytes(1 << 20))
' "$1"
}

# The kernel's own tuning, from 6.7 on, may leave the policy nothing to raise the first time.
rises() {
	"$LMM_ROOT/build/bench/pagetouch" -w 64 -r 6 >/dev/null
	lists_raised
}

unused() {
	need taskset -pc 0 $$
	# Nothing is given back meanwhile because nobody used it for long.
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=event decay_ms=60000 high_max_pct=6"
	check "$1: the load raises the list" wait_for 60 rises
	# A tick sees the oldest pages, and the next tick that they have stayed.
	check "$1: two ticks pass" wait_for 60 counted periods $(($(counter periods) + 2))
	[ $# -eq 2 ] || "$3"
	had=$(state_rows | awk '$2 == "DMA32" && $3 == 0 { print $4 }')
	echo >"$tracing/trace"
	need write_to "$drain" 1
	need pipes "$2"
	need write_to "$drain" 0
	note "$1: drained: $(drained 1) movable, $(drained 0) unmovable blocks; the list held $had pages"
}
