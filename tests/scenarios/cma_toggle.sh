# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
# memory: 1G
# timeout: 1800
# args: cma=256M
#
# The policy goes on and off and changes its mode while memory is lent (huge pages included), the
# owner takes memory, and zonelock and pcp work on the same lists. The owner always gets its
# memory, and every page is accounted for.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

rounds=$(soaked 5 12)

# Files in memory that come and go, the larger part of the area at a time, and a process.
lend_loop() {
	while :; do
		timeout 2 "$LMM_ROOT/build/programs/holdpages" 64 1 >/dev/null
		for _file in a b c d; do
			fill "$_file" 40 || return
		done
		rm -f /mnt/[abcd]
	done
}

# The owner, as fast as it can; a line for each time it got nothing.
owner_loop() {
	while :; do
		take reserved 1024 || echo "1024 pages not got"
		take reserved 300 || echo "300 pages not got"
		give reserved 1324
	done
}

# What the owner gives back goes to the lists of its CPU first, and pages on lists do not count as
# free.  Huge pages have raised the bound of the lists to 3,520 pages, and nothing empties lists
# with time; an allocation of the owner does.
area_free() {
	take reserved 1 && give reserved 1
	echo 3 >/proc/sys/vm/drop_caches
	[ "$(meminfo CmaFree)" -ge $((free - 2048)) ]
}

pages_before cma
free=$(meminfo CmaFree)

need write_to "$LMM_PARAMS/policies" "zonelock:enabled=1;pcp:enabled=1"
huge=$(vmstat thp_fault_alloc)
# The kernel leaves that off on a machine this small.
need write_to /sys/kernel/mm/transparent_hugepage/enabled always
lend_loop &
lender=$!
owner_loop >/run/refused 2>&1 &
owner=$!
for round in $(seq "$rounds"); do
	for mode in ratio keep ratio; do
		need write_to "$policy/config" "enabled=1 mode=$mode keep_ms=$((round % 3 * 200))"
		[ "$round" != 1 ] || wait_for 60 grown 0 counter lent_pages cma
		sleep 0.2
	done
	need write_to "$policy/enabled" 0
done
note "switched $round times while both are at it"
need write_to "$policy/config" "enabled=1 mode=ratio"
# On a busy host all switches may be over before the first huge page comes.  A process that comes
# once has 32, less one.
check "huge pages were there" wait_for 120 grown $((huge + 30)) vmstat thp_fault_alloc
check "pages were lent" wait_for 120 grown 10000 counter lent_pages cma
check "the owner got its own" wait_for 120 grown 10 counter allocs cma
need write_to "$policy/enabled" 0
need write_to "$LMM_PARAMS/policies" "zonelock:enabled=0;pcp:enabled=0"
# In the middle of an allocation too, or not: it is killed where it is.
kill "$owner" "$lender"
pkill holdpages
wait "$owner" "$lender" 2>/dev/null
rm -f /mnt/[abcd]
note "$(tr '\n' ' ' <"$policy/counters")"
note "of the owner's allocations $(wc -l </run/refused) got nothing: $(sort /run/refused | uniq -c | tr '\n' ' ')"
check "the depot was used" grown 0 counter stored_pages zonelock
check "from both kinds of memory" test "$(counter regular_pages cma)" -gt 0
check "all but now and then" \
	test "$(wc -l </run/refused)" -le $(($(counter allocs cma) / 20 + 1))
none_armed
need give reserved 65536
# Pages that live tasks map may lie in the area.  The owner moves them out and leaves all free.
check "the owner can have all of it" wait_for 20 take reserved 65536
give reserved 65536
check "every page of the area is free again" wait_for 60 area_free
all_back
