# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# kernels: 6.1
# timeout: 900
# args: transparent_hugepage=never
#
# Memory gets short: raised lists go back before the kernel reclaims anything, and
# while it reclaims none is raised.  Afterwards they are raised again.
. "$LMM_ROOT/tests/scenarios/lib.sh"

zone=DMA32

# A number of the zone, in pages: "free", "high" (its watermark), or the sum of a
# number over its lists.
zone_pages() {
	awk -v zone="$zone" -v name="$1" '
		/^Node/ { in_zone = $4 == zone; lists = 0 }
		!in_zone { next }
		$1 == "pagesets" { lists = 1 }
		$1 == "pages" && name == "free" { print $3 }
		!lists && $1 == name && NF == 2 { print $2; exit }
		lists && $1 == name ":" { sum += $2; found = 1 }
		END { if (found) print sum }' /proc/zoneinfo
}

vmstat() { awk -v name="$1" '$1 == name { print $2 }' /proc/vmstat; }
reclaimed() { awk '$1 ~ /^(pageoutrun|allocstall.*|pgscan_kswapd|oom_kill)$/' /proc/vmstat; }
raised_by() { state_rows | awk -v zone="$zone" '$2 == zone && $5 > $6 { sum += $5 - $6 } END { print sum + 0 }'; }
defaults() { state_rows | awk -v zone="$zone" '$2 == zone { sum += $6 } END { print sum + 0 }'; }

kicked() { [ "$(counter kicks)" -gt "$1" ]; }
none_raised() { [ "$(raised_by)" = 0 ]; }

# A program of another name than the load's, which holds memory in small parts.
ln -sf "$LMM_ROOT/build/bench/pagetouch" /run/lmm_hog
hold_more() {
	taskset -c 1 /run/lmm_hog -w "$1" -r 1 -p 1 -H 600000 >/dev/null &
}
# All of it touched?
hold_done() {
	sleep 0.3
	while pgrep -r R,D lmm_hog >/dev/null; do
		sleep 0.2
	done
}
hold_end() {
	pkill lmm_hog
	sleep 0.5
}

# The load by itself on the first CPU, what else there is on the second.
work_start() {
	taskset -c 0 "$LMM_ROOT/build/bench/pagetouch" -w "$1" -r 1000000 -p 1 -F 60 >/dev/null &
	load=$!
}

# Watermarks far enough apart for an emulated CPU's turn of 0.1 s.
need write_to /proc/sys/vm/min_free_kbytes 16384
# No reclaim for fragmentation's sake.
need write_to /proc/sys/vm/watermark_boost_factor 0
need lmm_load
bounds=$(lists_bounds)
# The first time loads livemm_klp, whose memory is to be in both readings.
need write_to "$LMM_DBG/pcp/enabled" 1
need write_to "$LMM_DBG/pcp/enabled" 0
pages=$(pages_unaccounted)
need modprobe null_blk gb=64 memory_backed=0
mark=$((2 * $(zone_pages high)))
# Pages stay in lists for a while without a load: what moves them is pressure.
settings="decay_ms=8000 period_ms=10000"

for mode in event depth; do
	echo 3 >/proc/sys/vm/drop_caches
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=$mode decay_ms=3000 period_ms=500"
	work_start 40
	check "$mode: lists are raised" wait_for 60 lists_raised
	sleep 3
	need write_to "$LMM_DBG/pcp/config" "$settings"
	load_stop
	sleep 0.5
	kept=$(zone_pages count)
	raised=$(raised_by)
	need test "$raised" -gt 1024
	excess=$(counter excess_pages)
	note "$mode: lists hold $kept pages and are raised by $raised; high watermark $((mark / 2))"

	before=$(reclaimed)
	beyond=0
	# Until the buddy has no more than 3/4 of where raised lists must go back.
	while [ "$(zone_pages free)" -gt $((mark * 3 / 4)) ]; do
		spare=$(($(zone_pages free) - mark - 4096))
		# Little in a tick: on 6.12 nothing else looks at a zone that is only
		# allocated from.
		hold_more $((spare > 2048 ? spare / 512 : 2))
		hold_done
		sleep 0.9
		[ "$(raised_by)" -le $(($(zone_pages free) + $(zone_pages count) - mark / 2)) ] ||
			beyond=$((beyond + 1))
	done
	same "$mode: raised lists never exceed the room above the watermark" "$beyond" 0
	same "$mode: the kernel has not reclaimed" "$(reclaimed)" "$before"
	note "$mode: now free $(zone_pages free), in lists $(zone_pages count), raised by $(raised_by)"
	check "$mode: pages went back" test $(($(counter excess_pages) - excess)) -gt $((raised / 2))
	same "$mode: no list is raised" "$(raised_by)" 0
	check "$mode: lists hold no more than by default" test "$(zone_pages count)" -le "$(defaults)"

	grown=$(counter grown) watermark=$(counter limited_watermark) room=$(counter limited_room)
	need write_to "$LMM_DBG/pcp/config" "decay_ms=3000 period_ms=500"
	work_start 14
	sleep 4
	load_stop
	same "$mode: near the watermark none grows" "$(counter grown)" "$grown"
	same "$mode: nor is raised otherwise" "$(raised_by)" 0
	note "$mode: limited_watermark +$(($(counter limited_watermark) - watermark)), limited_room +$(($(counter limited_room) - room)), kicks $(counter kicks)"
	check "$mode: and that is counted" test \
		$(($(counter limited_watermark) + $(counter limited_room))) -gt $((watermark + room))
	hold_end

	# At one go, with no tick near: what notices is a hook.
	need write_to "$LMM_DBG/pcp/config" "decay_ms=3000 period_ms=500"
	work_start 40
	check "$mode: lists are raised once more" wait_for 60 lists_raised
	sleep 2
	need write_to "$LMM_DBG/pcp/config" "decay_ms=60000 period_ms=10000"
	load_stop
	kicks=$(counter kicks) periods=$(counter periods)
	hold_more $((($(zone_pages free) + $(zone_pages count) - mark * 3 / 8) / 256))
	check "$mode: a hook notices that memory goes" wait_for 30 kicked "$kicks"
	check "$mode: and lists go back" wait_for 30 none_raised
	note "$mode: kicks +$(($(counter kicks) - kicks)), ticks +$(($(counter periods) - periods)), free $(zone_pages free)"
	hold_end

	# Reclaim: a disk of nothing, read for ever.
	need write_to "$LMM_DBG/pcp/config" "decay_ms=3000 period_ms=500"
	taskset -c 1 dd if=/dev/nullb0 of=/dev/null bs=1M status=none &
	reader=$!
	runs=$(vmstat pageoutrun)
	need wait_for 120 sh -c "[ \$(awk '\$1 == \"pageoutrun\" { print \$2 }' /proc/vmstat) -gt $runs ]"
	work_start 40
	sleep 3
	grown=$(counter grown) limited=$(counter limited_reclaim) runs=$(vmstat pageoutrun)
	above=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.3
		[ "$(raised_by)" = 0 ] || above=$((above + 1))
	done
	note "$mode: pageoutrun +$(($(vmstat pageoutrun) - runs)), limited_reclaim +$(($(counter limited_reclaim) - limited))"
	check "$mode: reclaim was active" test "$(vmstat pageoutrun)" -gt "$runs"
	same "$mode: no list is raised in reclaim" "$above" 0
	same "$mode: none grew" "$(counter grown)" "$grown"
	check "$mode: limited_reclaim counts" test "$(counter limited_reclaim)" -gt "$limited"
	kill $reader
	wait $reader 2>/dev/null
	echo 3 >/proc/sys/vm/drop_caches
	check "$mode: lists are raised again after it" wait_for 60 lists_raised
	load_stop
	need write_to "$LMM_DBG/pcp/enabled" 0
	same "$mode: list bounds are as before" "$(lists_bounds)" "$bounds"
	same "$mode: no hook is left armed" "$(awk '$4 == "armed"' "$LMM_DBG/hooks")" ""
done
lost=$(($(pages_unaccounted) - pages))
note "pages unaccounted for, after less before: $lost"
check "no page is missing" test "$lost" -lt 1024
check "no page is too many" test "$lost" -gt -1024
check "unloads" lmm_unload
