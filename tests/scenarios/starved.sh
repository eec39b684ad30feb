# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12
# cpus: 2
# nodes: 2
# args: isolcpus=1
# allow: rcu: INFO:
# allow: \bCall Trace:
# shift: 3
# timeout: 900
#
# A realtime program never yields a CPU, and nothing limits its time: a task that is queued there
# never runs, and the kernel's wait until every task has run does not end (6.1; from 6.8 on a server
# of the scheduler's own lets the task run). A policy that the kernel makes wait holds up nobody
# else: pcp comes on, knobs are set, every file can be read, leases end, and status and the kernel
# log say what is waited for.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

# What waits for the program does so until the program ends; a look takes a second or two.
limit=10000

readable() {
	for _policy in zonelock pcp pageblock numa cma; do
		for _file in state enabled config supported; do
			in_time $limit "$1: $_policy/$_file can be read" cat "$LMM_DBG/$_policy/$_file"
		done
	done
	for _file in status hooks lease last_error policies; do
		in_time $limit "$1: $_file can be read" cat "$LMM_DBG/$_file"
	done
}

# In the background: the shell becomes the program.
spin() { exec taskset -c 1 "$@" sh -c 'while :; do :; done'; }
# spinner_start [FILE]: at once, or once there is the file.
spinner_start() {
	spin nice &
	starved=$!
	if [ -z "${1:-}" ]; then
		spin chrt -f 50 &
	else
		spin sh -c 'until [ -e "$1" ]; do :; done; shift; exec "$@"' sh "$1" chrt -f 50 &
	fi
	spinner=$!
	[ -z "${1:-}" ] || return 0
	spinner_spins
}
spinner_spins() {
	# On its CPU, and realtime.
	need wait_for 20 grep -q '^policy.*: *1$' "/proc/$spinner/sched"
	ran=$(awk '{ print $14 }' "/proc/$starved/stat")
}

spinner_end() {
	note "the task beside the program ran $(($(awk '{ print $14 }' "/proc/$starved/stat") - ran)) ticks"
	kill -KILL "$spinner" "$starved"
	wait "$spinner" "$starved" 2>/dev/null
}

# waits POLICY STATE: status and the kernel log say what a policy waits for.
waits() {
	check "status says what $1 waits for" tells status "^$1 +$2 .*waits for the kernel at hook"
	check "and so does the kernel log" wait_for 60 sh -c \
		"dmesg | grep -q 'livemm: $1 has been $2 for .* waits for the kernel at hook'"
}

echo -1 >/proc/sys/kernel/sched_rt_runtime_us
# Tasks that wait for the program are meant to hang; RCU is not, whose work ksoftirqd does.
echo 0 >/proc/sys/kernel/hung_task_timeout_secs
need chrt -f -p 99 "$(pgrep -x ksoftirqd/1)"
# Off, with the livepatches there: what is on afterwards needs no transition.
need lmm_load "policies=zonelock:enabled=1;pcp:enabled=1;numa:enabled=1"
need write_to "$LMM_PARAMS/policies" "zonelock:enabled=0;pcp:enabled=0;numa:enabled=0"

spinner_start
in_time $limit "pcp comes on beside the program" write_to "$LMM_DBG/pcp/enabled" 1
check "pcp is on" policy_is pcp on
write_to "$LMM_DBG/zonelock/enabled" 1 2>/run/writer &
writer=$!
if [ "$LMM_KERNEL" = 6.1 ]; then
	check "zonelock waits" wait_for 20 policy_is zonelock loading
	waits zonelock loading
	readable "zonelock comes on"
	in_time $limit "a knob of pcp" write_to "$LMM_DBG/pcp/decay_ms" 2000
	in_time $limit "a knob, by the file policies" write_to "$LMM_DBG/policies" "pcp:decay_ms=3000"
	in_time $limit "numa goes off" write_to "$LMM_DBG/numa/enabled" 0
	need write_to "$LMM_DBG/lease" 3
	check "pcp goes when the lease ends" wait_for 20 gives 0 cat "$LMM_DBG/pcp/enabled"
	check "and gets no events" policy_is pcp "(off|leaving)"
	check "zonelock is loading still" policy_is zonelock loading
	spinner_end
	check "then the write ends" wait_for 60 dead "$writer"
	same "as zonelock was switched off meanwhile" "$(cat "$LMM_DBG/last_error")" \
		"zonelock/enabled: 1: switched off meanwhile"
	check "zonelock is off" wait_for 20 policy_is zonelock off
	check "and pcp is" wait_for 20 policy_is pcp off
else
	check "zonelock comes on" wait_for 120 dead "$writer"
	spinner_end
fi

need write_to "$LMM_DBG/zonelock/enabled" 1
spinner_start
lmm_unload >/run/rmmod 2>&1 &
remover=$!
[ "$LMM_KERNEL" != 6.1 ] || check "the kernel log says what the unload waits for" wait_for 60 sh -c \
	"dmesg | grep -q 'livemm: zonelock has been leaving for .* waits for the kernel at hook'"
spinner_end
check "the unload ends with the program" klp_wait dead "$remover"

if [ "$LMM_KERNEL" = 6.1 ]; then
	# Parameters can be written while the loader's own policies come on. A module that is loaded
	# beside the program would wait for the program before its init.
	spinner_start "$LMM_PARAMS/lease"
	lmm_load "policies=numa:enabled=1" "lease=600" &
	loader=$!
	need wait_for 60 test -e "$LMM_PARAMS/lease"
	spinner_spins
	check "a lease is written meanwhile" wait_for 20 write_to "$LMM_PARAMS/lease" 60
	check "numa goes off meanwhile" write_to "$LMM_PARAMS/policies" "numa:enabled=0"
	spinner_end
	check "livemm is loaded all the same" klp_wait dead "$loader"
	lease=$(cat "$LMM_PARAMS/lease")
	check "the later lease counts: $lease" test "$lease" -ge 1 -a "$lease" -le 60
	check "numa is off" policy_is numa off
	same "and why is known" "$(cat "$LMM_PARAMS/last_error")" \
		"numa/enabled: 1: switched off meanwhile"
fi
check "unloads" lmm_unload
