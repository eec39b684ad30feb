# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# guest: shared
# named: 6.1 7.2
# args: transparent_hugepage=never
#
# The module parameter `policies`, at load and at runtime, good and bad, and `off`, the way out of
# a bad boot.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# Loads that must fail, the word that must be named, and nothing left behind.
bad_load() {
	dmesg --clear
	refute "load refuses policies='$1'" lmm_load policies="$1"
	check "and names '$2'" sh -c "dmesg | grep 'livemm: ' | grep -q -- '$2'"
	refute "and is not loaded" loaded livemm
}

bad_load "pcp:enabled=1,decay_ms=5" "pcp/decay_ms: 5"
bad_load "nosuch:enabled=1" "nosuch"

check "load with a good string" lmm_load policies="pcp:enabled=1,decay_ms=500"
shown=$(cat "$LMM_PARAMS/policies")
check "it is shown in its own form" expr "$shown" : ".*pcp:.*enabled=1.*decay_ms=500"
before=$(cat "$LMM_DBG/pcp/config")
refute "runtime refuses a bad word" write_to "$LMM_PARAMS/policies" "pcp:enabled=0,decay_ms=x"
same "and changes nothing" "$(cat "$LMM_DBG/pcp/config")" "$before"
check "last_error has the reason" grep -q "pcp/decay_ms: x" "$LMM_PARAMS/last_error"
check "switches off at runtime" write_to "$LMM_PARAMS/policies" "pcp:enabled=0"
same "and it is off" "$(cat "$LMM_DBG/pcp/enabled")" 0
check "what it showed recreates the state" write_to "$LMM_PARAMS/policies" "$shown"
same "as it was" "$(cat "$LMM_PARAMS/policies")" "$shown"
need lmm_unload

check "off=1 loads" lmm_load off=1
check "supported says why not" grep -q "^no: livemm.off=1, .* or when livemm was loaded" "$LMM_DBG/pcp/supported"
check "status says unsupported" policy_is pcp unsupported
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" "livemm.off=1"
need lmm_unload

dmesg --clear
refute "mode event needs them" lmm_load livepatch=0 policies=pcp:enabled=1
check "and says so" sh -c "dmesg | grep -q 'hook drain: module parameter livepatch=0'"
check "livepatch=0 loads" lmm_load livepatch=0 policies=pcp:enabled=1,mode=depth
check "pcp is on without them" policy_is pcp on
refute "livepatch=0 never loads the wrappers" any_klp_loaded
check "the drain hook says why" tells hooks "livepatch=0"
check "unloads" lmm_unload
