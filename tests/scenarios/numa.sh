# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# named: 6.12 7.2
# nodes: 2
# args: transparent_hugepage=never
#
# Every hint fault is counted in its class, a quiet process is scanned less often, also as the kernel
# counts, and memory that is bound to one node not at all.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

trace=/sys/kernel/tracing

quiet_known() { [ "$(space_field "$hint" 3)" -gt "$(space_field "$hint" 4)" ]; }

# On a slow machine the kernel's bound of 3 % of CPU time adds most of a second to a period.
kernel_scans 100 2000 2000
need lmm_load
check "the policy is supported" grep -qx yes "$NUMA/supported"
# So little that all is used between two scans.
hint_start -p own -m 1
check "the kernel scans" wait_for 60 grown "$(vmstat numa_hint_faults)" vmstat numa_hint_faults
# Until its memory is local, and its period the kernel's longest.
sleep 10
off=$(kernel_rates "$hint" 40)
hints_stop
kernel_scans 100 200 200

need write_to "$trace/events/livemm/numa_decision/enable" 1
need write_to "$NUMA/enabled" 1
check "on" tells status '^numa +on +quiet'
for hook in hint_fault scan_begin mm_exit; do
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

# Of a process that the policy knows from its first scan on, every fault: one in four is looked at,
# by chance, and counts for four.
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
check "no hint fault is missed" test "$((all * 100))" -ge "$((kernel * 94))"
check "none is counted twice" test "$((all * 100))" -le "$((kernel * 106))"
check "nor a local one" test "$((local * 100))" -ge "$((kernel_local * 92))"
check "nor taken for local" test "$((local * 100))" -le "$((kernel_local * 108))"

kernel_scans 100 2000 2000
hint_start -p own -m 1
check "the address space is in state" wait_for 60 space_known "$hint"
# At most twice the kernel's longest, which is 2 s for each thread that shares memory.
check "a stable load is scanned more rarely" wait_for 120 quiet_known
check "and the kernel's own period stays as it was" test "$(space_field "$hint" 4)" -le 4000
on=$(kernel_rates "$hint" 40)
kernel_scans 100 200 200
note "in a second of the load without and with: ${off% *} and ${on% *} entries armed," \
	"${off#* } and ${on#* } hint faults; $(space_rows "$hint")"
check "the kernel arms less by a seventh" test "$((${on% *} * 7))" -le "$((${off% *} * 6))"
check "and has fewer hint faults by a seventh" test "$((${on#* } * 7))" -le "$((${off#* } * 6))"
first=$(sed -n "s/.*numa_decision: tgid=$hint .* since_ms=\([0-9]*\) .*/\1/p" "$trace/trace" | head -n 1)
same "before the first scan no time is said to have passed" "$first" 0
need write_to "$NUMA/cgroups" /nowhere
check "a process that is not in scope is left alone" wait_for 30 space_unknown "$hint"
need write_to "$NUMA/config" "cgroups="
check "and taken in again" wait_for 60 space_known "$hint"

line=$(grep -h "numa_decision: tgid=$hint " "$trace/trace" | tail -n 1)
note "${line#*: }"
for input in local_private= remote_shared= moved= own_ms= period_ms= since_ms= due=; do
	[ "${line#* "$input"}" != "$line" ] || fail "the tracepoint carries $input" "$line"
done
check "the tracepoint carries the decision" test -n "$line"
cgroup_make bound cpuset.mems 0
need write_to $cgroup/bound/cgroup.procs "$hint"
pinned=$(counter pinned numa)
# From 6.16 on the kernel itself leaves such a process out, and asks nobody.
[ "$LMM_KERNEL" = 7.2 ] ||
	check "scans of memory that is bound are left out" wait_for 60 grown "$pinned" counter pinned numa
scans=$(counter scans numa)
sleep 3
same "and none is made" "$(counter scans numa)" "$scans"
hints_stop
check "an address space that is gone is forgotten" wait_for 10 space_unknown "$hint"
need rmdir $cgroup/bound
need umount $cgroup
need write_to "$NUMA/enabled" 0
none_armed
same "no entry is left" "$(counter mms numa)" "$(counter mms_gone numa)"
check "unloads" lmm_unload
