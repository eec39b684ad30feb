# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# named: 6.1 6.12
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never
#
# The list of a CPU is raised and has room. One timer interrupt on this CPU takes all large blocks,
# GFP_ATOMIC, then frees each of them and asks for one of another migratetype. No pass can run
# before the interrupt ends. The freed blocks must not stay in the raised list: about as many
# requests fail as on stock.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_frames.sh"

# Pages to leave in large blocks, and blocks to ask for: a tenth more.
room=4096
blocks=$((room * 11 / 40))

# Its bound is raised, and its pages are in use.
list_with_room() {
	for _count in 1 2 3; do
		hog_hold 128 taskset -c 1
		hog_end
	done
	# The second takes what the list has left.
	hog_hold 128 taskset -c 1
	hog_hold 32 taskset -c 1
}

# ask NAME: sets failed, requests that found no block while the ring was replaced.
ask() {
	list_with_room
	need taskset -c 1 insmod "$LMM_MODDIR/lmm_frames.ko" order=2 leave=$room movable=1 \
		ring=$blocks requests=$((2 * blocks)) burst=$((2 * blocks))
	high=$(raised_by DMA32) count=$(zone_pages count DMA32)
	frames_go "$1"
	failed=$(($(frame failed) - $(frame failed_first)))
	note "$1: lists raised by $high pages, with $count in them; $failed of $blocks failed" \
		"($(frame failed_first) before); $(frame begun) pages in blocks, after $(frame spare_after)"
	need rmmod lmm_frames
	hog_end
}

half_free
need write_to /proc/sys/vm/watermark_boost_factor 0
most=0
for round in 1 2; do
	ask "stock, $round"
	[ "$failed" -le "$most" ] || most=$failed
done
need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=60000"
ask pcp
check "the list was raised" test "$high" -ge $((room / 2))
check "about as many requests fail as on stock" test "$failed" -le $((most + blocks / 10))
need write_to "$LMM_DBG/pcp/enabled" 0
need rmmod lmm_holes
check "unloads" lmm_unload
