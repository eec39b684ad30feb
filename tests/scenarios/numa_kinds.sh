# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12 7.2 debug
# cpus: 2
# nodes: 2
# timeout: 1500
#
# Memory of each kind is scanned if the kernel scans memory of the kind, also memory mapped anew at
# the same place, moved, or copied by fork; and no content is lost.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

ksm=/sys/kernel/mm/ksm
# Stack, data and libraries of the program have some faults, too.
some=200

# Hint faults of a run, and the number of times that the memory was scanned.
run() {
	before=$(vmstat numa_hint_faults)
	passes=$("$LMM_ROOT/build/programs/mapload" -k "$1" -s 6000)
	same "$1, $2: its content is right" $? 0
	faults=$(($(vmstat numa_hint_faults) - before))
	check "$1, $2: scanned $passes times" test "$passes" -gt 0
}

kernel_scans 100 200 400
need lmm_load
need write_to /proc/sys/vm/nr_hugepages 8
if [ -e $ksm/run ]; then
	need write_to $ksm/pages_to_scan 2000
	need write_to $ksm/run 1
	never=ksm
fi
never="${never-} readonly hugetlb"
# 6.1 leaves shared memory and tmpfs alone, too.
case $LMM_KERNEL in
6.1 | debug) never="$never file shared" ;;
esac
kinds="anon anew moved huge file shared readonly hugetlb forked"
# The kernel debug merges no pages.
[ ! -e $ksm/run ] || kinds="$kinds ksm"
for kind in $kinds; do
	run $kind off
	off=$faults off_passes=$passes
	need write_to "$NUMA/enabled" 1
	armed=$(counter updated_entries numa)
	run $kind on
	armed=$(($(counter updated_entries numa) - armed))
	need write_to "$NUMA/enabled" 0
	note "$kind: $off hint faults in $off_passes scans without the policy," \
		"$faults in $passes with it; $armed entries armed"
	# How many faults a run of seconds has is chance; bench/numa.md has the comparison.
	case " $never " in
	*" $kind "*)
		check "$kind: not scanned, as by the kernel" test $((armed + faults)) -le $((2 * some))
		;;
	*)
		check "$kind: the policy decided what to arm" test "$armed" -gt "$some"
		;;
	esac
done
same "no entry is left" "$(counter mms numa)" "$(counter mms_gone numa)"
check "unloads" lmm_unload
