# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 7.2
# memory: 1G
# args: transparent_hugepage=never
#
# A device accepts requests and does not answer. Pages that are being read and written stay locked
# and under writeback, in those blocks that would be the cheapest for pageblock's worker to empty.
# The worker leaves these blocks alone and empties others. Nothing of livemm waits for the device:
# not off, not status, not the lease, not rmmod, and not memory that is to go offline.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

PB=$LMM_DBG/pageblock
limit=20000
stuck_says() { grep -q "$1" /run/stuck; }
worked() { grown 0 counter made pageblock && grown 0 counter skipped pageblock; }
# offline_asked: ask for a block of memory, which the kernel may refuse, and take the wish back.
offline_asked() {
	for _block in /sys/devices/system/memory/memory[0-9]*; do
		[ "$(cat "$_block/removable" 2>/dev/null)" = 1 ] || continue
		timeout -s INT 1 sh -c "echo offline >$_block/state" 2>/dev/null
		[ "$(cat "$_block/state")" = online ] || echo online >"$_block/state"
		return 0
	done
	return 1
}

need modprobe -a loop dm-mod ext4
need write_to /proc/sys/kernel/hung_task_timeout_secs 0
need write_to /proc/sys/vm/compaction_proactiveness 0
pages_before pageblock

# Without a journal, a write needs no other request to the device first.
need truncate -s 32M /run/disk
need mkfs.ext4 -q -F -b 4096 -O ^has_journal /run/disk
loop=$(losetup -f --show /run/disk)
need dmsetup create --noudevsync lmm_stuck --table "0 65536 linear $loop 0"
need mkdir /run/files
need mount -o noatime,lazytime /dev/dm-0 /run/files
for name in read written; do
	need dd if=/dev/zero of=/run/files/$name bs=4096 count=256 conv=fsync
done
need dmsetup suspend --noudevsync --nolockfs --noflush lmm_stuck
"$LMM_ROOT/build/programs/stuckpages" /run/files $(($(meminfo MemFree) / 1024 - 60)) >/run/stuck 2>&1 &
stuck=$!
check "memory is half used" wait_for 120 stuck_says held
note "stuckpages: $(cat /run/stuck)"
refute "and pages are being read" stuck_says " 0 reading"
need grown 200 meminfo Writeback

need write_to "$PB/config" "enabled=1 reserve_blocks=64"
check "blocks are made, and others left alone" wait_for 60 worked
note "made $(counter made pageblock), moved $(counter moved pageblock), skipped $(counter skipped pageblock)"
for round in 1 2 3; do
	in_time $limit "status can be read, $round" cat "$LMM_DBG/status"
	in_time $limit "memory can be asked for, $round" offline_asked
	in_time $limit "off, $round" write_to "$PB/enabled" 0
	in_time $limit "on, $round" write_to "$PB/enabled" 1
	sleep 1
done
begun=$(uptime_ms)
need write_to "$LMM_DBG/lease" 2
check "the lease ends" wait_for 30 policy_is pageblock off
took=$(($(uptime_ms) - begun))
check "the lease of 2 s ends in time: after $took ms" test "$took" -le 12000
in_time $limit "on again" write_to "$PB/enabled" 1
sleep 1
same "the device still does not answer" "$(cat /sys/block/dm-0/dm/suspended)" 1
in_time $limit "all goes" lmm_unload
check "livemm is gone" unloaded livemm

need dmsetup resume --noudevsync lmm_stuck
need kill "$stuck"
wait "$stuck"
need umount /run/files
need dmsetup remove --noudevsync lmm_stuck
need losetup -d "$loop"
rm /run/disk
need lmm_load
all_back
