# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# nodes: 2
# timeout: 1500
# args: transparent_hugepage=never
#
# Knob cgroups: of two cgroups with the same load the policy steers only the listed cgroup.
# Cgroups that are removed, made again or not listed are left to the kernel.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

# The load, in a cgroup from its first instruction.
start_in() {
	sh -c 'echo $$ >"$0/cgroup.procs" && exec nice -n 19 "$@"' "$cgroup$1" "$HINTLOAD" -p own -m 4 >/dev/null &
	hint=$!
}
# The policy knows the process, and has given it a longer period than the kernel's.
steered() { [ "$(space_field "$1" 3)" -gt "$(space_field "$1" 4)" ] 2>/dev/null; }
# The last column of status.
remark() { awk '$1 == "numa" { sub(/^([^ ]+ +)([^ ]+ +)([^ ]+ +)/, ""); print }' "$LMM_DBG/status"; }
left_alone() {
	for _look in $(seq 5); do
		space_unknown "$1" || return 1
		sleep 0.2
	done
}

need mkdir -p $cgroup
need mount -t cgroup2 none $cgroup
need mkdir $cgroup/lmm_a $cgroup/lmm_ab $cgroup/lmm_b
kernel_scans 100 200 200
need lmm_load

start_in /lmm_a
inside=$hint
start_in /lmm_ab
alike=$hint
start_in /lmm_b
outside=$hint
need write_to "$NUMA/config" "enabled=1 cgroups=/lmm_a"
same "the knob reads as it was written" "$(cat "$NUMA/cgroups")" /lmm_a
check "the listed cgroup is steered" wait_for 120 steered "$inside"
same "status has no remark" "$(remark)" -
check "and in state" space_known "$inside"
for pid in "$outside" "$alike"; do
	check "another is not" left_alone "$pid"
	check "nor in state" space_unknown "$pid"
done
check "out_of_scope counts" test "$(counter out_of_scope numa)" -gt 0

check "a list of two, and one that is not there" write_to "$NUMA/cgroups" /nowhere:/lmm_b:/lmm_a
check "the second is steered" wait_for 120 steered "$outside"
check "the first still" wait_for 120 steered "$inside"
check "a cgroup with a longer name is not" left_alone "$alike"
check "taken off the list" write_to "$NUMA/cgroups" /lmm_a
check "it is let go" wait_for 60 left_alone "$outside"
check "and forgotten" wait_for 30 space_unknown "$outside"

# A path that no cgroup has, such as a misspelt one.
check "a cgroup that is not there" write_to "$NUMA/cgroups" /lmm_c
check "the first is let go" wait_for 60 left_alone "$inside"
same "status says why nothing happens" "$(remark)" "no process scanned so far is in cgroups"
check "the first again" write_to "$NUMA/cgroups" /lmm_a
check "and steered" wait_for 120 steered "$inside"
same "status has no remark again" "$(remark)" -

# A process that moves; a cgroup below.
need mkdir $cgroup/lmm_a/inner
need write_to $cgroup/lmm_a/inner/cgroup.procs "$outside"
check "below a listed one it is steered" wait_for 120 steered "$outside"
need write_to $cgroup/lmm_b/cgroup.procs "$inside"
check "moved out, it is let go" wait_for 120 left_alone "$inside"
check "and is forgotten" wait_for 30 space_unknown "$inside"

hint_stop "$outside"
need rmdir $cgroup/lmm_a/inner $cgroup/lmm_a
check "a listed cgroup may go" space_unknown "$outside"
sleep 2
need mkdir $cgroup/lmm_a
check "made again, what was elsewhere is not steered" left_alone "$inside"
start_in /lmm_a
check "but what is in it is" wait_for 120 steered "$hint"

check "an empty list is every process" write_to "$NUMA/config" "cgroups="
for pid in "$inside" "$alike" "$hint"; do
	check "every process is steered" wait_for 120 steered "$pid"
done
check "the root is every process, too" write_to "$NUMA/cgroups" /
check "and it is in state" wait_for 60 space_known "$alike"
need write_to "$NUMA/enabled" 0
for pid in "$inside" "$alike" "$hint"; do
	check "off: the next scan is the kernel's" left_alone "$pid"
done
hints_stop
check "unloads" lmm_unload
need rmdir $cgroup/lmm_a $cgroup/lmm_ab $cgroup/lmm_b
need umount $cgroup
