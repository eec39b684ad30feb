# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# cpus: 2
# nodes: 2
# timeout: 1200
# args: transparent_hugepage=never
#
# A process of many scans a pass is scanned more rarely, too, and a scan that mmap_lock was in the
# way of costs no more than one period of the kernel's.  Scans of 2 MiB make a process of 64 MiB as
# large as one of 8 GiB.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

quiet() { [ "$(space_field "$hint" 3)" -gt "$(space_field "$hint" 4)" ]; }
scans() { space_field "$hint" 7; }

kernel_scans 100 1000 60000
need write_to "$KERNEL_NUMA/scan_size_mb" 2
need lmm_load
hint_start -p own -m 32
check "the kernel scans" wait_for 60 grown "$(vmstat numa_hint_faults)" vmstat numa_hint_faults
sleep 10
off=$(kernel_rates "$hint" 20)
need write_to "$NUMA/enabled" 1
check "passes are judged as a whole" wait_for 300 quiet
on=$(kernel_rates "$hint" 20)
note "in a second of the load without and with: ${off% *} and ${on% *} entries armed; $(space_rows "$hint")"
check "and the kernel arms less by a tenth" test "$((${on% *} * 10))" -le "$((${off% *} * 9))"
hints_stop

need write_to "$KERNEL_NUMA/scan_size_mb" 256
kernel_scans 100 200 200
hint_start -p own -t 1 -m 4 -w 64
check "known under a busy mmap_lock" wait_for 120 space_known "$hint"
made=$(growth 20 vmstat numa_pte_updates)
note "in 20 s $made entries armed in $(scans) scans so far"
check "scans are made all the same" test "$made" -gt 0
hints_stop
need write_to "$NUMA/enabled" 0
check "unloads" lmm_unload
