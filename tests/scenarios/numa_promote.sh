# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 7.2
# cpus: 2
# memory: 1G
# slow: 512M
# timeout: 1500
# args: transparent_hugepage=never
#
# Mode promote: hot memory of a lower memory tier that the kernel's scan leaves out is promoted,
# cold memory stays, the top tier has no more hint faults, and demotion makes room.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

TIERLOAD=$LMM_ROOT/build/programs/tierload
tier_of() {
	for tier in /sys/devices/virtual/memory_tiering/memory_tier*; do
		[ "$(cat "$tier/nodelist")" != "$1" ] || echo "${tier##*memory_tier}"
	done
}

top_free() { awk '$3 == "MemFree:" { print int($4 / 1024) }' /sys/devices/system/node/node0/meminfo; }
top_full() { [ "$(top_free)" -lt 80 ]; }

# Milliseconds until 95 % of the hot part are on node 0, percent of the hot part and of the cold.
tier_run() {
	_side=$1
	shift
	updates=$(vmstat numa_pte_updates) faults=$(vmstat numa_hint_faults)
	promotions=$(vmstat pgpromote_success)
	came=$("$TIERLOAD" "$@") || came="- - -"
	read -r took hot cold <<-END
		$came
	END
	note "$_side, $*: 95 % of the hot part on node 0 after $took ms, at the end $hot %, of the cold $cold %;" \
		"$(($(vmstat numa_pte_updates) - updates)) entries armed," \
		"$(($(vmstat numa_hint_faults) - faults)) hint faults," \
		"$(($(vmstat pgpromote_success) - promotions)) pages promoted"
}

kernel_scans 1000 1000 60000
need write_to /proc/sys/kernel/numa_balancing 2
need write_to /sys/kernel/mm/numa/demotion_enabled 1
check "node 1 is a lower tier" test "$(tier_of 1)" -gt "$(tier_of 0)"
need lmm_load
check "hands off in mode quiet" write_to "$NUMA/config" "enabled=1 mode=quiet"
check "and says so" tells status '^numa +on +quiet.*memory tiering'
need write_to "$NUMA/enabled" 0

tier_run off -k readonly -s 30000
check "the kernel leaves more than half of a mapping that is only read" test "$hot" -lt 50
tier_run off -k shared -s 30000
promoted=$(vmstat pgpromote_success)
need write_to "$NUMA/config" "enabled=1 mode=promote"
check "on" tells status '^numa +on +promote'
for kind in readonly shared anon; do
	tier_run on -k $kind -s 120000 -r 5000
	check "$kind: 95 % of the hot part are promoted within two minutes" test "${took:--}" != -
	check "$kind: cold memory stays" test "$cold" -lt 10
done
promoted=$(($(vmstat pgpromote_success) - promoted)) counted=$(counter promoted numa)
note "$counted pages counted, the kernel says $promoted promoted"
check "promoted pages are counted" test "$((counted * 10))" -ge "$((promoted * 8))"
check "none is counted twice" test "$((counted * 10))" -le "$((promoted * 11))"
note "$(grep -E '^(promoted|updated_entries|scan_flushes) ' "$NUMA/counters" | tr '\n' ' ')"

# All is on the top tier: nothing to arm.
"$LMM_ROOT/build/programs/hintload" -p shared -t 2 -m 16 >/dev/null &
hint=$!
check "a load on the top tier is known" wait_for 60 space_known "$hint"
faults=$(growth 10 vmstat numa_hint_faults)
check "the top tier has no hint faults ($faults)" test "$faults" -lt 200
# 7.2 itself scans a bound process no more, and asks nobody.
cgroup_make bound cpuset.mems 0
need write_to $cgroup/bound/cgroup.procs "$hint"
check "a process that cpuset.mems comes to bind is left alone" wait_for 120 space_unknown "$hint"
check "and runs on" lives hintload
hints_stop

# The top tier is full of memory that nobody uses.
hog_mib=$(($(top_free) - 40))
demoted=$(vmstat pgdemote_kswapd pgdemote_direct)
"$LMM_ROOT/build/programs/hintload" -p own -t 1 -m $hog_mib -r 1000 >/dev/null &
hog=$!
check "the top tier is full" wait_for 60 top_full
kill -STOP "$hog"
note "$(top_free) MiB free on the top tier"
tier_run "top tier full" -k readonly -m 160 -p 128 -s 400000 -r 5000
note "$(($(vmstat pgdemote_kswapd pgdemote_direct) - demoted)) pages demoted"
check "demotion works beside promotion" test "$(($(vmstat pgdemote_kswapd pgdemote_direct) - demoted))" -gt 0
check "95 % of the hot part are promoted all the same" test "${took:--}" != -
kill -KILL "$hog"

# Everything is left alone when the mode is off.
need write_to "$NUMA/enabled" 0
same "no entry is left" "$(counter mms numa)" "$(counter mms_gone numa)"
tier_run "off again" -k readonly -s 20000
check "off is as before" test "$hot" -lt 50
check "unloads" lmm_unload
