# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# named: debug
# memory: 1G
# timeout: 1800
# args: cma=512M nokaslr
# allow: \bCall Trace:
#
# Regular memory is full of movable pages, then an owner gives its CMA memory back, and then page
# tables are wanted, which may not lie in CMA memory. A kernel on its own kills, or swaps, with
# hundreds of MiB free. With the policy, movable pages go to CMA memory, nobody is killed, and the
# owner still gets its memory. (The OOM killer prints a call trace each time. With a kernel at a
# random place, there may be no 512 MiB in one piece.)
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

thp=/sys/kernel/mm/transparent_hugepage/enabled
# What is left of regular memory, and how much more than that page tables take, in MiB.
spare=40 more=45

swapped() { echo $(($(vmstat pswpout) + $(vmstat pswpin))); }

# squeeze NAME: the whole story once; sets kills and swaps
squeeze() {
	echo 3 >/proc/sys/vm/drop_caches
	take_pieces 15
	check "$1: the owner has its memory: $pieces of 15 pieces" test "$pieces" -ge 12
	victim_start $(($(regular_free) - spare))
	hog_settled
	_free=$(regular_free) huge=$(($(meminfo AnonHugePages) / 1024))
	check "$1: regular memory is full but for $_free MiB, $spare by plan" \
		test "$_free" -le $((spare + 40))
	give_pieces
	_free=$(regular_free) _cma=$(($(meminfo CmaFree) / 1024))
	_tables=$((_free + more))
	kills=$(vmstat oom_kill) swaps=$(swapped) compacted=$(vmstat pgmigrate_success)
	tables_want "$_tables"
	check "$1: page tables are there, or somebody is not" wait_for 300 tables_answered
	kills=$(($(vmstat oom_kill) - kills)) swaps=$(($(swapped) - swaps))
	compacted=$(($(vmstat pgmigrate_success) - compacted))
	note "$1: $_free MiB of regular and $_cma MiB of CMA memory free, $_tables MiB of page tables wanted: $kills killed, $swaps pages swapped in and out, $compacted migrated"
}
unsqueeze() {
	kill "$wanting" 2>/dev/null
	wait "$wanting" 2>/dev/null
	hog_end
}

flip() {
	flips=0
	echo 0 >/run/flips
	while [ ! -e /run/still ] && write_to "$policy/enabled" 0 && write_to "$policy/enabled" 1; do
		flips=$((flips + 1))
		echo "$flips" >/run/flips
		# The worker needs a part of a busy host to have moved anything.
		wait_for 10 grown "$(counter balanced cma)" counter balanced cma
	done
}
# The policy goes off and on while pages move, and while the OOM killer may wait.
the_end() {
	moved=$(counter balanced cma)
	flip &
	flipper=$!
	squeeze "flipping"
	# On a busy host that may be over before the switch was thrown so often.
	check "went off and on three times" wait_for 300 grown 2 cat /run/flips
	touch /run/still
	wait "$flipper"
	note "went off and on $(cat /run/flips) times"
	moved=$(($(counter balanced cma) - moved))
	check "meanwhile $moved pages were moved" test "$moved" -gt 0
	check "switches off after moves" write_to "$policy/enabled" 0
	none_armed
	unsqueeze
	take_pieces 15
	check "the owner can have its memory" test "$pieces" -ge 12
	give_pieces
	need rmmod lmm_owner
	all_back
}

need lmm_load
need modprobe lmm_owner
pages_before cma
need write_to /proc/sys/vm/oom_dump_tasks 0
need write_to $thp never
same "supported" "$(cat "$policy/supported")" yes

squeeze "stock"
unsqueeze
check "stock: somebody is killed" test "$kills" -ge 1

need write_to "$policy/enabled" 1
hooks_armed cma_start cma_busy cma_finish cma_release wake_kswapd
check "status says so" tells status '^cma +on +keep .*; pages are moved to CMA memory$'
check "so does state" tells cma/state '^movement: node 0 [A-Z0-9]+: room -?[0-9]+ of [1-9][0-9]* pages'
squeeze "moving"
same "moving: nobody is killed" "$kills" 0
check "moving: the tables are there" grep -q held /run/tables
check "moving: pages were moved" test "$(counter balanced cma)" -gt 1000
failed=$(counter failures cma)
migrated=$(migrated_for reserved 8192)
check "moving: the owner gets what it had: $migrated pages migrated" test "${migrated:-9999}" -lt 2048
take_pieces 4
same "moving: and more" "$pieces $(counter failures cma)" "4 $failed"
give_pieces
note "counters: $(tr '\n' ' ' <"$policy/counters")"
unsqueeze

# Nothing is due: the worker moves nothing.
moved=$(counter balanced cma)
sleep 3
same "with room, no page is moved" "$(counter balanced cma)" "$moved"

if [ "$LMM_DEBUG" = 1 ]; then
	# 6.1 moves no huge page as a whole, and this build of it has no swap in memory.
	the_end
	exit 0
fi

# Huge pages are moved as a whole, mostly in time: a kill is noted, and fails nothing.  For their
# sake the kernel raises its watermarks, for good.
least=$(cat /proc/sys/vm/min_free_kbytes)
need write_to $thp always
hog_options=-t
squeeze "huge pages"
hog_options=
check "huge pages: $huge MiB of the process are" test "$huge" -gt 100
check "huge pages: were moved" test "$(counter balanced cma)" -gt $((moved + 1000))
unsqueeze
need write_to $thp never
need write_to /proc/sys/vm/min_free_kbytes "$least"

# Swap in memory: what it holds compresses well.
need modprobe zram
need write_to /sys/block/zram0/disksize 512M
need mkswap -q /dev/zram0
need swapon /dev/zram0
need write_to "$policy/enabled" 0
none_armed
squeeze "stock, with swap"
unsqueeze
without=$swaps
check "stock, with swap: pages were swapped" test "$without" -gt 1000
need write_to "$policy/enabled" 1
# On a busy host kswapd may swap before the worker has its turn.
for _try in 1 2 3; do
	squeeze "moving, with swap"
	unsqueeze
	[ "$kills" -eq 0 ] || break
	[ "$swaps" -gt $((without / 2)) ] || break
done
same "with swap: nobody is killed" "$kills" 0
check "with swap: $without pages were swapped, $swaps with the policy" \
	test "$swaps" -le $((without / 2))
need swapoff /dev/zram0
need rmmod zram

the_end
