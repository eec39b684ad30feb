# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never
#
# A CPU frees what comes by a pipe from another CPU, and takes pages of another migratetype for page
# cache. The list of that CPU has no use of the pages that it frees, so pcp raises no list for them,
# and zonelock passes them to the other CPU as if pcp were off.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

# Megabytes of page cache, as many as pass by the pipe.
mib=256
folder=/run/lmm_cached

# A file of holes, the page cache of which is movable as that of any file; pages of a pipe are not.
make_file() {
	truncate -s $((2 * mib))M /run/lmm_disk && modprobe loop || return
	disk=$(losetup --find --show /run/lmm_disk) && mkfs.ext4 -q "$disk" &&
		mkdir -p "$folder" && mount "$disk" "$folder" &&
		truncate -s "$mib"M "$folder/file"
}

# Pages that have crossed zone->lock for 1000 pages, of the pipe and the page cache.
cached() {
	echo 3 >/proc/sys/vm/drop_caches
	_hits=$(hits)
	taskset -c 1 dd if="$folder/file" of=/dev/null bs=64k 2>/dev/null &
	send $((mib * 16))
	wait $!
	echo $((($(hits) - _hits) * 1000 / (2 * mib * 256)))
}

need make_file
need lmm_load
cached >/dev/null
base=$(cached)
# However slow the machine is, what is on its way is not taken for old.
need write_to "$zonelock/config" "enabled=1 max_age_ms=60000"
cached >/dev/null
alone=$(cached)
need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=60000"
cached >/dev/null
# A round that the host delays has more: lists give back what is old meanwhile.
for _round in 1 2 3 4 5 6; do
	both=$(cached)
	[ "$both" -le $((alone * 23 / 20)) ] && break
done
check "pcp has seen refills" counted refills 0
note "pages over zone->lock, of 1000: stock $base, zonelock $alone, both $both"
check "both bring as few over zone->lock as zonelock alone" test "$both" -le $((alone * 23 / 20))
check "and two thirds of stock at most" test $((both * 3)) -le $((base * 2))
check "pcp goes off" write_to "$LMM_DBG/pcp/enabled" 0
check "zonelock goes off" write_to "$zonelock/enabled" 0
umount "$folder"
losetup -d "$disk"
rm -f /run/lmm_disk
check "unloads" lmm_unload
