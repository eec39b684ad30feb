# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# named: 6.12 7.2
# nodes: 2
# args: transparent_hugepage=never
#
# Every hint fault is counted in its class, the scan period follows the faults, and the kernel
# scans less.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

trace=/sys/kernel/tracing

kernel_scans 100 200 200
need lmm_load
check "the policy is supported" grep -qx yes "$NUMA/supported"
hint_start -p own
check "the kernel scans" wait_for 60 grown "$(vmstat numa_hint_faults)" vmstat numa_hint_faults
off=$(growth 10 vmstat numa_pte_updates)
hints_stop

need write_to "$trace/events/livemm/numa_decision/enable" 1
need write_to "$NUMA/enabled" 1
check "on" tells status '^numa +on +vma'
for hook in hint_fault scan_begin scan mm_exit; do
	check "$hook is armed" tells hooks "^$hook .* armed"
done

# Each class by a load that makes it.  On 6.12 the kernel's own task_shared says of the
# shared load, too, that it is private: under emulation one thread has all the faults.
cases="own:local_private swap:remote_private"
[ "$LMM_KERNEL" != 6.1 ] || cases="$cases shared:local_shared shared:remote_shared"
for case in $cases; do
	class=${case#*:}
	before=$(counter "$class" numa) all=$(numa_classes)
	hint_start -p "${case%:*}" -s 12000
	wait "$hint"
	share=$((($(counter "$class" numa) - before) * 100 / ($(numa_classes) - all + 1)))
	note "load ${case%:*}: $(($(numa_classes) - all)) pages, $share % of them $class"
	# Remote ones only until the pages have followed, or the threads to them.
	least=3
	[ "${case%:*}" != own ] || least=10
	check "load ${case%:*} is $class" test "$share" -ge $least
done

# Of a process that the policy knows from its first scan on, every fault.
from_all=$(numa_classes) from_kernel=$(vmstat numa_hint_faults)
from_local=$(($(counter local_private numa) + $(counter local_shared numa)))
kernel_local=$(vmstat numa_hint_faults_local)
hint_start -p swap -s 12000
wait "$hint"
all=$(($(numa_classes) - from_all)) kernel=$(($(vmstat numa_hint_faults) - from_kernel))
local=$(($(counter local_private numa) + $(counter local_shared numa) - from_local))
kernel_local=$(($(vmstat numa_hint_faults_local) - kernel_local))
note "hint faults: $all counted, the kernel says $kernel; local $local, $kernel_local"
check "there were hint faults" test "$kernel" -gt 1000
check "no hint fault is missed" test "$((all * 100))" -ge "$((kernel * 99))"
check "none is counted twice" test "$((all * 100))" -le "$((kernel * 101))"
# Of their kind one in four is looked at.
check "nor a local one" test "$((local * 100))" -ge "$((kernel_local * 95))"
check "nor taken for local" test "$((local * 100))" -le "$((kernel_local * 105))"

hint_start -p own
check "the address space is in state" wait_for 60 space_known "$hint"
check "a stable load is scanned ever more rarely" wait_for 120 grown 5000 space_field "$hint" 3
check "and the kernel's own period stays as it was" test "$(space_field "$hint" 4)" -le 1000
on=$(growth 10 vmstat numa_pte_updates)
note "entries armed in 10 s: $off without the policy, $on with it"
check "and fewer of its entries are armed" test "$((on * 2))" -lt "$off"
check "sampling scans were made" test "$(counter sampling_scans numa)" -gt 0

line=$(grep -h "numa_decision: tgid=$hint " "$trace/trace" | tail -n 1)
note "${line#*: }"
for input in faults= local_private= remote_shared= scanned= resident= lived_ms= run_ms= pass= \
	kernel_ms= rate= private= slope= trend= learnt_ms= period_ms= reason= limit=; do
	[ "${line#* "$input"}" != "$line" ] || fail "the tracepoint carries $input" "$line"
done
check "the tracepoint carries the decision" test -n "$line"
hints_stop
check "an address space that is gone is forgotten" wait_for 10 space_unknown "$hint"
need write_to "$NUMA/enabled" 0
none_armed
same "no entry is left" "$(counter mms numa)" "$(counter mms_gone numa)"
check "unloads" lmm_unload
