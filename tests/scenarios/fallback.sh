# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# kernels: 6.1
# cpus: 4
# nodes: 2
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never kernelcore=512M
#
# Two nodes: pages in the raised lists of node 0 go back before allocations there turn
# to node 1.  And with scope=node one zone's shortage is its whole node's.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# A number of node 0 by zone ("free", "high", its lists' "count"), summed over the
# zones that user memory comes from.
node_pages() {
	awk -v name="$1" -v only="${2:-}" '
		/^Node/ { ours = $2 == "0," && $4 != "DMA" && (only == "" || $4 == only); lists = 0 }
		!ours { next }
		$1 == "pagesets" { lists = 1 }
		$1 == "pages" && $2 == name { sum += $3 }
		!lists && $1 == name && NF == 2 { sum += $2 }
		lists && $1 == name ":" { sum += $2 }
		$1 == "start_pfn:" { lists = 0 }
		END { print sum + 0 }' /proc/zoneinfo
}

# Pages that were wanted of node 0 and came from another.
foreign() { awk '$1 == "numa_foreign" { print $2 }' /sys/devices/system/node/node0/numastat; }
reclaimed() { awk '$1 ~ /^(pageoutrun|allocstall.*|oom_kill)$/' /proc/vmstat; }
# Pages by which lists of node 0 are raised, in all zones or in one.
raised_by() {
	state_rows | awk -v only="${1:-}" '$1 == 0 && (only == "" || $2 == only) && $5 > $6 {
		sum += $5 - $6 } END { print sum + 0 }'
}
zone_raised() { state_rows | awk -v zone="$1" '$1 == 0 && $2 == zone && $5 > $6 { found = 1 } END { exit !found }'; }

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
	sleep 1
}
work_start() {
	taskset -c 0 "$LMM_ROOT/build/bench/pagetouch" -w "$1" -r 1000000 -p 1 -F 60 >/dev/null &
	load=$!
}

# Take what is free on node 0 little by little, with the load at work, down to what a
# kernel without us would serve from there; say how many pages came from elsewhere.
fill_node() {
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	_until=$(node_pages high)
	_before=$(foreign)
	while :; do
		pkill -STOP pagetouch
		_free=$(($(node_pages free) + $(node_pages count)))
		pkill -CONT pagetouch
		# What the load does not hold just now it will.
		[ "$_free" -gt $((_until + 4096)) ] || break
		_spare=$((_free - _until - 12288))
		hold_more $((_spare > 2048 ? _spare / 512 : 4))
		hold_done
		sleep 0.5
	done
	sleep 3
	echo $(($(foreign) - _before))
}

# For programs of our own to run where they do not disturb.
taskset -pc 2-3 $$ >/dev/null
need write_to /proc/sys/vm/min_free_kbytes 16384
# No reclaim for fragmentation's sake.
need write_to /proc/sys/vm/watermark_boost_factor 0
need lmm_load
bounds=$(lists_bounds)
# The first time loads livemm_klp, whose memory is to be in both readings.
need write_to "$LMM_DBG/pcp/enabled" 1
need write_to "$LMM_DBG/pcp/enabled" 0
pages=$(pages_unaccounted)
need write_to "$LMM_DBG/pcp/config" "decay_ms=3000 period_ms=500"
# Memory of programs may not move to where it is run.
[ ! -e /proc/sys/kernel/numa_balancing ] || echo 0 >/proc/sys/kernel/numa_balancing

work_start 16
sleep 2
stock=$(fill_node)
note "off: $stock pages wanted of node 0 came from elsewhere"
load_stop
hold_end
for mode in event depth; do
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=$mode"
	work_start 16
	check "$mode: lists are raised" wait_for 60 lists_raised
	sleep 2
	note "$mode: lists of node 0 hold $(node_pages count) pages, raised by $(raised_by)"
	excess=$(counter excess_pages) before=$(reclaimed)
	on=$(fill_node)
	note "$mode: $on pages came from elsewhere, excess_pages +$(($(counter excess_pages) - excess)), raised by $(raised_by), $(raised_by Movable) of it Movable; free $(node_pages free Movable) Movable, $(node_pages free DMA32) DMA32"
	# Two batches a CPU may be under way.
	check "$mode: no more than without it" test "$on" -le $((stock + 2 * 63 * LMM_CPUS))
	same "$mode: the kernel has not reclaimed" "$(reclaimed)" "$before"
	same "$mode: no list of the zone that is full is raised" "$(raised_by Movable)" 0
	load_stop
	hold_end
	need write_to "$LMM_DBG/pcp/enabled" 0
	same "$mode: list bounds are as before" "$(lists_bounds)" "$bounds"
done

# Fill the zone that programs' memory comes from first; then the load is in the other.
while [ "$(node_pages free Movable)" -gt "$(node_pages high Movable)" ]; do
	hold_more 8
	sleep 0.3
done
need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=event scope=zone"
work_start 16
check "scope=zone: lists of the zone that has memory are raised" wait_for 60 zone_raised DMA32
need write_to "$LMM_DBG/pcp/config" "scope=node"
sleep 1
raised=$(raised_by DMA32) limited=$(counter limited_watermark)
load_stop
work_start 64
sleep 5
check "scope=node: none grows, for the other zone's sake" test "$(raised_by DMA32)" -le "$raised"
check "scope=node: and that is why" test "$(counter limited_watermark)" -gt "$limited"
need write_to "$LMM_DBG/pcp/config" "scope=zone"
check "scope=zone: and are raised again" wait_for 60 zone_raised DMA32
load_stop
hold_end
need write_to "$LMM_DBG/pcp/enabled" 0
same "list bounds are as before" "$(lists_bounds)" "$bounds"
same "no hook is left armed" "$(awk '$4 == "armed"' "$LMM_DBG/hooks")" ""
lost=$(($(pages_unaccounted) - pages))
note "pages unaccounted for, after less before: $lost"
check "no page is missing" test "$lost" -lt 1024
check "no page is too many" test "$lost" -gt -1024
check "unloads" lmm_unload
