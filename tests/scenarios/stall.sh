# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# named: 6.12
# args: transparent_hugepage=never
#
# A livepatch transition stalls, ours or somebody else's. The policy waits for ours, and says so; other
# policies work, and whatever needs no wrapper comes on. When the task has ended, the policy comes on.
# A policy that is switched on in a transition of somebody else's is refused at once.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

need insmod "$LMM_MODDIR/lmm_stall.ko"
need lmm_load
bounds=$(lists_bounds)
in_time 5000 "the write is done" write_only "$LMM_DBG/pcp/enabled" 1
check "pcp waits, and says for what" klp_wait tells status \
	"^pcp +waiting .*livepatch livemm_klp_lists is in transition"
none_armed
same "list bounds are as before" "$(lists_bounds)" "$bounds"
in_time 5000 "a policy with another livepatch" write_only "$LMM_DBG/pageblock/enabled" 1
check "waits as well" policy_is pageblock waiting
check "numa needs none, and comes on" write_to "$LMM_DBG/numa/config" "enabled=1 mode=period"
check "numa is on" policy_is numa on
in_time 5000 "pcp: off" write_to "$LMM_DBG/pcp/enabled" 0
check "is off" policy_is pcp off
in_time 5000 "pcp: on without wrappers" write_only "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
check "mode depth is on" policy_is pcp on
refute "without drain" hook_is drain armed
need rmmod lmm_stall
check "without that task all come on" lmm_wait
check "pcp is on" policy_is pcp on
check "with drain" wait_for 30 hook_is drain armed
check "pageblock is on" policy_is pageblock on
need all_off
need lmm_klp_unload

# An admin gives up: the kernel takes the transition back, and others can be enabled.
need insmod "$LMM_MODDIR/lmm_stall.ko"
need write_only "$LMM_DBG/pcp/config" "enabled=1 mode=event"
need klp_wait stalls
refute "no other livepatch can be enabled" insmod "$LMM_MODDIR/lmm_foreign.ko"
need write_to /sys/kernel/livepatch/livemm_klp_lists/enabled 0
check "pcp is off, and says why" klp_wait tells status \
	"^pcp +off .*livepatch livemm_klp_lists was disabled"
check "theirs can be enabled" insmod "$LMM_MODDIR/lmm_foreign.ko" function=task_numa_fault
need rmmod lmm_stall
need klp_wait foreign_settled
need foreign_unload
need lmm_klp_unload

# Theirs stalls, and is cumulative: it has a function without code for each of ours.
need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=event"
check "pcp is on" policy_is pcp on
need insmod "$LMM_MODDIR/lmm_stall.ko"
insmod "$LMM_MODDIR/lmm_foreign.ko" function=task_numa_fault replace=1 &
loads=$!
check "theirs is in transition" klp_wait gives 1 cat "$foreign/transition"
check "pcp is off, as its livepatch is about to go" klp_wait policy_is pcp off
check "and says why" tells status "^pcp +off .*livemm_klp_lists was disabled or replaced"
refuses "$LMM_DBG/pcp/enabled" 1 "Device or resource busy" "livemm_klp_lists was replaced"
refuses "$LMM_DBG/zonelock/enabled" 1 "Device or resource busy" "livemm_klp_lists was replaced"
same "nobody says that theirs holds drain" "$(grep -c 'lmm_foreign holds' "$LMM_DBG/hooks")" 0
check "mode depth comes on without drain" write_only "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
check "it is on" policy_is pcp on
need write_to "$LMM_DBG/pcp/enabled" 0
need rmmod lmm_stall
check "theirs is in force" klp_wait foreign_settled
need wait $loads
need lmm_klp_unload
check "with ours unloaded, pcp comes on beside theirs" write_to "$LMM_DBG/pcp/config" "enabled=1 mode=event"
check "it is on beside theirs" policy_is pcp on
need write_to "$LMM_DBG/pcp/enabled" 0
need lmm_klp_unload

# Theirs leaves, and stalls: nothing of ours is loaded.
need insmod "$LMM_MODDIR/lmm_stall.ko"
need write_to "$foreign/enabled" 0
check "theirs is in transition again" gives 1 cat "$foreign/transition"
refuses "$LMM_DBG/pcp/enabled" 1 "Device or resource busy" "livepatch lmm_foreign is in transition"
check "mode depth comes on without drain, again" write_only "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
check "it is on again" policy_is pcp on
refute "no livepatch is asked for meanwhile" any_klp_loaded
need rmmod lmm_stall
need klp_wait livepatch_gone lmm_foreign
need wait_for 10 foreign_out
check "pcp gets drain, then" klp_wait hook_is drain armed
check "mode event is switched on" write_to "$LMM_DBG/pcp/mode" event
check "unloads" lmm_unload
