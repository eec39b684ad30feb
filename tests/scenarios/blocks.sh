# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1
# memory: 1G
# args: transparent_hugepage=never
# balloon: yes
#
# pageblock makes wholly free blocks where free memory is fragmented, within the budget of
# move_pages_per_s, and then rests. The host's balloon takes memory and gives the memory back
# meanwhile. pageblock has a file system's buffers asked for as unmovable, and refuses those who would
# mix blocks.
. "$LMM_ROOT/tests/scenarios/lib.sh"

PB=$LMM_DBG/pageblock
# of ZONE COLUMN: a number of the policy's state.
of() { awk -v zone="$1" -v column="$2" '$2 == zone { print $column }' "$PB/state"; }
free_blocks() { of DMA32 3; }
wanted_blocks() { of DMA32 4; }
are_made() { [ "$(free_blocks)" -ge "$(wanted_blocks)" ]; }
rests() { tells pageblock/state '^worker: resting'; }
passes() { counter passes pageblock; }
free_mib() { echo $(($(meminfo MemFree) / 1024)); }
# Movable pages in unmovable blocks.
strangers() { census_take /run/census 60 && census_pages /run/census foreign_movable unmovable; }
# movable_buffers NAME: make directories, and count the pages for which what asks does not
# want high memory (2), as programs' pages may be, but movable ones (8).
movable_buffers() {
	: >/sys/kernel/tracing/trace
	echo 'gfp_flags & 8 && !(gfp_flags & 2)' >$alloc/filter
	echo 1 >$alloc/enable
	seq 300 | sed "s|^|/run/ext4/$1-|" | xargs mkdir
	echo 0 >$alloc/enable
	grep -c mm_page_alloc /sys/kernel/tracing/trace
}
alloc=/sys/kernel/tracing/events/kmem/mm_page_alloc
# balloon MIB: have the host leave so much to the guest.
balloon() { printf 'balloon %s\n' "$1" >"$monitor"; }
ballooned() { echo $(($(vmstat balloon_inflate) - $(vmstat balloon_deflate))); }

# Their memory is to be in both readings.
need modprobe -a loop ext4 virtio_balloon
pages_before pageblock

# Half of memory is free, a page here and a page there, and the kernel leaves it so.
need write_to /proc/sys/vm/compaction_proactiveness 0
hog_hold $(($(free_mib) - 40)) sh -c 'exec "$@" -s' sh
before=$(kernels_blocks)
# By the kernel's own count: nobody else moves pages now.
first=$(vmstat pgmigrate_success) start=$(uptime_ms)
need write_to "$PB/config" "enabled=1 reserve_blocks=64 move_pages_per_s=300"
check "a block in 16 is wanted, not more" test "$(wanted_blocks)" -gt 8 -a "$(wanted_blocks)" -lt 64
check "there are fewer" test "$before" -lt "$(wanted_blocks)"
sleep 4
moved=$(($(vmstat pgmigrate_success) - first)) ms=$(($(uptime_ms) - start))
note "within $ms ms, $moved pages moved at 300 a second"
check "no more pages are moved than may be" test "$moved" -le $((300 * (ms + 1000) / 1000))
check "but many of them" wait_for 4 grown $((first + 200)) vmstat pgmigrate_success
note "within $ms ms, $(counter looked pageblock) looks at blocks"
need write_to "$PB/move_pages_per_s" 0
# A balloon takes single pages, among them pages of the blocks that are to be made.
monitor=
for _port in /sys/class/virtio-ports/*; do
	[ "$(cat "$_port/name")" != livemm.monitor ] || monitor=/dev/${_port##*/}
done
refute "when a balloon grows, not all blocks are made" are_made
need write_to "$PB/move_pages_per_s" 800
balloon 924
check "a balloon takes 100 MiB meanwhile" wait_for 120 grown 25599 ballooned
need write_to "$PB/move_pages_per_s" 1500
check "as many are made as are wanted" wait_for 60 are_made
note "free blocks $before, then $(free_blocks) of $(wanted_blocks); made $(counter made pageblock), pages moved $(counter moved pageblock)"
check "they were made, not found" test "$(counter made pageblock)" -gt 0
if [ -n "$monitor" ]; then
	note "balloon: skipped $(counter skipped pageblock) pages"
	balloon 1024
	check "the balloon gives all back" wait_for 120 gives 0 ballooned
	check "the process that has the memory lives" lives lmm_hog
fi
hog_end
check "with enough free blocks the worker rests" wait_for 30 rests
before=$(passes)
sleep 20
same "and does not run for 20 s" "$(passes)" "$before"
need write_to "$PB/config" "enabled=0 reserve_blocks=16"

need dd if=/dev/zero of=/run/disk bs=1M count=64
need mkfs.ext4 -q -F -b 4096 /run/disk
need mkdir /run/ext4
need mount -o loop /run/disk /run/ext4
without=$(movable_buffers without)
need write_to "$PB/enabled" 1
check "the buffer hook is armed" tells hooks '^buffer .* armed'
with=$(movable_buffers with)
need write_to "$PB/enabled" 0
again=$(movable_buffers again)
note "movable buffers $without without, $with with, $again off again"
check "buffers were movable" test "$without" -gt 200
check "buffers are not" test "$with" -lt 20
check "but off again they are" test "$again" -gt 200
need umount /run/ext4
rm /run/disk

# Programs' pages have nowhere to go but beside the kernel's.
need write_to /proc/sys/vm/drop_caches 3
free=$(free_mib)
# It keeps 96 MiB, and gives as much back.
need insmod "$LMM_MODDIR/lmm_holes.ko" pages=49152
need write_to "$PB/config" "enabled=1 move_pages_per_s=0"
check "with nothing to spend the worker rests" wait_for 10 rests
idle=$(passes) refused=$(counter refused pageblock) were=$(counter mixed pageblock)
hog_hold $((free - 96 - 104))
# What is in per-CPU lists is free, too, and how much that is differs.
hog=lmm_late
for _more in $(seq 10); do
	hog_hold 12
	! grown 2000 strangers || break
done
check "who would mix is refused first" grown $((refused + 500)) counter refused pageblock
check "blocks are mixed" grown "$were" counter mixed pageblock
check "and hold programs' pages" grown 1000 strangers
same "which does not wake a worker that may move nothing" "$(passes)" "$idle"
hog_end
hog=lmm_hog
hog_end
need rmmod lmm_holes

need write_to "$PB/config" "enabled=0 move_pages_per_s=1450"
all_back
