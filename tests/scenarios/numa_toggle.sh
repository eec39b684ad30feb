# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 debug
# nodes: 2
# timeout: 1500
# args: transparent_hugepage=never
# emulation: parallel debug
#
# The policy goes on and off, and the module is unloaded, under hint faults. Afterwards the
# kernel's scan state is the kernel's own.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

# Columns of scanned_rows.  The kernel's floor is 100 ms, with the default size of a scan;
# its ceiling is that of the sysctl times the threads that share memory; mode period's is 5000 ms.
periods_own() { scanned_rows | awk '$2 < 100 || $3 > 5000 { wrong = 1 } END { exit wrong || !NR }'; }
# After mode period: the sysctl's shortest is 200 ms.
periods_back() { scanned_rows | awk '$2 < 200 { wrong = 1 } END { exit wrong || !NR }'; }
next_own() { scanned_rows | awk '$4 > 3000 { wrong = 1 } END { exit wrong || !NR }'; }
# Passes of mode promote over all address spaces.
promotion_passes() { space_rows | awk '{ sum += $4 } END { print sum + 0 }'; }

rounds=$(soaked 12 40) crowded=4
[ "$LMM_DEBUG" = 0 ] || rounds=$(soaked 6 16)
kernel_scans 100 200 400
need lmm_load
hint_start -p swap -t 3 -m 4
hint_start -p shared -m 4
check "the kernel scans" wait_for 60 grown "$(vmstat numa_hint_faults)" vmstat numa_hint_faults
check "periods are the kernel's before" wait_for 20 periods_own

for round in $(seq "$rounds"); do
	# Under single emulation a CPU that patches code waits for a turn of the other CPU, 0.1 s,
	# while both are busy.  Only the first rounds therefore keep both busy there.
	if [ "$LMM_TURNS" = 1 ] && [ "$round" = $((crowded + 1)) ]; then
		hints_stop
		taskset -pc 0 $$ >/dev/null
		hint_start -p swap -t 1 -m 4
		need wait_for 20 lives hintload
	fi
	mode=quiet
	[ $((round % 3)) -ne 2 ] || mode=period
	need write_to "$NUMA/config" "enabled=1 mode=$mode"
	case $((round % 10)) in
	9) sleep 3 ;;
	5) need write_to "$NUMA/promote_rate_mb" $((100 + round)) ;;
	*) sleep 0.2 ;;
	esac
	if ! periods_own; then
		fail "threads' periods are within the kernel's bounds" "$(scanned_rows)"
		break
	fi
	need write_to "$NUMA/enabled" 0
done
same "switched under faults" "$round" "$rounds"
check "faults were counted" test "$(numa_classes)" -gt 0
check "scans were decided on" test "$(counter scans numa)" -gt 0
same "every entry went with the policy" "$(counter mms numa)" "$(counter mms_gone numa)"
none_armed
check "the next scan is the kernel's again" next_own
check "and it is made" wait_for 60 grown "$(vmstat numa_pte_updates)" vmstat numa_pte_updates

# A scan that was put off is not left so.
hint_start -p own -m 4
for last in off rmmod; do
	need write_to "$NUMA/config" "enabled=1 mode=quiet"
	put_off=$(counter postponed numa)
	check "scans are put off" wait_for 120 grown "$put_off" counter postponed numa
	case $last in
	off) need write_to "$NUMA/enabled" 0 ;;
	rmmod) check "rmmod under faults, mode quiet" rmmod livemm ;;
	esac
	check "$last: the next scan is the kernel's" next_own
	check "$last: periods are" periods_own
	check "$last: scans go on" grown 0 growth 5 vmstat numa_pte_updates
done

# The worker of mode promote, while address spaces come and go.
need write_to /proc/sys/kernel/numa_balancing 2
need lmm_load
for round in 1 2 3; do
	need write_to "$NUMA/config" "enabled=1 mode=promote"
	hint_start -p own -t 2 -f 3 -m 1 -s 8000
	check "promote $round: passes are made" wait_for 60 grown 0 promotion_passes
	[ $round = 2 ] || sleep 3
	need write_to "$NUMA/enabled" 0
done
same "promote: every entry went with the policy" "$(counter mms numa)" "$(counter mms_gone numa)"
need write_to "$NUMA/enabled" 1
check "promote: passes go on" wait_for 60 grown 0 promotion_passes
check "rmmod, mode promote" lmm_unload
need write_to /proc/sys/kernel/numa_balancing 1

hints_stop
hint_start -p swap -m 4
swap=$hint
hint_start -p shared -m 4
shared=$hint
need lmm_load policies=numa:enabled=1,mode=period
check "mode period knows the loads" wait_for 60 space_known "$swap"
check "and scans" wait_for 60 space_known "$shared"
check "rmmod under faults, mode period" rmmod livemm
check "no thread keeps a period shorter than the kernel's" periods_back
check "the next scan is the kernel's, in the end" next_own
check "the kernel scans on" wait_for 60 grown "$(vmstat numa_pte_updates)" vmstat numa_pte_updates
check "and the loads are alive" kill -0 "$swap" "$shared"
hints_stop
