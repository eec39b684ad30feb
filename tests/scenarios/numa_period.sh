# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# nodes: 2
# args: transparent_hugepage=never
#
# Modes quiet and period, without a livepatch, and sysctl kernel.numa_balancing.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

sysctl=/proc/sys/kernel/numa_balancing
says() { tells status "^numa +on .*$1"; }

kernel_scans 100 200 200
same "balancing is on" "$(cat $sysctl)" 1
need lmm_load livepatch=0
# Scans follow the time that a process runs, so one that rests shows the same.
hint_start -p own -m 16 -r 50
check "the kernel scans" wait_for 60 grown "$(vmstat numa_hint_faults)" vmstat numa_hint_faults
check "no livepatch is needed" write_to "$NUMA/enabled" 1
refute "nor loaded" any_klp_loaded
check "scan_begin is armed" tells hooks '^scan_begin .* armed'

check "faults are counted" wait_for 60 grown 0 numa_classes
check "the period grows" wait_for 120 grown 399 space_field "$hint" 3
figures=$(left_out 20)
note "in 20 s ${figures% *} scans, ${figures#* } put off, with a period of $(space_field "$hint" 3) ms"
check "a longer period is less scanning" test "${figures#* }" -gt 0
check "scans were put off" test "$(counter postponed numa)" -gt 0
check "mode period" write_to "$NUMA/mode" period
before=$(counter postponed numa)
check "gives the process a period" wait_for 60 space_known "$hint"
check "which may be longer than the kernel's" wait_for 120 grown 900 space_field "$hint" 3
same "and puts nothing off" "$(counter postponed numa)" "$before"
check "mode quiet again" write_to "$NUMA/mode" quiet

# Off by sysctl: what is armed still faults, then nothing does.
need write_to $sysctl 0
check "0: status says why there is nothing to do" wait_for 10 says "numa_balancing is 0"
same "0: it is supported" "$(cat "$NUMA/supported")" yes
check "0: hint faults cease" wait_for 30 gives 0 growth 2 vmstat numa_hint_faults
scans=$(counter scans numa)
sleep 3
same "0: no scan is counted" "$(counter scans numa)" "$scans"
check "0: goes off" write_to "$NUMA/enabled" 0
check "0: and on" write_to "$NUMA/enabled" 1
need write_to $sysctl 1
check "1: faults again" wait_for 60 grown "$scans" counter scans numa
refute "1: nothing to say" says numa_balancing

# Memory tiering wants to see how hot pages are, and is none of ours.
need write_to $sysctl 2
check "2: status says hands off" wait_for 10 says "hands off.*tiering"
# A scan that was put off is still to be asked for.
check "2: the process is left alone" wait_for 60 space_unknown "$hint"
scans=$(counter scans numa) faults=$(numa_classes)
sleep 5
same "2: no scan is counted" "$(counter scans numa)" "$scans"
same "2: no fault is" "$(numa_classes)" "$faults"
need write_to $sysctl 1
check "1: and again" wait_for 60 grown "$scans" counter scans numa
check "rmmod under faults" lmm_unload
check "the kernel scans on" wait_for 60 grown "$(vmstat numa_pte_updates)" vmstat numa_pte_updates
hints_stop
