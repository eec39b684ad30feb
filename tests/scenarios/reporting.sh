# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12 7.2
# memory: 1G
# args: transparent_hugepage=never
# balloon: reporting
#
# By free page reporting the kernel tells the host of free memory, in blocks of 2 MiB or more, and
# the host uses such memory. With the depots on, the host learns of as much memory as on stock:
# what the depots hold goes back to the buddy after max_age_ms.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"

# blocks: blocks of 2 MiB of which all pages are free, and those that the host knows.  A page of the
# buddy has KPF_BUDDY (10); the kernel marks a block that was reported on its first page, by a flag
# that reads as KPF_UPTODATE (3).  The block may have 4 MiB.
blocks() {
	/usr/bin/python3 - <<-'END'
	import array
	flags = array.array("Q")
	with open("/proc/kpageflags", "rb", buffering=0) as file:
	    while some := file.read(1 << 16):
	        flags.frombytes(some)
	free = reported = 0
	for first in range(0, len(flags), 512):
	    if not all(flag >> 10 & 1 for flag in flags[first:first + 512]):
	        continue
	    free += 1
	    pair = first & ~1023
	    reported += (flags[first] >> 3 | flags[pair] >> 3 & flags[pair] >> 10) & 1
	print(free, reported)
	END
}
# The host knows of all free blocks but a few, and of so many blocks.
told() {
	# What the last look has freed is to be back.
	sleep 3
	blocks >/run/blocks
	read -r _free _reported </run/blocks
	[ $((_free - _reported)) -le 16 ] && [ "$_reported" -ge "$1" ]
}
reported() { cut -d' ' -f2 /run/blocks; }
# Most of memory was used, and is freed by one CPU.
used() {
	hog_hold 600 taskset -c 0
	hog_end
}

# Blocks that are being reported do not count as free, so both readings are without the balloon.
pages_before zonelock
need modprobe virtio_balloon
used
check "stock: the host learns of what a process has freed" wait_for 6 told 250
stock=$(reported)
note "stock: $(cat /run/blocks) blocks of 2 MiB are free, reported"

need write_to "$zonelock/config" "enabled=1 max_age_ms=60000 max_pages_pct=30"
used
sleep 3
check "the host learns of the rest" wait_for 6 told 250
stored=$(held)
note "$stored pages in the depots: $(cat /run/blocks) blocks are free, reported"
check "the depots hold pages" test "$stored" -gt 10000
check "the host does not learn of those" test "$(reported)" -lt $((stock - 10))
need write_to "$zonelock/max_age_ms" 1000
check "the host learns of as much as on stock" wait_for 6 told $((stock - 8))
note "zonelock: $(cat /run/blocks) blocks of 2 MiB are free, reported"
need write_to "$zonelock/enabled" 0
same "all that was stored was taken or went back" "$(unaccounted)" 0
need rmmod virtio_balloon
all_back
