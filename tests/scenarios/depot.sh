# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
# named: 6.1 6.12 7.2
# memory: 1G
# timeout: 1500
# args: transparent_hugepage=never
# allow: \bCall Trace:
#
# Pages in the depot go back to the buddy when the kernel wants them there, and no page is lost
# whatever happens at the same time. (The OOM killer prints a call trace.)
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"

exchange=/sys/module/lmm_exchange/parameters
cpu=/sys/devices/system/cpu/cpu1/online
# The checkers are where most is seen, so that is where most is done.
steps=$(soaked 100000 200000)
[ "$LMM_DEBUG" = 0 ] || steps=$(soaked 50000 1000000)

# 0.1 % of the memory there is.
small() { [ "$(held)" -le 300 ]; }

# Half of what no process has taken meanwhile.
gone_back() {
	_back=$(($(counter "$_counter" zonelock) - _before))
	_left=$((_held + _taken - $(counter taken_pages zonelock)))
	[ "$_back" -gt 0 ] && [ $((_back * 2)) -gt "$_left" ]
}

# NAME COUNTER CMD...: CMD has what depots hold go back, and COUNTER says why.  (Anybody
# may store something new meanwhile.)
empties() {
	_what=$1 _counter=$2
	shift 2
	check "$_what: the depot holds pages" stock
	_before=$(counter "$_counter" zonelock) _taken=$(counter taken_pages zonelock) _held=$(held)
	"$@" >/dev/null 2>&1
	check "$_what: most of them go back because of that" wait_for 5 gone_back
	note "$_what: held $_held, $_counter +$(($(counter "$_counter" zonelock) - _before))"
}

pool_grows() {
	echo 64 >/proc/sys/vm/nr_hugepages
	_got=$(cat /proc/sys/vm/nr_hugepages)
	echo 0 >/proc/sys/vm/nr_hugepages
	[ "$_got" = 64 ]
}

need insmod "$LMM_MODDIR/lmm_exchange.ko"
echo 0 >/proc/sys/vm/oom_dump_tasks
pages_before zonelock
need write_to "$zonelock/config" "enabled=1 max_age_ms=60000"

empties "a CPU goes" returned_drain write_to "$cpu" 0
need write_to "$cpu" 1
check "the bound falls: the depot holds pages" stock
need write_to "$zonelock/config" "max_pages_pct=0.1"
check "and holds no more than it may" wait_for 5 small
check "the rest went back" test "$(counter returned_size zonelock)" -gt 0
need write_to "$zonelock/config" "max_pages_pct=4"
empties "memory goes" returned_drain memory_goes
empties "the admin compacts" returned_compaction write_to /proc/sys/vm/compact_memory 1
empties "age" returned_age write_to "$zonelock/max_age_ms" 1000
need write_to "$zonelock/max_age_ms" 60000
# The debug kernel has neither.
if [ "$LMM_DEBUG" = 0 ]; then
	sh -c "echo 1000 >/proc/self/oom_score_adj; exec sleep 1000" &
	check "the depot holds pages before the killer is called" stock
	echo f >/proc/sysrq-trigger
	check "they went back" wait_for 10 grown 0 counter returned_oom zonelock
	check "the depot holds pages before huge ones are wanted" stock
	check "a pool of huge pages grows" pool_grows
fi
check "the depot holds pages before it goes off" stock
before=$(counter returned_off zonelock)
need write_to "$zonelock/enabled" 0
check "off gives back what it holds" test "$(counter returned_off zonelock)" -gt "$before"
same "no page is between" "$(unaccounted)" 0
# On 7.2 memory that goes drains them one by one.
drains=drain_all
[ "$LMM_KERNEL" != 7.2 ] || drains=drain_zone
check "drains of every CPU were seen" grown 0 hook_hits $drains

# Everything at once, until there was enough of either.
need write_to "$zonelock/config" "enabled=1 max_age_ms=500"
run_start() {
	sh -c "echo $1 >$exchange/run" &
	runner=$!
}
taken=$(counter taken_pages zonelock)
run_start "$steps"
rounds=0
while [ "$rounds" -lt "$(soaked 8 16)" ] || kill -0 "$runner" 2>/dev/null; do
	kill -0 "$runner" 2>/dev/null || run_start $((steps / 10))
	rounds=$((rounds + 1))
	case $((rounds % 8)) in
	0) write_to "$zonelock/enabled" 0 && write_to "$zonelock/enabled" 1 ;;
	1) write_to "$cpu" 0 && write_to "$cpu" 1 ;;
	2) memory_goes || true ;;
	3) hog_start 400 && sleep 1 && hog_end ;;
	4 | 5) write_to /proc/sys/vm/compact_memory 1 ;;
	6 | 7) echo 1 >/proc/sys/vm/drop_caches ;;
	esac
	sleep 0.1
done
note "steps $(cat $exchange/steps), pages $(cat $exchange/moved), rounds $rounds"
note "$(tr '\n' ' ' <"$zonelock/counters")"
check "the steps were made" test "$(cat $exchange/steps)" -ge "$steps"
same "no page had two owners" "$(cat $exchange/errors)" 0
check "batches changed hands" test "$(counter taken_pages zonelock)" -gt "$taken"
run_start $((steps / 5))
check "all goes with the policy on, under load" lmm_unload
wait "$runner"
same "no page had two owners, in the end" "$(cat $exchange/errors)" 0
need lmm_load
all_back
