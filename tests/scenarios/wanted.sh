# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12 debug
# memory: 1G
# timeout: 2400
# args: transparent_hugepage=never cma=64M
#
# While pageblock's worker frees blocks, the kernel wants memory in one piece too: memory goes
# offline, a pool of huge pages grows, and a CMA owner allocates. No request fails that succeeds
# without the worker, and memory is offline about as soon.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

PB=$LMM_DBG/pageblock
rounds=$(soaked 4 12)
[ "$LMM_DEBUG" = 0 ] || rounds=$(soaked 1 4)
pool() { echo "$1" >/proc/sys/vm/nr_hugepages; }

# Half of memory is free, a page here and a page there, and the kernel leaves it so.
break_up() {
	hog_end
	hog_hold $(($(meminfo MemFree) / 1024 - 40)) sh -c 'exec "$@" -s' sh
}

# wishes NAME: sets how often memory went offline, how many huge pages were had, and how
# often the owner had its own.
wishes() {
	offline=0 huge=0 owned=0 slowest=0
	for _round in $(seq "$rounds"); do
		# What the last round made free would be enough, and the worker would make none.
		break_up
		[ "$1" = without ] || need write_to "$PB/config" enabled=1
		_start=$(uptime_ms)
		! memory_goes || offline=$((offline + 1))
		_ms=$(($(uptime_ms) - _start))
		[ "$_ms" -le "$slowest" ] || slowest=$_ms
		pool 56
		huge=$((huge + $(cat /proc/sys/vm/nr_hugepages)))
		# A huge page that takes a free block does not wake a worker that rests; a knob
		# does.
		need write_to "$PB/reserve_blocks" $((256 + _round))
		sleep 1
		pool 0
		if [ -n "$owner" ]; then
			! wait_for 1 take reserved 4096 || owned=$((owned + 1))
			give reserved 4096
		fi
	done
	note "$1: of $rounds times memory went $offline times (the slowest try took $slowest ms), huge pages $huge, CMA $owned times"
}

owner=
[ ! -d /sys/kernel/debug/cma ] || owner=reserved
pages_before pageblock

need write_to /proc/sys/vm/compaction_proactiveness 0
wishes without
offline_without=$offline huge_without=$huge owned_without=$owned slowest_without=$slowest
wishes with
made=$(counter made pageblock)
note "made $made, pages moved $(counter moved pageblock)"
check "the worker was at it" test "$made" -ge "$rounds"
check "memory goes as often" test "$offline" -ge "$offline_without"
check "and that is at all" test "$offline" -gt 0
# A try goes through several parts of memory, and each of those may be the kernel's.
# The host's other work makes a try several times as long as another.
check "and about as soon" test "$slowest" -le $((3 * slowest_without + 30000))
# A block may be on its way from one to the other when it is wanted.
check "as many huge pages are had" test "$huge" -ge $((huge_without - rounds))
[ -z "$owner" ] || check "the owner gets its own as often" test "$owned" -ge "$owned_without"
check "the process that has the memory lives" lives lmm_hog
hog_end
need write_to "$PB/enabled" 0
all_back
