# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1
# cpus: 4
# nodes: 2
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never
# emulation: parallel
#
# A process takes the memory of node 0 at one go, while lists of another CPU hold much of it. Within
# 10 ms of a look at the lists, in which no hook may ask for another, the process takes more than
# the look gave back. The zone is then below its low watermark, where no list is refilled, and so no
# hook asks any more. Pages still go back before requests turn to node 1, with no tick near. By
# name: on a busy host the worker's CPU may stand still for longer than the process's.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# Pages that were wanted of node 0 and came from another.
foreign() { awk '$1 == "numa_foreign" { print $2 }' /sys/devices/system/node/node0/numastat; }

# Take what is free or in lists, down to twice the high watermark; say how many
# pages came from elsewhere.
burst() {
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	_before=$(foreign) _kicks=$(counter kicks) _held=$(zone_pages count)
	hog_hold $((($(zone_pages free) + _held - 2 * $(zone_pages high)) / 256)) taskset -c 1
	elsewhere=$(($(foreign) - _before))
	note "$1: lists held $_held pages, now $(zone_pages count); free $(zone_pages free), kicks +$(($(counter kicks) - _kicks)), $elsewhere pages from elsewhere"
	hog_end
}

# For programs of our own to run where they do not disturb.
taskset -pc 2-3 $$ >/dev/null
# No reclaim for fragmentation's sake.
need write_to /proc/sys/vm/watermark_boost_factor 0
# Memory of programs may not move to where it is run.
[ ! -e /proc/sys/kernel/numa_balancing ] || echo 0 >/proc/sys/kernel/numa_balancing
pcp_before
burst off
stock=$elsewhere
for round in $(seq "$(soaked 5 10)"); do
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=event decay_ms=3000"
	work_start 24
	check "$round: lists are raised" wait_for 60 grown 4096 raised_by
	sleep 2
	need write_to "$LMM_DBG/pcp/decay_ms" 60000
	load_stop
	burst "$round"
	# A batch a CPU may be under way.
	check "$round: no more than without it" test "$elsewhere" -le $((stock + 63 * LMM_CPUS))
	need write_to "$LMM_DBG/pcp/enabled" 0
done
pcp_after ""
all_back
