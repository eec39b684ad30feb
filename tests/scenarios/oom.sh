# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# timeout: 900
# args: transparent_hugepage=never
# allow: \bCall Trace:
# emulation: parallel
#
# Before the OOM killer starts, raised lists go back, and no list is raised for decay_ms. A cgroup
# that is out of memory has no such effect. (The OOM killer prints a call trace each time.)
. "$LMM_ROOT/tests/scenarios/lib.sh"

killed() { grown "$1" vmstat oom_kill; }
listed() { awk '$1 == "count:" { sum += $2 } END { print sum }' /proc/zoneinfo; }
# Hold the load where lists have more than they may by the kernel's bounds.
lists_full() {
	pkill -STOP pagetouch
	[ "$(listed)" -gt "$(lists_bounds | awk '{ sum += $5 } END { print sum }')" ] && return
	pkill -CONT pagetouch
	return 1
}
shown_as() { state_rows | awk -v why="$1" '$NF == why { found = 1 } END { exit !found }'; }

# The killer writes to a slow console meanwhile.
decay=60
now() { cut -d. -f1 /proc/uptime; }

# Rests while its pages are in the lists.
LOAD_ROUNDS="-w 24 -F 200"
echo 0 >/proc/sys/vm/oom_dump_tasks
cgroup_make small memory.max 16M
pcp_before

for mode in $(soaked depth "event depth"); do
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=$mode decay_ms=${decay}000"
	load_start
	check "$mode: lists are raised" wait_for 60 lists_raised

	calls=$(counter oom_calls) before=$(vmstat oom_kill)
	victim_start 64 "$cgroup/small"
	check "$mode: a cgroup's killer kills" wait_for 60 killed "$before"
	hog_end
	same "$mode: which does not count" "$(counter oom_calls)" "$calls"
	check "$mode: lists stay raised" wait_for 10 lists_raised

	# The killer as an admin calls it, with lists full: the simplest way to see them go.
	victim_start 8
	sleep 2
	check "$mode: lists are full" wait_for 60 lists_full
	calls=$(counter oom_calls) returned=$(counter oom_pages) excess=$(counter excess_pages)
	before=$(vmstat oom_kill) held=$(listed) began=$(now)
	echo f >/proc/sysrq-trigger
	check "$mode: the killer calls" wait_for 30 counted oom_calls "$calls"
	grown=$(counter grown)
	check "$mode: no list is raised" lists_idle
	check "$mode: state says why" shown_as oom
	gone=$(($(counter oom_pages) - returned))
	pkill -CONT pagetouch
	note "$mode: lists held $held pages, gave back $gone, oom_calls $(counter oom_calls)"
	check "$mode: pages went back" test "$gone" -gt 0
	check "$mode: no more than came out of lists" test "$gone" -le $(($(counter excess_pages) - excess))
	check "$mode: a task is killed" wait_for 30 killed "$before"
	sleep 2
	lists_idle
	raised=$? later=$(counter grown) took=$(($(now) - began))
	check "$mode: that took less than decay_ms" test "$took" -lt $decay
	same "$mode: none grows for a while" "$later" "$grown"
	same "$mode: none is raised for a while" "$raised" 0
	hog_end
	check "$mode: then they are raised again" wait_for 150 lists_raised

	# And in earnest.
	calls=$(counter oom_calls) before=$(vmstat oom_kill) returned=$(counter oom_pages)
	victim_start 4G
	check "$mode: memory runs out" wait_for 120 killed "$before"
	check "$mode: the killer called" counted oom_calls "$calls"
	note "$mode: in earnest: oom_calls +$(($(counter oom_calls) - calls)), oom_pages +$(($(counter oom_pages) - returned)), killed $(($(vmstat oom_kill) - before))"
	check "$mode: the load lives" lives pagetouch
	hog_end
	check "$mode: lists are raised again after it" wait_for 150 lists_raised
	load_stop
	pcp_after "$mode: "
done
all_back
