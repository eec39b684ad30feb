# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12
#
# Lockdown for integrity closes writable debugfs files, for readers too. Every knob can still be
# reached by module parameter.
. "$LMM_ROOT/tests/scenarios/lib.sh"

mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
need lmm_load
# Unsigned modules are refused from here on, so have the wrappers in already.
need write_to "$LMM_PARAMS/policies" "pcp:enabled=1"
need write_to "$LMM_PARAMS/policies" "pcp:enabled=0"
need write_to /sys/kernel/security/lockdown integrity
check "lockdown is integrity" grep -q '\[integrity\]' /sys/kernel/security/lockdown

refute "debugfs cannot be written" write_to "$LMM_DBG/pcp/enabled" 1
refute "nor its writable files read" cat "$LMM_DBG/pcp/enabled"
for file in version hooks status last_error pcp/supported pcp/counters pcp/state; do
	check "$file can still be read" cat "$LMM_DBG/$file"
done
check "on, by parameter" write_to "$LMM_PARAMS/policies" "pcp:enabled=1,period_ms=300"
check "it is on" policy_is pcp on
check "hooks are armed" tells hooks '^drain .* armed'
load_start
check "and it works" wait_for 60 counted drains 0
load_stop
check "the present state, by parameter" grep -q "period_ms=300" "$LMM_PARAMS/policies"
refute "a bad word is refused" write_to "$LMM_PARAMS/policies" "pcp:period_ms=1"
check "and the reason can be read" grep -q "pcp/period_ms: 1" "$LMM_PARAMS/last_error"
check "a lease, by parameter" write_to "$LMM_PARAMS/lease" 2
check "and it runs out" wait_for 60 policy_is pcp off
check "unloads" lmm_unload
