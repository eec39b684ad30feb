# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# cpus: 4
# nodes: 2
# timeout: 1500
# args: transparent_hugepage=never
#
# Address spaces and their threads come and go. Each address space has one entry while its
# processes live, and no fault is lost.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

# The entries that the counters know of are those in the table, and none is a dead one's.
all_alive() {
	check "$1: no entry of a process that is gone" wait_for 20 gives "" spaces_dead
	# A process may begin between two readings.
	check "$1: mms less mms_gone are those there are" wait_for 20 mms_agree
}

children_known() { [ "$(space_rows | grep -c hintload)" -ge 6 ]; }

kernel_scans 50 100 400
need lmm_load
need write_to "$NUMA/enabled" 1

# From one thread to several, while it is known; then to more than there are slots.
for threads in 4 100; do
	from=$(numa_classes) from_kernel=$(vmstat numa_hint_faults) kernel=0 runs=0
	# The kernel passes over memory that the scanning thread has not used, so a run of many
	# threads has 50 faults or 30,000, by chance.
	while [ "$kernel" -le 1000 ] && [ "$runs" -lt 6 ]; do
		runs=$((runs + 1))
		hint_start -p own -a 4000 -t "$threads" -m 2
		check "$threads threads: known while there is one" wait_for 60 space_known "$hint"
		sleep 8
		same "$threads threads: it is one address space" "$(space_rows "$hint" | wc -l)" 1
		hint_stop "$hint"
		all=$(($(numa_classes) - from)) kernel=$(($(vmstat numa_hint_faults) - from_kernel))
	done
	note "$threads threads: $all faults counted, the kernel says $kernel; runs: $runs"
	check "$threads threads: there were faults" test "$kernel" -gt 1000
	check "$threads threads: none is missed" test "$((all * 100))" -ge "$((kernel * 97))"
	check "$threads threads: none is counted twice" test "$((all * 100))" -le "$((kernel * 103))"
done
all_alive threads

# Memory that is shared until it is written to.
hint_start -p own -f 6 -t 2 -m 2
check "fork: each child has its own entry" wait_for 60 children_known
hints_stop
all_alive fork

# Known as the shell, and then as the load.
sh -c 'at=0; while [ $at -lt 400000 ]; do at=$((at + 1)); done; exec "$0" -p own' "$HINTLOAD" &
shell=$!
check "exec: known before it" wait_for 60 space_known "$shell"
gone=$(counter mms_gone numa)
check "exec: a new address space, a new entry" wait_for 60 sh -c \
	"awk '\$1 == $shell && \$2 == \"hintload\"' $NUMA/state | grep -q ."
same "exec: and the other is gone" "$(space_rows "$shell" | wc -l)" 1
check "exec: the counters say so" test "$(counter mms_gone numa)" -gt "$gone"
hint_stop "$shell"
all_alive exec

# They end while they are scanned, by themselves and by force.
rounds=$(soaked 8 60)
mms=$(counter mms numa)
for round in $(seq "$rounds"); do
	hint_start -p own -t 8 -m 1 -s $((200 + round % 10 * 40))
	if [ $((round % 3)) = 0 ]; then
		hint_start -p shared -t 3 -m 2
		sleep 0.4
		hint_stop "$hint"
	fi
	[ $((round % 4)) != 0 ] || wait
done
wait
note "exit: $(($(counter mms numa) - mms)) entries were made for $((rounds * 4 / 3)) processes"
check "exit: they were known" test "$(($(counter mms numa) - mms))" -ge "$((rounds / 2))"
all_alive exit
same "no entry was refused" "$(counter mms_refused numa)" 0
need write_to "$NUMA/enabled" 0
same "off: every entry is gone" "$(counter mms numa)" "$(counter mms_gone numa)"
same "off: and state is empty" "$(cat "$NUMA/state")" ""
check "unloads" lmm_unload
