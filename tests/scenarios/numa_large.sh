# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# cpus: 2
# nodes: 2
# timeout: 1200
# args: transparent_hugepage=never
#
# A process of many scans a pass: the bounds of a period are those of a whole pass, whatever the size
# of the process, and a scan that mmap_lock was in the way of is asked for again.  Scans of 2 MiB make
# a process of 64 MiB as large as one of 8 GiB.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

# The last column but one, of a process's row: scans of a pass.
scans_of_pass() { space_rows "$1" | awk '{ print $(NF - 1) }'; }
many() { [ "$(scans_of_pass "$hint")" -ge 32 ]; }

kernel_scans 100 1000 60000
need write_to "$KERNEL_NUMA/scan_size_mb" 2
need lmm_load
for mode in vma period; do
	need write_to "$NUMA/config" "enabled=1 mode=$mode"
	hint_start -p own -m 32
	check "$mode: a pass takes scans by the size of the process" wait_for 60 many
	count=$(scans_of_pass "$hint")
	note "$mode: $(space_rows "$hint")"
	check "$mode: a scan's period is a share of the longest pass" \
		test "$(($(space_field "$hint" 3) * count))" -le 240000
	hints_stop
	need write_to "$NUMA/enabled" 0
done

need write_to "$KERNEL_NUMA/scan_size_mb" 256
need write_to "$NUMA/config" "enabled=1 mode=vma"
retried=$(counter retried numa)
hint_start -p own -t 1 -m 4 -w 64
check "known under a busy mmap_lock" wait_for 120 space_known "$hint"
check "scans are asked for again" wait_for 120 grown $((retried + 5)) counter retried numa
made=$(growth 20 counter updated_entries numa)
note "in 20 s $made entries armed; $(counter retried numa) scans asked for again so far"
check "and are made" test "$made" -gt 0
hints_stop
need write_to "$NUMA/enabled" 0
check "unloads" lmm_unload
