# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12
# nodes: 2
# memory: 512M
# args: transparent_hugepage=never
#
# Node 0 has much free memory, all of it in half-used movable blocks. Page tables that a CPU of node
# 0 asks for come from node 0, as without the policy. Those of a process that is bound to node 0
# cost no more direct reclaim than without the policy. (Without the policy 7.2 takes 0 to 1,025
# pages from node 1, from run to run, so one run on 7.2 shows nothing.)
. "$LMM_ROOT/tests/scenarios/lib.sh"

PB=$LMM_DBG/pageblock
node=/sys/devices/system/node/node0
# Pages that were wanted of node 0 and came from another.
foreign() { awk '$1 == "numa_foreign" { print $2 }' $node/numastat; }
# MiB that are free on node 0.
free_mib() { awk '$3 == "MemFree:" { print int($4 / 1024) }' $node/meminfo; }
direct() { vmstat allocstall_dma allocstall_dma32 allocstall_normal allocstall_movable; }
storm_gone() { ! lives pagetables; }
counts() { echo "$(foreign) $(direct) $(vmstat pgscan_direct)"; }

# storm [NODE]: what 15,000 page tables cost: pages of the other node, direct reclaims, and pages
# scanned in them.
storm() {
	: >/run/held
	_before=$(counts)
	taskset -c 0 "$LMM_ROOT/build/programs/pagetables" 15000 "$@" >/run/held &
	wait_for 120 grep -q held /run/held || fail "the storm ends"
	echo "$_before $(counts)" | awk '{ print $4 - $1, $5 - $2, $6 - $3 }'
	pkill pagetables
	wait_for 60 storm_gone
}

# round NAME [NODE]: a storm; what is free before it is free a page here and a page there.
round() {
	_name=$1
	shift
	echo 3 >/proc/sys/vm/drop_caches
	hog_hold $(($(free_mib) - 12)) taskset -c 0 sh -c 'exec "$@" -s' sh
	_free=$(free_mib)
	storm_said=$(storm "$@")
	note "$_name: $_free MiB free; other node, direct reclaims, scanned: $storm_said"
	hog_end
}
refusals() { counter refused pageblock; }
# word N WORDS...: the Nth of the words after N.
word() { shift "$1"; echo "$1"; }

# Programs of our own run where they do not disturb.
taskset -pc 1 $$ >/dev/null
need write_to /proc/sys/vm/compaction_proactiveness 0
pages_before pageblock
round "off, any node"
any_off=$storm_said
round "off, node 0 alone" 0
bound_off=$storm_said
# What is mixed or missing is left so: the filter is to be seen alone.
need write_to "$PB/config" "enabled=1 move_pages_per_s=0"
round "on, any node"
any=$storm_said
kept=$(counter allowed_node pageblock)
round "on, node 0 alone" 0
bound=$storm_said
note "$(grep -vw 0 "$PB/counters" | tr '\n' ' ')"
# shellcheck disable=SC2086 # words
{
	check "there were searches" grown 0 counter searches pageblock
	check "the node was the reason to allow some" test "$kept" -gt 0
	check "others were refused" test "$(refusals)" -gt 0
	check "no more pages come from the other node" \
		test "$(word 1 $any)" -le "$(word 1 $any_off)"
	check "no more direct reclaims" test "$(word 2 $any)" -le "$(word 2 $any_off)"
	check "no more of a process bound to the node" \
		test "$(word 2 $bound)" -le "$(word 2 $bound_off)"
	check "nor pages scanned" test "$(word 3 $bound)" -le "$(word 3 $bound_off)"
}
need write_to "$PB/config" "enabled=0 move_pages_per_s=1450"
all_back
