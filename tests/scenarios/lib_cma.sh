# SPDX-License-Identifier: GPL-2.0-only
#
# For scenarios of the cma policy; needs lib.sh.  Areas are those of CMA_DEBUGFS.
#
#   fill FILE MIB            a file of so many MiB in memory that is never reclaimed
#   take AREA PAGES          have pages of an area in one piece
#   give AREA PAGES          release them
#   area AREA COLUMN         a figure of the area in `state`: 5 kept, 6 allocs, 7 retries, 8 failures
#   migrated_for AREA PAGES  pages migrated while the owner has so many in one piece, once
#   take_pieces N            have pieces of 32 MiB of the only area until there are N; sets pieces
#   give_pieces              release them all
#   regular_free             free memory that is not CMA memory, in MiB
#   tables_want MIB [ADJ]    a process $wanting wants so many MiB of page tables; its oom_score_adj
#   tables_answered          has the process them, or was it killed?

# shellcheck disable=SC2034 # used by scenarios
policy=$LMM_DBG/cma

fill() { dd if=/dev/zero of="/mnt/$1" bs=1M count="$2" 2>/dev/null; }
# Where the kernel has no CMA_DEBUGFS, the scenario loads lmm_owner.ko, which has such files.
owner() {
	_areas=/sys/kernel/debug/lmm_owner
	[ -d $_areas ] || _areas=/sys/kernel/debug/cma
	echo "$_areas/$1"
}
take() { write_to "$(owner "$1")/alloc" "$2"; }
give() { write_to "$(owner "$1")/free" "$2"; }
migrated_for() {
	_before=$(vmstat pgmigrate_success)
	take "$1" "$2" || return 1
	_after=$(vmstat pgmigrate_success)
	give "$1" "$2"
	echo $((_after - _before))
}
area() { awk -v name="$1" -v column="$2" '$1 == name && NF == 8 { print $column }' "$policy/state"; }
pieces=0
take_pieces() {
	while [ "$pieces" -lt "$1" ] && take reserved 8192; do
		pieces=$((pieces + 1))
	done
}
give_pieces() {
	while [ "$pieces" -gt 0 ] && give reserved 8192; do
		pieces=$((pieces - 1))
	done
}
regular_free() { echo $((($(meminfo MemFree) - $(meminfo CmaFree)) / 1024)); }
tables_want() {
	# The process empties the file when it begins; until then the last one's answer is there.
	: >/run/tables
	sh -c "echo ${2:-0} >/proc/self/oom_score_adj
		exec $LMM_ROOT/build/programs/pagetables $(($1 * 256))" >/run/tables 2>&1 &
	wanting=$!
}
# A process that was killed is there until somebody waits for the process.
tables_answered() {
	grep -q held /run/tables || ! grep -q '^State:.[^Z]' "/proc/$wanting/status" 2>/dev/null
}

mount -t tmpfs -o size=90% none /mnt
