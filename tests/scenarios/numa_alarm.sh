# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# cpus: 2
# nodes: 2
# timeout: 1500
# args: transparent_hugepage=never
#
# A third of the memory stays remote, because the node of the thread has no room: full scans do not
# come back for ever, and there are fewer hint faults than without the policy.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

node=/sys/devices/system/node/node1
huge=$node/hugepages/hugepages-2048kB/nr_hugepages
watermark=/proc/sys/vm/min_free_kbytes
free_of_node() { awk '$3 == "MemFree:" { print $4 }' $node/meminfo; }

# Nothing moves to a node that is below its high watermark.
fill_node() {
	echo 400 >"$huge" || return
	echo $(($(free_of_node) * 2 + 16384)) >"$watermark"
}

# Percent of hint faults that were remote, in so many seconds.
remote_share() {
	from=$(vmstat numa_hint_faults) local=$(vmstat numa_hint_faults_local)
	sleep "$1"
	all=$(($(vmstat numa_hint_faults) - from)) local=$(($(vmstat numa_hint_faults_local) - local))
	echo $(((all - local) * 100 / (all + 1))) "$all"
}

kernel_scans 1000 1000 60000
need lmm_load
need fill_node
note "node 1: $(cat "$huge") huge pages, $(free_of_node) KiB free, $(cat $watermark) KiB kept"
for side in off on; do
	[ "$side" = off ] || need write_to "$NUMA/enabled" 1
	hint_start -p own -t 3 -m 8
	# A slow host takes long to get past the first full scans.
	[ "$side" = off ] || need wait_for 600 grown 5 counter sampling_scans numa
	sleep 20
	alarms=$(counter resampled numa)
	measured=$(remote_share 60)
	alarms=$(($(counter resampled numa) - alarms))
	note "$side: ${measured#* } hint faults in 60 s, ${measured% *} % remote, $alarms alarms;" \
		"$(vmstat numa_pages_migrated) moved so far"
	hints_stop
	eval "faults_$side=${measured#* }"
	[ "$side" = on ] || check "memory stays remote" test "${measured% *}" -ge 15
done
check "sampling scans were made" test "$(counter sampling_scans numa)" -gt 5
check "at most two alarms a minute" test "$alarms" -le 2
# shellcheck disable=SC2154 # by eval
check "fewer hint faults than the kernel's" test "$faults_on" -lt "$faults_off"
need write_to "$NUMA/enabled" 0
check "unloads" lmm_unload
