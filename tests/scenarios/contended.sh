# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# named: 6.12
# timeout: 900
# args: transparent_hugepage=never
#
# contended_only=1: a load alone on zone->lock raises no list. The same load raises lists when
# another task takes the lock.
. "$LMM_ROOT/tests/scenarios/lib.sh"

# Nor does `state` call a list raised that has the kernel's own bound, though it may be
# above its default: from 6.7 on the kernel moves it within that bound.
called_raised() { state_rows | awk '$10 ~ /^(depth|use|decay)$/'; }

need lmm_load
bounds=$(lists_bounds)
need write_to "$LMM_DBG/pcp/config" "mode=event contended_only=1 decay_ms=2000"
# All on one CPU, so that nobody contends by chance; what runs besides is little.
taskset -pc 0 $$ >/dev/null
need write_to "$LMM_DBG/pcp/enabled" 1
LOAD_PROCS=1 LOAD_ROUNDS="-w 16 -F 60" load_start
check "growth is held back" wait_for 60 counted limited_quiet 20
raised='' called=''
for _ in $(seq 10); do
	raised=$raised$(lists_changed) called=$called$(called_raised)
	sleep 0.5
done
note "quiet: grown $(counter grown), contended $(counter contended), limited_quiet $(counter limited_quiet)"
if [ "$(counter contended)" = 0 ]; then
	same "nothing has grown" "$(counter grown)" 0
	same "every list has the kernel's own bound" "$raised" ""
	same "and state calls none raised" "$called" ""
else
	# The other CPU may have had the lock for a moment: each time counts for decay_ms.
	check "little has grown" test "$(counter grown)" -le "$(counter limited_quiet)"
fi

contended=$(counter contended) grown=$(counter grown)
need insmod "$LMM_MODDIR/lmm_contend.ko" cpu=1
check "contention is seen" wait_for 60 counted contended $((contended + 5))
check "then bounds are raised" wait_for 60 counted grown "$grown"
check "and lists show it" wait_for 60 lists_raised
note "contended: grown $(counter grown), contended $(counter contended)"
need rmmod lmm_contend

need write_to "$LMM_DBG/pcp/contended_only" 0
load_stop
check "idle lists go back" wait_for 60 lists_idle
grown=$(counter grown)
LOAD_PROCS=1 LOAD_ROUNDS="-w 16 -F 60" load_start
check "contended_only=0 raises without contention" wait_for 60 counted grown "$grown"
load_stop
pcp_after ""
check "unloads" lmm_unload
