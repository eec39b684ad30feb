# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 debug
# nodes: 2
# timeout: 900
#
# The program that loads modules hangs, in make soak for ten minutes. Nothing else waits for the
# program: policies go off by hand and at the lease's end, every file can be read, and the writer
# that waits can be killed. The module can be unloaded when the program has ended. A lease can be
# written while livemm is being loaded. No file waits for a task that holds the lock of the livepatch
# core.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

# What waits for what hangs does so for minutes; a look takes a second or two on a busy host.
limit=10000

readable() {
	for _file in status hooks last_error numa/counters zonelock/counters numa/enabled numa/config lease \
		version zonelock/supported; do
		in_time $limit "$1: $_file can be read" cat "$LMM_DBG/$_file"
	done
	in_time $limit "$1: the parameter can be read" cat "$LMM_PARAMS/policies"
}

hang_begin() {
	helper_mode hang modprobe
	"$HELPER/killwriters" -r 1 -n 1 -m 600000 "$1" >/run/writer 2>&1 &
	writers=$!
	# killwriters has one child, and the child writes.
	need wait_for 20 helper_runs modprobe
	writer=$(pgrep -P "$writers")
	need test -n "$writer"
}

# lease_ends PREFIX POLICY WORDS: the lease of 5 s, taken at $begun, ends in time.
lease_ends() {
	check "$1$2 goes when the lease ends" wait_for 30 policy_is "$2" off
	took=$(($(uptime_ms) - begun))
	note "the lease of 5 s had ended after $took ms, with $3"
	check "$1within 20 s" test "$took" -le 20000
}

helper_setup
kernel_scans 100 200 400
need lmm_load
need write_to "$NUMA/config" "mode=period"
check "numa comes on without a livepatch" write_to "$NUMA/enabled" 1
same "no program was needed for that" "$(cat "$HELPER/log")" ""
check "numa is on" policy_is numa on
hang_begin "$LMM_DBG/zonelock/enabled=1"
check "zonelock is being loaded" policy_is zonelock loading
readable "under way"
need write_to "$LMM_DBG/lease" 5
begun=$(uptime_ms)
lease_ends "" numa "the program hanging"
same "its hooks are not armed" "$(armed | grep -E '^(hint_|scan)')" ""
readable "after the lease"
in_time $limit "zonelock: off, while it is being loaded" write_to "$LMM_DBG/zonelock/enabled" 0
check "it is not on" policy_is zonelock "(off|leaving|loading)"
in_time $limit "the hanging write dies of its kill" sh -c "kill -KILL $writer; while [ -e /proc/$writer/exe ]; do sleep 0.05; done" 2>/dev/null
check "the program still runs" helper_runs modprobe
rmmod livemm >/run/rmmod 2>&1 &
remover=$!
check "rmmod does not wait for it" wait_for 5 dead $remover
check "rmmod says in use" grep -q "in use" /run/rmmod
readable "after the kill"
check "livemm is loaded" loaded livemm
if [ "$(soaked 0 1)" = 1 ]; then
	sleep $((480 - ($(uptime_ms) - begun) / 1000))
	check "the program hangs after eight minutes" helper_runs modprobe
	readable "after eight minutes"
	check "the program ends by itself after ten" wait_for 240 helper_idle
	note "the program had hung for $((($(uptime_ms) - begun) / 1000)) s"
else
	helper_end
fi
wait "$writers"
check "it comes to rest" klp_wait settled
check "zonelock is off" policy_is zonelock off
helper_back
check "and can be switched on, now" write_to "$LMM_DBG/zonelock/enabled" 1
need write_to "$LMM_DBG/zonelock/enabled" 0

# Another writer beside a writer that hangs; and off for a policy that is on.
need klp_wait settled
need all_out
need lmm_load
need write_to "$NUMA/config" "mode=period enabled=1"
hang_begin "$LMM_DBG/pcp/enabled=1"
check "pcp is being loaded" policy_is pcp loading
in_time $limit "numa: off" write_to "$NUMA/enabled" 0
check "numa is off" policy_is numa off
in_time $limit "numa: on" write_to "$NUMA/enabled" 1
in_time $limit "the parameter: off" write_to "$LMM_PARAMS/policies" "numa:enabled=0"
in_time $limit "a knob of it" write_to "$NUMA/config" "promote_rate_mb=300"
in_time $limit "a lease" write_to "$LMM_DBG/lease" 100
in_time $limit "pcp: off beside a knob, while it is being loaded" \
	write_to "$LMM_DBG/pcp/config" "enabled=0 decay_ms=900"
check "and the writer that waits gives up" wait_for 10 dead "$writer"
wait "$writers"
helper_end
check "rmmod works once the program is gone" wait_for 30 unloaded livemm
helper_back
check "and all can be loaded again" lmm_load policies=pcp:enabled=1
check "pcp is on" policy_is pcp on
need all_off
check "unloads" all_out

# A lease that is written while the settings of the loader are being applied replaces the loader's.
helper_mode "slow 20000" modprobe
insmod "$LMM_MODDIR/livemm.ko" lease=600 policies=pcp:enabled=1 >/run/insmod 2>&1 &
loader=$!
need wait_for 20 helper_runs modprobe
same "the loader's lease can be read" "$(cat "$LMM_PARAMS/lease")" 600
check "another lease, while livemm is being loaded" write_to "$LMM_PARAMS/lease" 3000
check "then livemm is loaded" wait_for 90 dead "$loader"
check "with pcp on" policy_is pcp on
left=$(cat "$LMM_PARAMS/lease")
check "and with the later lease ($left s)" test "$left" -gt 600
need write_to "$LMM_PARAMS/lease" 0
helper_back
need all_off
check "unloads then, too" all_out

# Another livepatch holds the lock of the livepatch core.
need lmm_load "policies=numa:enabled=1,mode=period;pcp:enabled=1,mode=depth"
foreign_load function=change_prot_numa hold=1 &
holder=$!
need wait_for 20 gives Y foreign_number holds 2>/dev/null
in_time $limit "lock held: numa off" write_to "$NUMA/enabled" 0
check "lock held: numa is off" wait_for 2 policy_is numa off
in_time $limit "lock held: a knob" write_to "$LMM_DBG/pcp/high_max_pct" 10
readable "lock held"
begun=$(uptime_ms)
need write_to "$LMM_DBG/lease" 5
lease_ends "lock held: " pcp "the lock held"
same "lock held: no hook is armed" "$(armed)" ""
check "the lock is still held" gives Y foreign_number holds
need write_to "/sys/module/lmm_foreign/parameters/hold" 0
check "theirs is in force" wait_for 60 dead "$holder"
# To look at the lists, the test loads a module, which waits for the lock.
same "no list is changed" "$(lists_changed)" ""
check "unloads beside theirs" all_out
check "theirs can go" foreign_unload
