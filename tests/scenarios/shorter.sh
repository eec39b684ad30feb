# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12
# memory: 1G
# args: transparent_hugepage=never
#
# A time that a policy waits by an old setting ends with the new one: a shorter setting, and a lower
# bound, hold at once.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"

need lmm_load
need lists_bounds >/dev/null

# pcp: a tick is 7.5 s long, and begins with the write.
need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=3000"
work_start 16
check "pcp: lists are raised" wait_for 60 grown 2048 raised_by DMA32
load_stop
fewer() { [ "$(raised_by DMA32)" -lt "$1" ]; }
need write_to "$LMM_DBG/pcp/decay_ms" 60000
ticks=$(counter periods) raised=$(raised_by DMA32)
need write_to "$LMM_DBG/pcp/high_max_pct" 1
check "pcp: a lower bound holds at once" wait_for 6 fewer $((raised / 2))
same "pcp: and not by a tick" "$(counter periods)" "$ticks"
note "pcp: raised by $raised, then $(raised_by DMA32), ticks since the write $(($(counter periods) - ticks))"
need write_to "$LMM_DBG/pcp/enabled" 0

none_armed
check "unloads" lmm_unload
