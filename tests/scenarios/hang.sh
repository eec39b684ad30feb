# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 debug
# nodes: 2
# timeout: 900
#
# The program that loads modules hangs, in make soak for ten minutes. Nothing waits for the program:
# the write that asks for the module is done at once, policies go off by hand and at the lease's end,
# every file can be read, and livemm can be unloaded. When the program goes on, a policy that is still
# wanted comes on. No file waits for a task that holds the lock of the livepatch core.
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

# hang_begin FILE TEXT: a write that needs a livepatch, with modprobe hanging.
hang_begin() {
	helper_mode hang modprobe
	in_time $limit "the write is done at once" write_only "$1" "$2"
	need wait_for 20 helper_runs modprobe
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
hang_begin "$LMM_DBG/zonelock/enabled" 1
check "zonelock waits, and says for what" tells status \
	"^zonelock +waiting .*livemm_klp_lists is being loaded"
same "enabled reads 1 meanwhile" "$(cat "$LMM_DBG/zonelock/enabled")" 1
readable "under way"
need write_to "$LMM_DBG/lease" 5
begun=$(uptime_ms)
lease_ends "" numa "the program hanging"
lease_ends "" zonelock "the program hanging"
same "its hooks are not armed" "$(armed | grep -E '^(hint_|scan)')" ""
readable "after the lease"
hang_begin "$LMM_DBG/zonelock/enabled" 1
in_time $limit "zonelock: off, while it waits" write_to "$LMM_DBG/zonelock/enabled" 0
check "it is off at once" policy_is zonelock off
check "the program still runs" helper_runs modprobe
if [ "$(soaked 0 1)" = 1 ]; then
	sleep $((480 - ($(uptime_ms) - begun) / 1000))
	check "the program hangs after eight minutes" helper_runs modprobe
	readable "after eight minutes"
	check "the program ends by itself after ten" wait_for 240 helper_idle
	note "the program had hung for $((($(uptime_ms) - begun) / 1000)) s"
else
	helper_end
fi
check "zonelock is off" policy_is zonelock off
helper_back
check "and can be switched on, now" write_to "$LMM_DBG/zonelock/enabled" 1
check "zonelock is on" policy_is zonelock on
need write_to "$LMM_DBG/zonelock/enabled" 0

# Other writes beside a policy that waits; and off for a policy that is on.
need klp_wait settled
need all_out
need lmm_load
need write_to "$NUMA/config" "mode=period enabled=1"
hang_begin "$LMM_DBG/pcp/enabled" 1
check "pcp waits" policy_is pcp waiting
in_time $limit "numa: off" write_to "$NUMA/enabled" 0
check "numa is off" policy_is numa off
in_time $limit "numa: on" write_to "$NUMA/enabled" 1
in_time $limit "the parameter: off" write_only "$LMM_PARAMS/policies" "numa:enabled=0"
in_time $limit "a knob of it" write_to "$NUMA/config" "promote_rate_mb=300"
in_time $limit "a lease" write_to "$LMM_DBG/lease" 100
in_time $limit "a knob of pcp" write_only "$LMM_DBG/pcp/decay_ms" 800
check "pcp waits on" policy_is pcp waiting
# modprobe by hand is as good as the one that hangs.
check "somebody loads the livepatch" insmod "$LMM_MODDIR/livemm_klp_lists.ko"
check "pcp comes on with that" klp_wait policy_is pcp on
same "with its knob" "$(cat "$LMM_DBG/pcp/decay_ms")" 800
in_time $limit "zonelock, then" write_only "$LMM_DBG/zonelock/enabled" 1
in_time $limit "zonelock: off beside a knob" write_only "$LMM_DBG/zonelock/config" "enabled=0"
need all_off
check "livemm goes beside the program" all_out
helper_end
helper_back

# livemm is loaded with a policy that needs a livepatch: the load does not wait either.
helper_mode hang modprobe
in_time 60000 "livemm loads, modprobe hanging" insmod "$LMM_MODDIR/livemm.ko" lease=600 policies=pcp:enabled=1
check "pcp waits, after the load" policy_is pcp waiting
check "another lease" write_to "$LMM_PARAMS/lease" 3000
helper_end
helper_back
check "written once more, the module is asked for anew" write_to "$LMM_DBG/pcp/enabled" 1
check "pcp is on in the end" policy_is pcp on
need write_to "$LMM_PARAMS/lease" 0
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
