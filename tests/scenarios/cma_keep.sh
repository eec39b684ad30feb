# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# memory: 1G
# args: cma=256M transparent_hugepage=never
#
# A kernel with CMA whose refills cannot be hooked. The policy refuses in words to lend by a rule
# of its own. The policy still keeps released memory for the owner, counts allocations, and empties
# the range that an owner is about to ask for.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

need lmm_load
need modprobe lmm_owner
# kcompactd's pages would count as the owner's.
need write_to /proc/sys/vm/compaction_proactiveness 0
same "supported" "$(cat "$policy/supported")" yes
for mode in cma_first ratio regular_first; do
	refuses "$policy/config" "enabled=1 mode=$mode" "Operation not supported" \
		"cma/mode: $mode: refills of the lists cannot be hooked on this kernel; mode=keep does without"
done
check "mode keep" write_to "$policy/config" "enabled=1 mode=keep keep_ms=0 move_pages_per_s=0"
refuses "$policy/mode" ratio "Operation not supported" "cma/mode: ratio: refills"
same "and stays" "$(cat "$policy/mode")" keep
refute "no livepatch for it" any_klp_loaded
hooks_armed cma_start cma_busy cma_finish cma_release buffer wake_kswapd
check "status says where refills come from" \
	tells status '^cma +on +keep +refills come from where the kernel takes them; no page is moved to CMA memory$'
name=$(awk 'NR == 2 { print $1 }' "$policy/state")
check "the area is known" grep -Eq "^$name +0 +[A-Z]+[A-Z0-9]* +65536 " "$policy/state"

# The kernel lends what is over half of the free memory; so much of that is left.
fill_until() {
	_part=0
	while [ "$(meminfo CmaFree)" -gt $(($1 * 1024)) ] && [ "$_part" -lt 60 ]; do
		fill "part$_part" 16
		_part=$((_part + 1))
	done
}

# Until an owner is heard of, a 32nd of the area is kept where the kernel's search begins, for
# however long that takes.  Another owner's release, while the policy is off, has put this part in
# front of the kernel's lists.
first_request() {
	need write_to "$policy/enabled" 0
	need take reserved 2048
	need give reserved 2048
	# Whole blocks, out of the lists of CPUs.
	need write_to /proc/sys/vm/compact_memory 1
	need write_to "$policy/config" "enabled=1 keep_ms=$1"
	sleep 1
	kept=$(area "$name" 5)
	fill_until 24
	migrated=$(migrated_for reserved 2048)
	rm /mnt/part*
}
first_request 0
same "with keep_ms=0 nothing is kept for a first request" "$kept" 0
check "and much of its range is lent: $migrated pages" test "$migrated" -gt 1000
lent=$migrated
first_request 300
check "else a part of the area is kept, for longer than keep_ms: $kept pages" test "$kept" -gt 1000
# The area need not begin at a boundary of the largest blocks, and smaller ones are lent first: up
# to 512 pages at either end.
check "and less of that is lent: $migrated pages" test "$migrated" -le 1024 -a "$migrated" -lt "$lent"
check "an owner is heard of, so after keep_ms nothing is kept" wait_for 20 gives 0 area "$name" 5

need write_to "$policy/keep_ms" 0
migrated_for reserved 8192 >/dev/null
fill_until 48
lent=$(migrated_for reserved 8192)
check "what was lent is moved for its owner: $lent pages" test "$lent" -gt 2000
rm /mnt/part*
need write_to "$policy/keep_ms" 60000
migrated_for reserved 8192 >/dev/null
check "what it has released is kept" wait_for 10 grown 8191 area "$name" 5
check "knobs that have nothing to do with it are written" \
	write_to "$policy/config" "cap_pct=90 regular_free_pct=5 buffers=0"
same "and it is kept on" "$(area "$name" 5)" 8192
need write_to "$policy/keep_max_pct" 10
check "with a lower limit, its first part is: $(area "$name" 5) pages" test "$(area "$name" 5)" -le 6553
need write_to "$policy/keep_max_pct" 25
migrated_for reserved 8192 >/dev/null
check "released again, all of it is" wait_for 10 grown 8191 area "$name" 5
fill_until 48
kept=$(migrated_for reserved 8192)
note "pages migrated for 32 MiB: $lent, kept $kept; counters: $(tr '\n' ' ' <"$policy/counters")"
# A block or two are lent before the rest of the range is behind all others.
check "kept, less is moved for it: $kept pages" test "$kept" -lt $((lent / 2))
same "each was counted" "$(counter allocs cma) $(area "$name" 6)" "7 6"
refute "more than there is" take reserved 70000
same "is a failure" "$(counter failures cma) $(area "$name" 8)" "1 1"
rm /mnt/part*

# An owner with a rhythm: what was lent of its range leaves before the owner asks.  Each round lends
# half of the range at least, then makes room in regular memory: the first parts of what fills
# memory lie there.
lend() {
	_again=0
	while [ "$(meminfo CmaFree)" -gt 16384 ] && [ $_again -lt 60 ]; do
		fill "again$_again" 8
		_again=$((_again + 1))
	done
	rm "/mnt/part$1"
}

# Free blocks that nobody can have.
isolated() { awk '/type +Isolate/ { for (i = 7; i <= NF; i++) sum += $i } END { print sum + 0 }' /proc/pagetypeinfo; }

ask() {
	migrated_for reserved 8192
	rm -f /mnt/again*
}

# Pages were moved ahead, and no more are.
moved_ahead() {
	_before=$(counter ahead cma)
	sleep 2
	[ "$_before" -gt $((ahead + 1000)) ] && [ "$(counter ahead cma)" = "$_before" ]
}

need write_to "$policy/enabled" 0
fill_until 24
need write_to "$policy/config" "enabled=1 move_pages_per_s=500 regular_free_pct=0"
migrated_for reserved 8192 >/dev/null
retried=$(counter retries cma)
# Nobody knows when the owner asks again.
need wait_for 20 grown 0 counter ahead_held cma
check "the first range is held for a second" wait_for 20 grown 0 counter ahead_unasked cma
# The gap is learned with the first request: longer than a busy host may take to lend.  The second
# request waits until the pages have left.
lend 0
sleep 40
unknown=$(ask)
ahead=$(counter ahead cma)
lend 1
check "pages leave ahead of the owner" wait_for 20 moved_ahead
expected=$(ask)
note "pages migrated for 32 MiB: of a request that is not expected $unknown, expected $expected; moved ahead $(($(counter ahead cma) - ahead)), no room $(counter ahead_no_room cma), early $(counter ahead_early cma), held $(counter ahead_held cma)"
check "much is lent of a kept range: $unknown pages" test "$unknown" -gt 1000
check "and it waits for fewer: $expected pages" test "$expected" -lt $((unknown / 2))
same "and gets the first range" "$(counter retries cma)" "$retried"
rm /mnt/part*

# A range is held before each request; if no owner asks, not for long.
sleep 1
migrated_for reserved 8192 >/dev/null
unasked=$(counter ahead_unasked cma)
held=$(counter ahead_held cma)
# After a short gap, which counts at once. The worker has 20 ms to begin a hold, and may come late
# on a busy host: the owner then asks again.
for _try in 1 2 3 4 5 6 7 8; do
	migrated_for reserved 8192 >/dev/null
	! wait_for 3 grown "$held" counter ahead_held cma || break
done
check "the range is held before the next request" grown "$held" counter ahead_held cma
check "and not for long" wait_for 20 grown "$unasked" counter ahead_unasked cma
check "then nothing is held" wait_for 20 gives 0 isolated
# Held again, and the policy goes off.
held=$(counter ahead_held cma)
for _try in 1 2 3 4 5 6 7 8; do
	migrated_for reserved 8192 >/dev/null
	sleep 1
	migrated_for reserved 8192 >/dev/null
	! wait_for 3 grown "$held" counter ahead_held cma || break
done
check "held again" grown "$held" counter ahead_held cma
check "switches off" write_to "$policy/enabled" 0
same "and holds nothing" "$(isolated)" 0

# A held range is in no owner's way while the policy goes off, which takes some time until the hooks
# are disarmed. An owner wants all that there is, for which there is but one range: the kernel's own
# pool has a few pages of the area.
all=65536
until take reserved "$all"; do
	all=$((all - 32))
	need test "$all" -gt 60000
done
need give reserved "$all"
note "the owner can have $all of 65536 pages"
off() { write_to "$policy/enabled" 0 && : >/run/off; }
holds() { [ "$(isolated)" -gt 0 ]; }
asked=0 refused=0 held=0
for round in 1 2 3 4; do
	need write_to "$policy/enabled" 1
	# Nothing is held for a second after the policy went off.
	sleep 1.5
	take reserved 8192 && give reserved 8192
	for _ in 1 2 3 4 5 6 7 8; do
		! holds || break
	done
	rm -f /run/off
	! holds || held=$((held + 1))
	off &
	# The policy hears of nobody any more.
	until [ "$(cat "$policy/enabled")" = 0 ]; do :; done
	until [ -e /run/off ]; do
		asked=$((asked + 1))
		take reserved "$all" && give reserved "$all" || refused=$((refused + 1))
	done
	wait $!
done
check "a range was held when the policy went off: $held times of $round" test "$held" -ge 2
check "and an owner asked meanwhile: $asked times" test "$asked" -ge 4
same "an owner who wants all of the area is refused nothing, $asked times asked" "$refused" 0
need rmmod lmm_owner
check "unloads" lmm_unload
