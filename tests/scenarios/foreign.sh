# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# guest: shared
# named: 6.1
#
# Another livepatch replaces a function that ours wraps. Theirs stays in force, `hooks` shows the
# conflict, and the rest of the policy works. Then theirs is loaded above ours.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

need foreign_load
need lmm_load
check "drain is unavailable and says why" tells hooks \
	"^drain .* unavailable .*livepatch lmm_foreign holds free_pcppages_bulk"
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" "livepatch lmm_foreign holds"
check "mode depth goes on without it" write_to "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
load_start
check "page hooks count" wait_for 30 grown 0 hook_hits page_alloc
# Deep lists may go without a drain for minutes; a CPU that leaves drains its own.
hits=$(foreign_number hits)
need write_to /sys/devices/system/cpu/cpu1/online 0
check "their livepatch still runs" test "$(foreign_number hits)" -gt "$hits"
need write_to /sys/devices/system/cpu/cpu1/online 1
need write_to "$LMM_DBG/pcp/enabled" 0
need lmm_unload
need foreign_unload

need lmm_load policies=pcp:enabled=1
check "without it drain is armed" tells hooks "^drain .* armed"
# A cumulative livepatch of theirs takes ours out behind our back.
need foreign_load replace=1
check "the policy stands by" wait_for 60 tells status '^pcp +standby +event .*lmm_foreign'
refute "drain is no longer armed" tells hooks "^drain .* armed"
check "and pcp can still be switched off" write_to "$LMM_DBG/pcp/enabled" 0
load_stop
check "unloads" lmm_unload
check "theirs can go" foreign_unload

# Mode depth goes on without the hook while theirs holds the function, and gets the hook back.
need lmm_load policies=pcp:enabled=1,mode=depth
check "mode depth uses drain" hook_is drain armed
need foreign_load
check "theirs covers drain" wait_for 30 hook_is drain unavailable
check "pcp goes on without drain" wait_for 10 policy_is pcp on
check "theirs goes" foreign_unload
check "drain is armed again" wait_for 30 hook_is drain armed
check "pcp is on" wait_for 10 policy_is pcp on
check "unloads again" lmm_unload
