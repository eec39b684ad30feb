# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# named: 6.12 debug
# timeout: 900
# args: transparent_hugepage=never
#
# A livepatch of ours is disabled from outside, or the kernel is told to allow no livepatches and
# no probes. Policies that are on go off and give the reason, no policy is on without hooks, and
# `hooks` shows the true state.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

# A policy that says it is on has its drain hook armed; else print what they say.
hooked() {
	! policy_is "$1" on || hook_is drain armed ||
		! grep -h -e "^$1 " -e '^drain ' "$LMM_DBG/status" "$LMM_DBG/hooks"
}

honest() {
	for _policy in pcp zonelock; do
		check "$1: $_policy is not on with nothing hooked" hooked "$_policy"
	done
}

# The livepatch with the wrapper of drain is disabled from outside.
withdrawn() {
	need livepatch_off livemm_klp_lists
	need klp_wait patches_quiet
	check "pcp is off" klp_wait policy_is pcp off
}

# Armed rows that the kernel calls by way of ftrace; a kprobe at the entry of a function is one.
needing_ftrace() {
	awk '($2 == "livepatch" || $2 == "direct" || $2 == "kprobe") && $4 == "armed"' "$LMM_DBG/hooks"
}

need lmm_load
bounds=$(lists_bounds)
check "pcp comes on" write_to "$LMM_DBG/pcp/enabled" 1
load_start
check "lists are raised" wait_for 60 lists_raised

withdrawn
check "and says why" tells status "^pcp .*hook drain: livepatch livemm_klp_lists was disabled"
same "no livepatch hook reads armed" "$(armed | awk '$2 == "livepatch"')" ""
same "enabled reads 0" "$(cat "$LMM_DBG/pcp/enabled")" 0
check "the kernel's values are back" wait_for 30 gives "" lists_changed
note "$(grep ^pcp "$LMM_DBG/status")"
grown=$(counter grown)
sleep 2
same "nothing grows meanwhile" "$(counter grown)" "$grown"
check "a knob can be set" write_to "$LMM_DBG/pcp/decay_ms" 2500
refuses "$LMM_DBG/pcp/enabled" 1 "Device or resource busy" \
	"livepatch livemm_klp_lists was disabled or replaced; unload it (rmmod) and try again"
need lmm_klp_unload
check "with the old livepatch unloaded, it comes on" write_to "$LMM_DBG/pcp/enabled" 1
check "pcp is on with it" policy_is pcp on
check "lists are raised anew" wait_for 60 lists_raised
load_stop
withdrawn

refuses "$LMM_DBG/zonelock/enabled" 1 "Device or resource busy" "livepatch livemm_klp_lists was disabled"
check "zonelock is off" policy_is zonelock off
honest "after zonelock"
need lmm_klp_unload
for policy in pcp zonelock; do
	check "unloaded, $policy comes on" write_to "$LMM_DBG/$policy/enabled" 1
	check "$policy is on" policy_is $policy on
done
check "with the drain hook" hook_is drain armed
check "and what gives back" hook_is compact armed
load_start
# With its lists sized by pcp, 6.12 may drain none: what asks the depot counts as well.
check "which counts" wait_for 60 grown 0 \
	awk '{ n += $2 } END { print n + 0 }' "$LMM_DBG/zonelock/counters"
load_stop
need all_off
need klp_wait settled
same "lists are as before" "$(lists_bounds)" "$bounds"

# Each livepatch in turn, with all policies on that need the livepatch.
for policy in pcp zonelock pageblock; do
	need write_to "$LMM_DBG/$policy/enabled" 1
done
need test -n "$(patches)"
for patch in $(patches); do
	need livepatch_off "$patch"
	need klp_wait patches_quiet
	check "$patch disabled: somebody is off" klp_wait tells status "^[a-z]+ +off .*$patch was disabled"
	honest "$patch disabled"
	same "$patch disabled: none of its hooks reads armed" "$(awk -v patch="$patch" '
		$2 != "livepatch" || $4 != "armed" { next }
		{ of = $1 == "fallback" ? "fallback" :
		       $1 == "refill" || $1 == "drain" ? "lists" : "giveback" }
		patch == "livemm_klp_" of { print }' "$LMM_DBG/hooks")" ""
	note "$patch disabled: $(grep -E ' (off|on) ' "$LMM_DBG/status" | tr -s ' ' | tr '\n' ';')"
	need all_off
	need klp_wait settled
	need lmm_klp_unload
	for policy in pcp zonelock pageblock; do
		check "$patch unloaded, on: $policy" write_to "$LMM_DBG/$policy/enabled" 1
	done
	honest "$patch, off and on"
done
need all_off
need klp_wait settled

# No kprobe fires: which rows say so?
need write_to "$LMM_DBG/pcp/enabled" 1
check "a kprobe is armed" hook_is wake_kswapd armed
need write_to /sys/kernel/debug/kprobes/enabled 0
same "kprobes disarmed by the admin: no kprobe reads armed" \
	"$(awk '$2 ~ /^k(ret)?probe$/ && $4 == "armed"' "$LMM_DBG/hooks")" ""
check "and the row says why" tells hooks '^wake_kswapd .*kprobes'
need write_to /sys/kernel/debug/kprobes/enabled 1
check "armed again" hook_is wake_kswapd armed

# With livepatch=0 livemm loads no livepatch; armed rows stay armed.
need write_to "$LMM_PARAMS/livepatch" 0
check "livepatch=0: what is armed reads armed" hook_is drain armed
check "and pcp is on" policy_is pcp on
need write_to "$LMM_DBG/pcp/enabled" 0
refute "livepatch=0: pcp does not come on again" write_to "$LMM_DBG/pcp/enabled" 1
check "and says why" tells last_error "livepatch=0"
need write_to "$LMM_PARAMS/livepatch" 1

# ftrace as a whole: a kernel with a permanent ftrace user refuses to switch ftrace off.
need klp_wait settled
need write_to "$LMM_DBG/pageblock/enabled" 1
if write_to /proc/sys/kernel/ftrace_enabled 0 2>/run/said; then
	note "kernel.ftrace_enabled=0 was taken with policies on"
	same "ftrace off: nothing that stands on it reads armed" "$(needing_ftrace)" ""
	need write_to /proc/sys/kernel/ftrace_enabled 1
else
	note "kernel.ftrace_enabled=0 is refused while a livepatch is in force: $(cat /run/said)"
	check "the kernel keeps ftrace on while a livepatch is in force" gives 1 cat /proc/sys/kernel/ftrace_enabled
fi
need write_to "$LMM_DBG/pageblock/enabled" 0
check "unloads" all_out
# Refused altogether: a policy then comes on with words or not at all.
if write_to /proc/sys/kernel/ftrace_enabled 0; then
	need lmm_load
	if write_to "$LMM_DBG/pcp/enabled" 1; then
		honest "ftrace off"
	else
		check "ftrace off: pcp is refused in words" tells last_error "ftrace is off"
	fi
	note "ftrace off: $(cat "$LMM_DBG/last_error")"
	need write_to /proc/sys/kernel/ftrace_enabled 1
	need all_off
	check "unloads, in the end" all_out

	# Without a livepatch the kernel lets ftrace go while policies are on.
	need lmm_load livepatch=0 policies=pcp:enabled=1,mode=depth
	check "a kprobe is armed without a livepatch" hook_is wake_kswapd armed
	need write_to /proc/sys/kernel/ftrace_enabled 0
	same "ftrace off under mode depth: nothing that stands on it reads armed" "$(needing_ftrace)" ""
	check "and the row of a kprobe says why" tells hooks '^wake_kswapd .*ftrace is off'
	need write_to /proc/sys/kernel/ftrace_enabled 1
	check "ftrace on again: armed" hook_is wake_kswapd armed
	need all_off
	check "unloads without a livepatch" all_out
else
	fail "the kernel switches ftrace off when no livepatch is in force" "refused"
fi

# The livepatch was loaded while theirs held refill, which pcp can do without.  Later theirs
# covers drain for a while: pcp comes on again with what the livepatch has.
if foreign_load function=rmqueue_bulk; then
	need lmm_load policies=pcp:enabled=1
	need foreign_unload
	check "refill was left out" hook_is refill unavailable
	need foreign_load
	check "theirs covers drain: pcp is off" klp_wait policy_is pcp off
	need foreign_unload
	check "theirs has gone: pcp comes on" write_to "$LMM_DBG/pcp/enabled" 1
	check "with drain" hook_is drain armed
	check "pcp knows that refill is not there" tells status "^pcp .*event: drains and"

	# Mode depth requires no wrapper.
	need write_to "$LMM_DBG/pcp/mode" depth
	check "mode depth has drain" wait_for 30 hook_is drain armed
	need livepatch_off livemm_klp_lists
	need klp_wait patches_quiet
	check "mode depth goes on without drain" wait_for 30 hook_is drain "(idle|unavailable)"
	check "mode depth is on" wait_for 30 policy_is pcp on
	need all_off
	check "unloads, theirs gone" all_out
elif traceable rmqueue_bulk; then
	fail "theirs takes refill" "the kernel refused lmm_foreign"
else
	note "this kernel has no rmqueue_bulk to take"
fi
