# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# timeout: 900
# args: transparent_hugepage=never
# emulation: parallel
#
# Memory gets short: what raised lists hold goes back before the kernel reclaims, and no list grows
# near the watermark. Beside a reader that fills memory with page cache lists do grow, and give back
# what reclaim needs. Afterwards lists are raised again.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# What is said of lists here is of this zone: as it gets short, allocations turn to the
# one below it, whose lists may well be raised then.
zone=DMA32

reclaimed() { awk '$1 ~ /^(pageoutrun|allocstall.*|pgscan_kswapd|oom_kill)$/' /proc/vmstat; }
defaults() { state_rows | awk -v zone="$zone" '$2 == zone { sum += $6 } END { print sum + 0 }'; }
cut_more() { [ $(($(counter limited_reclaim) + $(counter limited_room))) -gt "$1" ]; }
none_raised() { ! zone_raised "$zone"; }

scale_before=$(cat /proc/sys/vm/watermark_scale_factor)
factor_before=$(cat /proc/sys/vm/watermark_boost_factor)
# Watermarks far enough apart for an emulated CPU's turn of 0.1 s, and for a look at what is below
# the mark and above where kswapd wakes.
need write_to /proc/sys/vm/watermark_scale_factor 300
# No reclaim for fragmentation's sake.
need write_to /proc/sys/vm/watermark_boost_factor 0
pcp_before
need modprobe null_blk gb=64 memory_backed=0
mark=$(zone_pages high)
# Pages stay in lists for a while without a load: what moves them is pressure.
settings="decay_ms=60000"

for mode in $(soaked event "event depth"); do
	echo 3 >/proc/sys/vm/drop_caches
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=$mode decay_ms=3000"
	work_start 40
	check "$mode: lists are raised" wait_for 60 lists_raised
	sleep 3
	need write_to "$LMM_DBG/pcp/config" "$settings"
	load_stop
	sleep 0.5
	kept=$(zone_pages count)
	raised=$(raised_by $zone)
	need test "$raised" -gt 1024
	excess=$(counter excess_pages) room=$(counter limited_room)
	note "$mode: lists hold $kept pages and are raised by $raised; high watermark $mark"

	before=$(reclaimed)
	# Until the buddy has no more than 3/4 of where raised lists must go back.
	while [ "$(zone_pages free)" -gt $((mark * 3 / 4)) ]; do
		spare=$(($(zone_pages free) - mark - 4096))
		# Little in a tick: on 6.12 nothing else looks at a zone that is only
		# allocated from.
		hog_hold $((spare > 2048 ? spare / 512 : 2)) taskset -c 1
		sleep 0.9
	done
	same "$mode: the kernel has not reclaimed" "$(reclaimed)" "$before"
	note "$mode: now free $(zone_pages free), in lists $(zone_pages count), raised by $(raised_by $zone)"
	check "$mode: pages went back" test $(($(counter excess_pages) - excess)) -gt $((raised / 2))
	same "$mode: no list is raised" "$(raised_by $zone)" 0
	check "$mode: lists hold no more than by default" test "$(zone_pages count)" -le "$(defaults)"

	check "$mode: and that is counted" counted limited_room "$room"

	need write_to "$LMM_DBG/pcp/config" "decay_ms=3000"
	work_start 14
	sleep 4
	load_stop
	# Zone DMA is not near its own watermark: lists of that zone may grow.
	same "$mode: near the watermark no list grows" "$(raised_by $zone)" 0
	note "$mode: limited_watermark $(counter limited_watermark), limited_room $(counter limited_room), kicks $(counter kicks)"
	hog_end

	# At one go, with no tick near: what notices is a hook.
	need write_to "$LMM_DBG/pcp/config" "decay_ms=3000"
	work_start 40
	check "$mode: lists are raised once more" wait_for 60 lists_raised
	sleep 2
	need write_to "$LMM_DBG/pcp/config" "decay_ms=60000"
	load_stop
	kicks=$(counter kicks) periods=$(counter periods)
	hog_start $((($(zone_pages free) + $(zone_pages count) - mark * 3 / 8) / 256)) taskset -c 1
	check "$mode: a hook notices that memory goes" wait_for 30 counted kicks "$kicks"
	check "$mode: and lists go back" wait_for 30 none_raised
	note "$mode: kicks +$(($(counter kicks) - kicks)), ticks +$(($(counter periods) - periods)), free $(zone_pages free); raised $(lists_changed | tr '\n' ';')"
	hog_end

	# Reclaim: a disk of nothing, read for ever, fills memory with page cache.
	need write_to "$LMM_DBG/pcp/config" "decay_ms=3000"
	taskset -c 1 dd if=/dev/nullb0 of=/dev/null bs=1M status=none &
	reader=$!
	runs=$(vmstat pageoutrun)
	need wait_for 120 grown "$runs" vmstat pageoutrun
	work_start 40
	check "$mode: lists are raised beside a reader" wait_for 60 lists_raised
	limited=$(($(counter limited_reclaim) + $(counter limited_room)))
	excess=$(counter excess_pages)
	runs=$(vmstat pageoutrun)
	check "$mode: reclaim goes on" wait_for 60 grown $((runs + 5)) vmstat pageoutrun
	check "$mode: and cuts lists" wait_for 60 cut_more "$limited"
	check "$mode: lists give back" wait_for 60 grown "$excess" counter excess_pages
	note "$mode: raised by $(raised_by $zone), free $(zone_pages free), in lists $(zone_pages count)"
	kill $reader
	wait $reader 2>/dev/null
	echo 3 >/proc/sys/vm/drop_caches
	check "$mode: lists are raised again after it" wait_for 60 lists_raised
	load_stop
	pcp_after "$mode: "
done
need rmmod null_blk
need write_to /proc/sys/vm/watermark_boost_factor "$factor_before"
need write_to /proc/sys/vm/watermark_scale_factor "$scale_before"
all_back
