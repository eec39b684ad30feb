# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 7.2 debug
# cpus: 2
# nodes: 2
# timeout: 1500
#
# Memory of each kind is scanned if the kernel scans memory of the kind, also memory mapped anew at
# the same place, moved, or copied by fork; and no content is lost.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

ksm=/sys/kernel/mm/ksm
# A scan before ksmd has merged the pages arms up to 1024 of them.
unmerged=1024
# Stack, data and libraries of the program have some faults, too.
some=200

# Hint faults of a run.
run() {
	before=$(vmstat numa_hint_faults)
	check "$1, $2: its content is right" "$LMM_ROOT/build/programs/mapload" -k "$1" -s 6000
	faults=$(($(vmstat numa_hint_faults) - before))
}

kernel_scans 100 200 400
need lmm_load
need write_to /proc/sys/vm/nr_hugepages 8
if [ -e $ksm/run ]; then
	need write_to $ksm/pages_to_scan 2000
	need write_to $ksm/run 1
fi
for kind in anon anew moved huge ksm file shared readonly hugetlb forked; do
	run $kind off
	off=$faults
	need write_to "$NUMA/config" "enabled=1 scan_delay_ms=0 scan_delay_run_ms=0"
	armed=$(counter updated_entries numa)
	run $kind on
	armed=$(($(counter updated_entries numa) - armed))
	need write_to "$NUMA/enabled" 0
	note "$kind: $off hint faults without the policy, $faults with it; $armed entries armed"
	if [ "$off" -gt $((4 * some)) ]; then
		check "$kind: scanned, as by the kernel" test "$faults" -gt "$some"
		check "$kind: the policy decided what to arm" test "$armed" -gt "$some"
	fi
	chance=$some
	[ $kind != ksm ] || chance=$((some + unmerged))
	check "$kind: no more than by the kernel" test "$faults" -le $((off + off / 10 + chance))
done
same "no entry is left" "$(counter mms numa)" "$(counter mms_gone numa)"
check "unloads" lmm_unload
