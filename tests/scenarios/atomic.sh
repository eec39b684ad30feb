# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12 7.2
# memory: 1G
# timeout: 1500
# args: transparent_hugepage=never
#
# One timer interrupt asks for many blocks of order 2 or 3, GFP_ATOMIC, while the depot is full of
# pages that such blocks are made of. Where the memory suffices, no more of these requests
# fail than on stock, where none fails. Where more is asked for than there is, at most a fifth more
# fail than in stock's worst round: rounds of stock differ by more.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"
. "$LMM_ROOT/tests/scenarios/lib_frames.sh"

# Pages in free blocks that are large enough, and in the depot, when the requests begin.
room=8192

# A process frees more than lists and depot have room for.
churn() {
	hog_hold 160 taskset -c 0
	hog_end
}

# The depot has refused pages since $refused, because it was full.
full() { [ "$(counter refused_full zonelock)" -gt "$refused" ] && [ "$(held)" -gt $((room * 3 / 8)) ]; }
fill() {
	for _try in $(seq 3); do
		churn
		! full || return 0
	done
	return 1
}

# Leave so many pages in large blocks; sets had, pages in the depot.
frames_load() {
	need taskset -c 1 insmod "$LMM_MODDIR/lmm_frames.ko" order="$order" leave="$1" \
		ring="$blocks" requests=$((2 * blocks)) burst=$((2 * blocks))
	had=$(held)
	: "${had:=0}"
}

# Commands between two looks take a batch from the depot now and then.
frames_load_beside() {
	for _again in 1 2 3 4 5; do
		fill || return
		if [ "$(held)" -ge $room ]; then
			# By chance much more memory is free: the depot begins anew.
			need write_to "$zonelock/enabled" 0
			need write_to "$zonelock/enabled" 1
			refused=$(counter refused_full zonelock)
			continue
		fi
		frames_load $((room - $(held)))
		! near $(($(frame spare) + had)) $room 128 || return 0
		need rmmod lmm_frames
	done
	return 1
}

# Sets failed, and gone: pages that the depot gave back. False if lists gave pages back before the
# requests began: such a round has more memory than the others, and does not count.
ask() {
	gone=$(counter returned_order zonelock)
	frames_go "$round"
	failed=$(frame failed) gone=$(($(counter returned_order zonelock) - gone))
	note "$round: failed $failed of $((2 * blocks)), $(frame failed_first) in the first half;" \
		"before: $(frame begun) pages in blocks (at load $(frame spare))," \
		"$had in the depot, which gave back $gone; after: $(frame spare_after) in blocks," \
		"$(($(frame small_after) - $(frame small))) more in smaller blocks"
	begun=$(frame begun)
	need rmmod lmm_frames
	near $((begun + had)) $room 128
}

# Without policies: sets most, the largest number of failures so far.
plain() {
	round="stock, $asked"
	for _count in 1 2 3 4 5; do
		churn
		frames_load $room
		! ask || break
	done
	[ "$failed" -le "$most" ] || most=$failed
}

# With these policies: sets failed_$2.
beside() {
	round="$1, $asked"
	[ "$1" = zonelock ] || need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=60000"
	refused=$(counter refused_full zonelock)
	need write_to "$zonelock/config" "enabled=1 max_pages_pct=8 max_age_ms=60000"
	for _count in 1 2 3 4 5; do
		need frames_load_beside
		ok "$round: the depot is full, and there is as much memory as on stock"
		! ask || break
	done
	check "$round: the depot gives back what it had" test "$gone" -ge "$had"
	eval "failed_$2=$failed"
	for _policy in $1; do
		need write_to "$LMM_DBG/$_policy/enabled" 0
	done
}

half_free
# No reclaim for fragmentation's sake, which would wake kswapd before a request lacks a block.
need write_to /proc/sys/vm/watermark_boost_factor 0
for order in 3 2; do
	# Percent of the room that the ring takes.
	for percent in 75 125; do
		blocks=$((room * percent / 100 >> order)) most=0 asked="order $order, $percent %"
		plain
		beside zonelock depot
		plain
		beside "pcp zonelock" both
		plain
		allowed=$((most * 6 / 5))
		# shellcheck disable=SC2154 # by eval
		check "zonelock, $asked: about as many fail as on stock" test "$failed_depot" -le $allowed
		# shellcheck disable=SC2154 # by eval
		check "pcp zonelock, $asked: about as many fail as on stock" test "$failed_both" -le $allowed
		[ $percent = 75 ] || continue
		round="no depot, $asked"
		# By chance lists give pages back in time.
		for _count in 1 2 3; do
			frames_load $((room / 2))
			ask
			[ "$failed" -le "$most" ] || break
		done
		check "$round: half of the memory does not suffice" test "$failed" -gt "$most"
	done
done
need rmmod lmm_holes
check "unloads" lmm_unload
