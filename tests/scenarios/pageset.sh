# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2 debug
# named: 6.1 6.12
# guest: shared
# timeout: 900
# args: transparent_hugepage=never
#
# The kernel writes the bounds of the lists at the same time as pcp: the kernel disables lists,
# computes bounds anew, and takes a CPU and memory away. The kernel's values win and stay. The mode
# changes under load.
. "$LMM_ROOT/tests/scenarios/lib.sh"

fraction=/proc/sys/vm/percpu_pagelist_high_fraction
min_free=/proc/sys/vm/min_free_kbytes
seen=/sys/module/lmm_pageset/parameters
cpu=/sys/devices/system/cpu/cpu1/online

lists_disabled() { lists_bounds | grep -q ' 0\.\.0 '; }
shown_as() { state_rows | awk -v why="$1" '$NF != why { bad = 1 } END { exit bad || !NR }'; }
lists_of_cpu() { lists_bounds | awk -v cpu="$1" '$3 == cpu && $4 != $5'; }

# A writer of its own, that a signal ends.
disable_start() {
	sh -c "echo 60000 >$seen/hold_ms" &
	holder=$!
	need wait_for 30 lists_disabled
	ok "$1: the kernel disables the lists"
}

# Nothing but a block on its way through may lie in a disabled list: 8 pages, of order 3.
disable_end() {
	kill "$holder"
	wait "$holder" 2>/dev/null
	same "$1: no bound but 0 while disabled" "$(cat "$seen/bound")" 0
	check "$1: disabled lists stay empty" test "$(cat "$seen/most")" -le 8
}

need insmod "$LMM_MODDIR/lmm_pageset.ko"
pcp_before
need write_to "$LMM_DBG/pcp/config" "decay_ms=800"
load_start

for mode in event depth; do
	need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=$mode"
	check "$mode: lists are raised" wait_for 60 lists_raised
	! tunes || same "$mode: within what the kernel may choose" "$(lists_changed)" ""
	disable_start "$mode"
	hands_off=$(counter hands_off)
	for knob in high_max_pct=5 decay_ms=500 decay_ms=800 high_max_pct=12.5; do
		need write_to "$LMM_DBG/pcp/config" "$knob"
	done
	check "$mode: it leaves them alone" wait_for 30 counted hands_off "$hands_off"
	check "$mode: knobs are written meanwhile" lists_disabled
	disable_end "$mode"
	check "$mode: lists are raised again" wait_for 60 lists_raised

	disable_start "$mode, toggled"
	need write_to "$LMM_DBG/pcp/enabled" 0
	need write_to "$LMM_DBG/pcp/enabled" 1
	check "$mode: switched off and on meanwhile" lists_disabled
	need write_to "$LMM_DBG/pcp/enabled" 0
	disable_end "$mode, toggled"
	same "$mode: off, the kernel's own bounds stand" "$(lists_bounds)" "$bounds"
done

need write_to "$LMM_DBG/pcp/enabled" 1
check "lists are raised" wait_for 60 lists_raised
check "the mode changes under load" write_to "$LMM_DBG/pcp/mode" event
check "lists are raised in the new mode" wait_for 60 lists_raised
# The sysctl takes the same lock, so it waits, and then both store their bounds.
disable_start "sysctl"
write_to "$fraction" 16 &
setter=$!
sleep 0.5
disable_end "sysctl"
need wait "$setter"
check "hands off" wait_for 30 shown_as sysctl
check "status says so" tells status percpu_pagelist_high_fraction
same "its bounds stand" "$(lists_changed)" ""
set_by_sysctl=$(lists_bounds)
need lmm_unload
same "and without livemm" "$(lists_bounds)" "$set_by_sysctl"
need lmm_load "policies=pcp:enabled=1,mode=event,decay_ms=800"
need write_to "$fraction" 0
check "lists are raised without it" wait_for 60 lists_raised

kbytes=$(cat "$min_free")
need write_to "$min_free" $((kbytes * 3))
check "raised above another default" wait_for 60 lists_raised
check "which is larger" test "$(state_rows | awk '$2 == "DMA32" { print $6; exit }')" -gt \
	"$(echo "$bounds" | awk '$2 == "DMA32" { sub(/\.\..*/, "", $5); print $5; exit }')"
need write_to "$min_free" "$kbytes"
check "raised above the old default" wait_for 60 lists_raised

need write_to "$cpu" 0
same "the lists of a CPU that goes have their default" "$(lists_of_cpu 1)" ""
need write_to "$cpu" 1
check "lists are raised with it back" wait_for 60 lists_raised

# Memory that goes and comes, several times, under load.
rounds=0 block=
while [ "$rounds" -lt 3 ] && block=$(memory_offline "$block"); do
	need write_to "$block/state" online
	rounds=$((rounds + 1))
done
check "memory goes and comes under load" test "$rounds" -gt 0
check "lists are raised after it" wait_for 60 lists_raised
load_stop
check "idle lists go back" wait_for 60 lists_idle
need write_to "$LMM_DBG/pcp/enabled" 0
same "every list has the kernel's own bound" "$(lists_changed)" ""
none_armed
all_back
