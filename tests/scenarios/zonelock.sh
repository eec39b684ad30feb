# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1 6.12
# named: 7.2
# guest: shared
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never
#
# One CPU allocates and another CPU frees, so pages cross zone->lock twice each. With the depot
# pages do not cross zone->lock, either side may run dry, and remaining pages go back by
# themselves.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

# But for a batch that looking itself may leave.
nearly_empty() { [ "$(held)" -le 504 ]; }

need lmm_load
sent 256 >/dev/null
base=$(sent 2048)
# However slow the machine is, what is on its way is not taken for old.
need write_to "$zonelock/config" "enabled=1 max_age_ms=10000"
sent 256 >/dev/null
policy=$(sent 2048)
note "pages over zone->lock, of 1000 sent: stock $base, with the depot $policy"
note "$(tr '\n' ' ' <"$zonelock/counters")"
check "stock takes most pages over the lock, twice" test "$base" -gt 1000
check "the depot brings it under a tenth" test "$((policy * 10))" -lt "$base"
check "batches were stored" test "$(counter stored_pages zonelock)" -gt 0
check "and taken" test "$(counter taken_pages zonelock)" -gt 0

# What nobody takes goes back.
need write_to "$zonelock/max_age_ms" 4000
check "what a process leaves is stored" stock
note "held of it: $(held) pages"
# Where the kernel lowers the bounds of lists, lists pass pages on for as long as the pipe is known.
check "and is back in time" wait_for 20 nearly_empty
check "by age" test "$(counter returned_age zonelock)" -gt 0
check "switched off, it takes nothing more" write_to "$zonelock/enabled" 0
same "all that was stored was taken or went back" "$(unaccounted)" 0
check "unloads" lmm_unload
