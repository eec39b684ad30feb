# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# memory: 1G
# dimm: 256M
# args: cma=256M transparent_hugepage=never memhp_default_state=online_movable suspend.pm_test_delay=1
#
# Memory in a slot, all of it movable, is removed while its pages move to CMA memory. So are pages
# of other memory while the machine goes to sleep and the policy goes off and on. Nothing is lost,
# and nothing waits for ever.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

slot=/sys/bus/acpi/devices/PNP0C80:00
# Blocks of memory that a device of the firmware has.
blocks() {
	for _block in /sys/devices/system/memory/memory[0-9]*; do
		[ ! -e "$_block/firmware_node" ] || echo "$_block"
	done
}
online() { blocks | while read -r _block; do cat "$_block/state"; done | grep -c online; }
removed() { [ -z "$(blocks)" ]; }
moving() { grown "$1" counter balanced cma; }

# fill_up NAME MIB: the owner has its memory while a process takes all but so much of the rest, and
# gives the memory back.
pieces=0
fill_up() {
	while [ "$pieces" -lt 15 ] && take reserved 4096; do
		pieces=$((pieces + 1))
	done
	check "$1: the owner has its memory: $pieces of 15 pieces" test "$pieces" -ge 12
	hog_hold $(($(regular_free) - $2))
	while [ "$pieces" -gt 0 ] && give reserved 4096; do
		pieces=$((pieces - 1))
	done
}

need lmm_load
need modprobe lmm_owner
count=$(blocks | wc -l)
check "the slot has memory: $count blocks" test "$count" -gt 0
same "all of it is online" "$(online)" "$count"
pages_before cma

need write_to "$policy/config" "enabled=1 keep_ms=0 move_pages_per_s=8192"
fill_up "with the slot" 60
moved=$(counter balanced cma)
# Slow enough for memory to be removed meanwhile.
need write_to /proc/sys/vm/watermark_scale_factor 1000
check "pages are moved" wait_for 60 moving $((moved + 500))
moved=$(counter balanced cma)
# What lies in the slot has to go somewhere: to what the policy has made free.
check "the slot is given up" write_to "$slot/eject" 1
check "the memory is gone" wait_for 120 removed
check "meanwhile pages were moved: $(($(counter balanced cma) - moved))" moving "$moved"
check "the process lives" lives $hog
hog_end

# Without the slot's memory, asleep and switched while pages move.
fill_up "without" 40
moved=$(counter balanced cma)
check "pages are moved again" wait_for 60 moving $((moved + 500))
need write_to /sys/power/pm_test freezer
check "the machine goes to sleep while pages move" write_to /sys/power/state freeze
need write_to /sys/power/pm_test none
moved=$(counter balanced cma)
check "and goes on when awake" wait_for 60 moving "$moved"
for round in 1 2 3 4 5; do
	need write_to "$policy/enabled" 0
	need write_to "$policy/enabled" 1
	moved=$(counter balanced cma)
	wait_for 5 moving "$moved"
done
note "$(tr '\n' ' ' <"$policy/counters")"
check "switches off while pages move" write_to "$policy/enabled" 0
none_armed
check "the process lives, $round times switched" lives $hog
hog_end
need rmmod lmm_owner
# Gone with the slot is what describes its pages: 64 bytes a page.
pages=$((pages - 65536 * 64 / 4096))
all_back
