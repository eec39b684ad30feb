# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1
# cpus: 4
# nodes: 2
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never kernelcore=512M
#
# Two nodes: pages in the raised lists of node 0 go back before allocations on node 0 turn to node
# 1.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# Pages that were wanted of node 0 and came from another.
foreign() { awk '$1 == "numa_foreign" { print $2 }' /sys/devices/system/node/node0/numastat; }
reclaimed() { awk '$1 ~ /^(pageoutrun|allocstall.*|oom_kill)$/' /proc/vmstat; }

# Take what is free on node 0 little by little, with the load at work, down to what a
# kernel without us would serve from there; say how many pages came from elsewhere.
fill_node() {
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	_until=$(zone_pages high)
	_before=$(foreign)
	while :; do
		pkill -STOP pagetouch
		_free=$(($(zone_pages free) + $(zone_pages count)))
		pkill -CONT pagetouch
		# What the load does not hold just now it will.
		[ "$_free" -gt $((_until + 4096)) ] || break
		_spare=$((_free - _until - 12288))
		hog_hold $((_spare > 2048 ? _spare / 512 : 4)) taskset -c 1
		sleep 1
	done
	sleep 3
	echo $(($(foreign) - _before))
}

# For programs of our own to run where they do not disturb.
taskset -pc 2-3 $$ >/dev/null
need write_to /proc/sys/vm/min_free_kbytes 16384
# No reclaim for fragmentation's sake.
need write_to /proc/sys/vm/watermark_boost_factor 0
pcp_before
# Memory of programs may not move to where it is run.
[ ! -e /proc/sys/kernel/numa_balancing ] || echo 0 >/proc/sys/kernel/numa_balancing

work_start 16
sleep 2
stock=$(fill_node)
note "off: $stock pages wanted of node 0 came from elsewhere"
load_stop
hog_end
for mode in $(soaked event "event depth"); do
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=$mode"
	work_start 16
	check "$mode: lists are raised" wait_for 60 lists_raised
	check "$mode: also of the zone that programs' memory comes from first" wait_for 60 zone_raised Movable
	sleep 2
	note "$mode: lists of node 0 hold $(zone_pages count) pages, raised by $(raised_by)"
	excess=$(counter excess_pages) before=$(reclaimed)
	on=$(fill_node)
	note "$mode: $on pages came from elsewhere, excess_pages +$(($(counter excess_pages) - excess)), raised by $(raised_by), $(raised_by Movable) of it Movable; free $(zone_pages free Movable) Movable, $(zone_pages free DMA32) DMA32"
	# Two batches a CPU may be under way.
	check "$mode: no more than without it" test "$on" -le $((stock + 2 * 63 * LMM_CPUS))
	same "$mode: the kernel has not reclaimed" "$(reclaimed)" "$before"
	same "$mode: no list of the zone that is full is raised" "$(raised_by Movable)" 0
	load_stop
	hog_end
	need write_to "$LMM_DBG/pcp/enabled" 0
	same "$mode: list bounds are as before" "$(lists_bounds)" "$bounds"
done

pcp_after ""
all_back
