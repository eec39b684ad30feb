# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 7.2
# memory: 512M
# args: transparent_hugepage=never
#
# Stacks of tasks that reclaim are unwound, as a livepatch transition and /proc/PID/stack do, while
# pageblock is on. 6.1 warns about a task that is not on a CPU and whose return address is hooked.
. "$LMM_ROOT/tests/scenarios/lib.sh"

file=/run/ext4/holes
# Page cache without a disk: holes of a file are read as zeroes.
readers() {
	for _reader in 1 2 3 4 5 6; do
		while [ -e /run/still ]; do dd if=$file of=/dev/null bs=1M 2>/dev/null; done &
	done
}
stalled() { vmstat allocstall_dma32 allocstall_normal allocstall_movable; }

need modprobe -a loop ext4
need lmm_load
need truncate -s 32M /run/disk
need mkfs.ext4 -q -F -b 4096 /run/disk
need mkdir /run/ext4
need mount -o loop /run/disk /run/ext4
need truncate -s 1G $file
need write_to "$LMM_DBG/pageblock/enabled" 1
hooks_armed fallback request
! hooks_returns || hooks_armed slow_path
: >/run/still
readers
before=$(stalled)
check "requests reclaim" wait_for 120 grown $((before + 20)) stalled
before=$(stalled) looked=0
for _round in $(seq 200); do
	cat /proc/[0-9]*/stack >/run/stacks 2>/dev/null
	looked=$((looked + $(grep -c __alloc_pages_slowpath /run/stacks)))
	[ "$_round" -lt 40 ] || [ "$looked" -eq 0 ] || break
done
note "stalls meanwhile $(($(stalled) - before)), stacks in the slow path $looked"
check "stacks in the slow path were unwound" test "$looked" -gt 0
check "a livepatch comes meanwhile" write_to "$LMM_DBG/zonelock/enabled" 1
rm /run/still
wait 2>/dev/null
need write_to "$LMM_DBG/zonelock/enabled" 0
need write_to "$LMM_DBG/pageblock/enabled" 0
none_armed
need umount /run/ext4
check "unloads" lmm_unload
