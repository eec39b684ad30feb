# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 7.2
# memory: 1G
# timeout: 1800
# args: cma=512M nokaslr
# allow: \bCall Trace:
#
# Regular memory is full of files, whose memory is in larger folios, an owner gives its CMA memory
# back, and then page tables are wanted, which may not lie in CMA memory. Of a tmpfs without swap,
# nothing can be reclaimed: a kernel on its own kills. Of a file on a disk, a kernel on its own
# drops what has to be read again. With the policy, the folios go to CMA memory.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

# What is left of regular memory, and how much more than that page tables take, in MiB.
spare=40 more=45
sum() { cksum <"$1"; }

# squeeze NAME: page tables are wanted while regular memory is full; sets kills
squeeze() {
	_free=$(regular_free)
	check "$1: regular memory is full but for $_free MiB, $spare by plan" \
		test "$_free" -le $((spare + 40))
	give_pieces
	_free=$(regular_free) _cma=$(($(meminfo CmaFree) / 1024)) _cached=$(meminfo Cached)
	kills=$(vmstat oom_kill)
	tables_want $((_free + more)) 1000
	check "$1: page tables are there, or somebody is not" wait_for 300 tables_answered
	kills=$(($(vmstat oom_kill) - kills)) _dropped=$(((_cached - $(meminfo Cached)) / 4))
	note "$1: $_free MiB of regular and $_cma MiB of CMA memory free, $((_free + more)) MiB of page tables wanted: $kills killed, $_dropped pages dropped, $(vmstat pgmigrate_success) migrated so far"
}
unsqueeze() {
	kill "$wanting" 2>/dev/null
	wait "$wanting" 2>/dev/null
}
begin() {
	echo 3 >/proc/sys/vm/drop_caches
	take_pieces 15
	check "$1: the owner has its memory: $pieces of 15 pieces" test "$pieces" -ge 12
}

# in_tmpfs NAME: a tmpfs in huge pages
in_tmpfs() {
	begin "$1"
	_mib=$(($(regular_free) - spare))
	while [ "$_mib" -gt 0 ]; do
		cat /run/chunk
		_mib=$((_mib - 1))
	done >/mnt/huge
	_huge=$(($(meminfo ShmemHugePages) / 1024))
	check "$1: $_huge MiB are in huge pages" test "$_huge" -ge 200
	_sum=$(sum /mnt/huge)
	squeeze "$1"
	same "$1: the content is as before" "$(sum /mnt/huge)" "$_sum"
}

# on_disk NAME: a file, in folios as large as readahead makes them; sets refaults
on_disk() {
	begin "$1"
	_mib=$(($(regular_free) - spare))
	need truncate -s "${_mib}M" /run/files/holes
	dd if=/run/files/holes of=/dev/null bs=1M 2>/dev/null
	squeeze "$1"
	refaults=$(vmstat workingset_refault_file)
	dd if=/run/files/holes of=/dev/null bs=1M 2>/dev/null
	refaults=$(($(vmstat workingset_refault_file) - refaults))
	note "$1: of $((_mib * 256)) pages of the file, $refaults were read again"
	need rm /run/files/holes
}

need modprobe -a loop ext4
need lmm_load
need modprobe lmm_owner
pages_before cma
need write_to /proc/sys/vm/oom_dump_tasks 0
need mount -o remount,huge=always /mnt
need truncate -s 32M /run/disk
need mkfs.ext4 -q -F -b 4096 /run/disk
need mkdir /run/files
need dd if=/dev/urandom of=/run/chunk bs=1M count=1 status=none
need mount -o loop /run/disk /run/files

in_tmpfs "stock, tmpfs"
unsqueeze
need rm /mnt/huge
check "stock, tmpfs: somebody is killed" test "$kills" -ge 1
on_disk "stock, disk"
unsqueeze
without=$refaults
check "stock, disk: pages were read again" test "$without" -gt 5000

need write_to "$policy/enabled" 1
in_tmpfs "moving, tmpfs"
same "moving, tmpfs: nobody is killed" "$kills" 0
check "moving, tmpfs: the tables are there" grep -q held /run/tables
# What was lent of the owner's memory comes back to the owner.
failed=$(counter failures cma)
take_pieces 4
same "moving, tmpfs: the owner gets its memory" "$pieces $(counter failures cma)" "4 $failed"
give_pieces
unsqueeze
need rm /mnt/huge
# On a busy host kswapd may drop the cache before the worker has its turn.
least=$without
for _try in 1 2 3; do
	on_disk "moving, disk"
	unsqueeze
	[ "$least" -le "$refaults" ] || least=$refaults
	[ "$least" -gt $((without / 2)) ] || break
done
check "moving, disk: $without pages were read again, $least with the policy" \
	test "$least" -le $((without / 2))
note "counters: $(tr '\n' ' ' <"$policy/counters")"

check "switches off after moves" write_to "$policy/enabled" 0
none_armed
need umount /run/files
need rmmod lmm_owner
all_back
