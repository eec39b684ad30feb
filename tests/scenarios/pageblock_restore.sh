# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# memory: 512M
# args: transparent_hugepage=never
# emulation: parallel
# timeout: 1200
#
# The policy goes off and on while free memory is short and two processes take and free pages: the
# blocks of the reserve, pairs among them, are taken apart while they get their type back. The
# kernel's count of free pages stays true.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_counted.sh"

PB=$LMM_DBG/pageblock
# Free unmovable parts of two blocks.
pairs() { awk '$4 == "DMA32," && $6 == "Unmovable" { print $17 }' /proc/pagetypeinfo; }

need write_to /proc/sys/vm/compaction_proactiveness 0
pages_before pageblock
check "free pages are counted" wait_for 20 all_counted
LOAD_PROCS=2 LOAD_ROUNDS="-w 24"
load_start
switched=0 with_pairs=0 rounds=$(soaked 30 200)
for round in $(seq "$rounds"); do
	write_to "$PB/config" "enabled=1 reserve_blocks=16" || break
	sleep 0.5
	hog_hold $(($(meminfo MemFree) / 1024 - 60))
	[ "$(pairs)" = 0 ] || with_pairs=$((with_pairs + 1))
	write_to "$PB/enabled" 0 || break
	hog_end
	switched=$round
done
load_stop
same "switched off and on" "$switched" "$rounds"
check "pairs of blocks were given back: in $with_pairs rounds" test "$with_pairs" -gt 0
note "$(tr '\n' ' ' <"$PB/counters")"
note "counted without being on a list: $(miscounted)"
check "free pages are counted as before" wait_for 20 all_counted
none_armed
all_back
