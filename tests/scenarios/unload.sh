# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1 debug
# guest: shared
# named: 6.12 7.2
# timeout: 900
# args: transparent_hugepage=never
# emulation: parallel 6.1 debug
#
# The livepatches and livemm are unloaded under load. livemm stays while its livepatches are loaded. An
# admin who disables a livepatch has the policy go off, in words.
. "$LMM_ROOT/tests/scenarios/lib.sh"

bounds=$(lists_bounds)
need lmm_load policies=pcp:enabled=1,decay_ms=500
need lmm_unload
case $(soaked light full)$LMM_DEBUG in
light*) LOAD_PROCS=1 LOAD_ROUNDS="-w 16 -F 60" load_start ;;
full1) LOAD_PROCS=$LMM_CPUS LOAD_ROUNDS="-w 48" load_start ;;
*) load_start ;;
esac
need lmm_load policies=pcp:enabled=1,decay_ms=500
check "lists are raised" wait_for 60 counted raised 0
refute "the wrappers stay while in force" rmmod livemm_klp_lists
refute "livemm stays while its livepatches do" rmmod livemm
need write_to "$LMM_DBG/pcp/enabled" 0
same "list bounds are as before" "$(lists_bounds)" "$bounds"
check "the wrappers stay, disarmed" loaded livemm_klp_lists
check "on again, on the same wrappers" write_to "$LMM_DBG/pcp/enabled" 1
check "on" policy_is pcp on
check "the drain hook is armed" tells hooks '^drain +livepatch .* armed'
check "the livepatch goes by its sysfs switch, policy on" lmm_klp_unload
check "pcp is off, and says why" tells status "^pcp +off .*hook drain: livepatch livemm_klp_lists was disabled"
same "its lists are as before" "$(lists_bounds)" "$bounds"
check "rmmod livemm" rmmod livemm
check "and all again" lmm_load policies=pcp:enabled=1
check "with new wrappers" loaded livemm_klp_lists
check "unload all under load" lmm_unload
load_stop
same "list bounds are as before, in the end" "$(lists_bounds)" "$bounds"
