# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1
# memory: 1G
# nodes: 2
# args: transparent_hugepage=never
# allow: \bCall Trace:
#
# Memory runs out for a process that is bound to node 1, while a load keeps the lists of node 0
# raised. The process is killed as soon as without pcp: pages of node 0 that pcp gives back do not
# help the process, and therefore do not put off the killer. (The OOM killer prints a call trace.)
# Lists of CPUs of both nodes share one part of each zone.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# Memory of node 1 runs out; pages of node 0 that pcp gives back, and calls of the killer.
run_out() {
	_kills=$(vmstat oom_kill) calls=$(counter oom_calls) returned=$(counter oom_pages)
	victim_start 4G "$cgroup/bound"
	check "$1: memory of the node runs out, and one is killed" \
		wait_for 120 grown "$_kills" vmstat oom_kill
	calls=$(($(counter oom_calls) - calls)) returned=$(($(counter oom_pages) - returned))
	note "$1: the killer called $calls times, pcp gave back $returned pages"
	hog_end
	[ "$returned" != 0 ] || return 0
	seen=$((seen + 1))
	[ "$calls" -gt "$least" ] || least=$calls
}

# The bounds of all lists of a zone are an eighth of the zone at most, and are there.
bounds_fit() {
	awk 'FNR == NR && $1 == "Node" { zone = $2 + 0 " " $4 }
		FNR == NR && $1 == "managed" { most[zone] = $2 / 8 }
		FNR != NR && $1 != "#" && $3 ~ /^[0-9]+$/ { sum[$1 " " $2] += $7 }
		END { for (zone in sum) if (!sum[zone] || sum[zone] > most[zone]) bad = 1
		      exit bad || !length(sum) }' /proc/zoneinfo "$LMM_DBG/pcp/state"
}

echo 0 >/proc/sys/vm/oom_dump_tasks
cgroup_make bound cpuset.mems 1
pcp_before
need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=500"
check "the lists of both nodes' CPUs share a zone's part" wait_for 60 bounds_fit
note "$(awk '$1 != "#" && $3 ~ /^[0-9]+$/ { print $1, $2, $3, $7 }' "$LMM_DBG/pcp/state" | tr '\n' ';')"
# The kernel empties the lists of every node before the kernel calls the killer.  So the load has a
# CPU of its own, and fills its lists anew within a turn of that CPU.
taskset -pc 1 $$ >/dev/null
taskset -c 0 "$LMM_ROOT/build/bench/pagetouch" -w 16 -r 1000000 -p 1 >/dev/null &
load=$!
# Chance has the lists empty when the killer is called, now and then: such a round shows nothing.
# Pages of node 1 that reclaim has just freed may put the killer off once, and what is being killed
# may call once more.
seen=0 least=99 round=0 wanted=$(soaked 2 5)
while { [ "$seen" -lt "$wanted" ] || [ "$least" -gt 1 ]; } && [ "$round" -lt $((5 * wanted)) ]; do
	round=$((round + 1))
	check "round $round: lists of node 0 are raised" wait_for 60 lists_raised
	run_out "round $round"
	check "round $round: pages of node 0 do not put the killer off" test "$calls" -le 4
done
check "pages of node 0 went back" test "$seen" -ge "$wanted"
check "and the first call killed, in one round at least" test "$least" -eq 1
load_stop
pcp_after ""
all_back
