# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12
# memory: 1G
# nodes: 2
# timeout: 900
# args: transparent_hugepage=never
# allow: \bCall Trace:
#
# Compaction of one node closes the depots of that node, not of the other. Memory runs out for a
# process that is bound to one node, while the depots of both nodes hold pages. Depot pages of that
# node are used or given back before the OOM killer starts. The killer still kills the process:
# pages in the other node's depot do not delay the kill. (The OOM killer prints a call trace.)
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"

# Pages that the depots of a node hold.
held_on() {
	awk -v node="$1" '/^[0-9]/ && $1 == node { sum += $4 } END { print sum + 0 }' "$zonelock/state"
}

# The last column of a node's rows.
why_on() { awk -v node="$1" '/^[0-9]/ && $1 == node { print $8 }' "$zonelock/state"; }

# A CPU of each node frees what is of that node.
stock_both() {
	for _cpu in 0 1; do
		hog_hold 64 taskset -c "$_cpu"
		hog_end
	done
	[ "$(held_on 0)" -gt 600 ] && [ "$(held_on 1)" -gt 600 ]
}

# Pages that processes of this script took, or that were old.
gone() {
	awk '$1 == "taken_pages" || $1 == "returned_age" { sum += $2 } END { print sum + 0 }' \
		"$zonelock/counters"
}

# Pages that were taken or went back, for whatever reason.
all_gone() { awk '/^(taken_pages|returned_)/ { sum += $2 } END { print sum + 0 }' "$zonelock/counters"; }

echo 0 >/proc/sys/vm/oom_dump_tasks
cgroup_make bound cpuset.mems 1
pages_before zonelock
need write_to "$zonelock/config" "enabled=1 max_age_ms=60000"

check "the depots of both nodes hold pages" wait_for 60 stock_both
kept=$(gone) && kept=$((kept + $(held_on 1)))
# A depot opens after a second, which a busy host may miss.
compacted() { write_to /sys/devices/system/node/node0/compact 1 && why_on 0 | grep -q closed; }
check "compaction of node 0 closes its depots" wait_for 60 compacted
same "none of node 1 is closed" "$(why_on 1 | grep -c closed)" 0
check "node 1 holds pages" test "$(held_on 1)" -gt 0
check "node 1 keeps its pages" test $(($(held_on 1) + $(gone))) -ge "$kept"
check "the depots of both nodes hold pages once more" wait_for 60 stock_both
before=$(vmstat oom_kill) left=$(all_gone) bound=$(held_on 1) other=$(held_on 0)
cat "$zonelock/state"
victim_start 4G "$cgroup/bound"
check "memory of the node runs out" wait_for 120 grown "$before" vmstat oom_kill
same "one is killed" "$(($(vmstat oom_kill) - before))" 1
cat "$zonelock/state"
note "node 1 held $bound, now $(held_on 1); node 0 held $other, now $(held_on 0)"
note "$(tr '\n' ' ' <"$zonelock/counters")"
check "its depots gave up what they held" test $(($(all_gone) - left)) -ge "$bound"
hog_end
check "the depots of both nodes hold pages again" wait_for 60 stock_both
need write_to "$zonelock/enabled" 0
same "all that was stored was taken or went back" "$(unaccounted)" 0
all_back
