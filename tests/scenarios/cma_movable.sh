# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# memory: 1G
# timeout: 900
# args: cma=256M kernelcore=512M nokaslr
# allow: \bCall Trace:
#
# With `kernelcore=` the CMA memory lies in the zone Movable, and the kernel's own pages may lie in
# other zones only. Those zones are full of movable pages, and page tables are wanted: movable pages
# go to the CMA memory of the zone Movable, and nobody is killed. (The OOM killer prints a call
# trace each time.)
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

spare=40 more=30

# Free CMA pages of the zone Movable, which is the last of its node.
movable_cma() { awk '/^Node/ { here = $4 == "Movable" } here && $1 == "nr_free_cma" { print $2 }' /proc/zoneinfo; }

need lmm_load
need modprobe lmm_owner
pages_before cma
need write_to /proc/sys/vm/oom_dump_tasks 0
need write_to /sys/kernel/mm/transparent_hugepage/enabled never
check "the CMA memory lies in the zone Movable: $(movable_cma) free pages" \
	test "$(movable_cma)" -gt 50000

take_pieces 7
check "the owner has its memory: $pieces of 7 pieces" test "$pieces" -ge 6
victim_start $(($(regular_free) - spare))
hog_settled
give_pieces
_free=$(regular_free)
check "regular memory is full but for $_free MiB" test "$_free" -le $((spare + 40))
need write_to "$policy/enabled" 1
kills=$(vmstat oom_kill)
tables_want $((_free + more))
check "page tables are there, or somebody is not" wait_for 300 tables_answered
same "nobody is killed" $(($(vmstat oom_kill) - kills)) 0
check "the tables are there" grep -q held /run/tables
check "pages were moved: $(counter balanced cma)" test "$(counter balanced cma)" -gt 1000
note "counters: $(tr '\n' ' ' <"$policy/counters")"
kill "$wanting" 2>/dev/null
wait "$wanting" 2>/dev/null
hog_end
need write_to "$policy/enabled" 0
none_armed
need rmmod lmm_owner
all_back
