#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine hibernates, with nothing of livemm, and with policies on and pages in lists and
# depots: the image is written to the disk and read back, and the machine goes on from there.
# Before the image is made, the kernel takes all CPUs but one off, and drains lists: depots go back
# with these lists.
set -u
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"

# The shell is busybox, and would run its own modprobe.
modprobe() { /sbin/modprobe "$@"; }

hibernates() { write_to /sys/power/state disk; }

# Pages that a file had are freed at once.
fill() {
	for _ in 1 2 3; do
		dd if=/dev/zero of=/tmp/fill bs=1M count=200 2>/dev/null
		rm /tmp/fill
	done
}
# While pageblock's worker frees a block, the depots of the zone hold nothing.
filled() {
	fill
	grown "$1" held
}

need modprobe virtio_blk
need wait_for 20 test -b /dev/vda
need mkswap /dev/vda
need swapon /dev/vda
# Reads the image as a boot does, but needs no boot.
need write_to /sys/power/disk test_resume
check "without livemm the machine hibernates" hibernates

need lmm_load
need write_to "$zonelock/config" "enabled=1 max_pages_pct=20 max_age_ms=60000"
on="pcp zonelock pageblock"
for policy in pcp pageblock; do
	need write_to "$LMM_DBG/$policy/enabled" 1
done
# The kernel has CMA.
if grep -q '^CmaTotal: *[1-9]' /proc/meminfo; then
	need write_to "$LMM_DBG/cma/enabled" 1
	on="$on cma"
fi
check "the depots hold pages" wait_for 4 filled 4100
had=$(held)
before=$(counter returned_drain zonelock)
check "with policies on the machine hibernates" hibernates
back=$(($(counter returned_drain zonelock) - before))
check "the depots went back before the image was made: $back pages" test "$back" -ge $((had / 2))
for policy in $on; do
	check "$policy is on afterwards" policy_is "$policy" on
done
check "with hooks" tells hooks '^drain +livepatch .* armed'
# The worker hears of a request for free blocks.
check "the depots hold pages again" wait_for 4 filled 600
before=$(counter returned_compaction zonelock)
need write_to /proc/sys/vm/compact_memory 1
check "and give back" grown "$before" counter returned_compaction zonelock
need all_off
check "policies come to rest" wait_for 60 settled
same "all that was stored was taken or went back" "$(unaccounted)" 0
check "unloads" lmm_unload
