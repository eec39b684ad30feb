# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
# memory: 1G
# timeout: 1200
# args: cma=256M transparent_hugepage=never
#
# Mode ratio: memory reserved for CMA is lent in proportion to the free pages that are left in the
# reserve. Meanwhile the owner gets its memory, and released memory is kept for the owner.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"

event=/sys/kernel/tracing/events/livemm/cma_refill

# Percent of what $1 MiB were filled with that came from CMA memory.
cma_pct_of() {
	_cma=$(meminfo CmaFree)
	_all=$(meminfo MemFree)
	fill some "$1"
	_cma=$((_cma - $(meminfo CmaFree)))
	_all=$((_all - $(meminfo MemFree)))
	rm /mnt/some
	echo $((_cma * 100 / _all))
}

# A column of the zone in `state`: 7 room, 8 share.
zone() { awk -v column="$1" '$8 ~ /%$/ { sub(/%/, "", $8); print $column }' "$policy/state"; }

need lmm_load
same "supported" "$(cat "$policy/supported")" yes
# The first trace makes its buffer, which is to be in both readings, too.
need write_to "$event/enable" 1
need write_to "$event/enable" 0
pages_before cma

stock=$(cma_pct_of 64)
need write_to "$policy/config" "enabled=1 mode=ratio move_pages_per_s=0"
hooks_armed refill fallback cma_start cma_busy cma_finish cma_release buffer wake_kswapd
check "the area is known" grep -Eq '^reserved +0 +[A-Z]+[A-Z0-9]* +65536 ' "$policy/state"
want=$(zone 8)
ratio=$(cma_pct_of 64)
check "ratio: $ratio % of CMA memory, $want % is its share" near "$ratio" "$want" 5
note "percent from CMA memory: stock $stock, ratio $ratio"

need write_to "$event/enable" 1
fill some 4
need write_to "$event/enable" 0
rm /mnt/some
check "the tracepoint carries the decision with its inputs" grep -Eq \
	"cma_refill: nid=0 zone=[0-9]+ pages=[1-9][0-9]* free=[0-9]+ free_cma=[1-9][0-9]* .* share=[1-9][0-9]* source=[12]$" \
	/sys/kernel/tracing/trace

# Regular memory is at its high watermark, though not at the low one that wakes kswapd.
at_mark() {
	need write_to "$policy/mode" keep
	# By the kernel's own rule as much of each kind is left, 120 MiB.
	fill regular $(($(meminfo MemFree) / 1024 - 240))
	need write_to /proc/sys/vm/watermark_scale_factor 1000
	need write_to "$policy/mode" ratio
	check "regular memory is at its watermark: room $(zone 7)" test "$(zone 7)" -le 0
}
off_mark() {
	need write_to /proc/sys/vm/watermark_scale_factor "$factor"
	rm /mnt/regular
}
factor=$(cat /proc/sys/vm/watermark_scale_factor)

# CMA memory only, whose pages would not help it.
at_mark
scanned=$(vmstat pgscan_kswapd)
under=$(cma_pct_of 64)
check "then all comes from CMA memory: $under %" test "$under" -ge 90
same "and kswapd looks for nothing" "$(vmstat pgscan_kswapd)" "$scanned"
off_mark

# The owner's side: it gets what was lent, and the next time there is less to be moved.
at_mark
lend() { fill lent $(($(meminfo CmaFree) / 1024 - $1)); }
need write_to "$policy/keep_ms" 0
lend 2
lent=$(migrated_for reserved 2048)
check "what was lent is moved for its owner: $lent pages" test "$lent" -gt 1000
rm /mnt/lent
need write_to "$policy/keep_ms" 60000
migrated_for reserved 2048 >/dev/null
check "what it has released is kept" wait_for 10 grown 2047 area reserved 5
# All but what is kept.
lend 10
kept=$(migrated_for reserved 2048)
note "pages migrated for 8 MiB: $lent, kept $kept; counters: $(tr '\n' ' ' <"$policy/counters")"
# A pageblock of 512 pages at either end may be lent before larger free blocks are.
check "kept, less is moved for it: $kept pages" test "$kept" -le 1024 -a "$kept" -lt "$lent"
same "each was counted" "$(counter allocs cma) $(area reserved 6)" "3 3"
rm /mnt/lent
off_mark
need write_to "$policy/keep_ms" 0
wait_for 5 gives 0 area reserved 5
same "a write forgets it" "$(area reserved 5)" 0

# Pages that somebody holds cannot be moved: the next range is tried, or none is got.
need write_to "$policy/keep_ms" 60000
"$LMM_ROOT/build/programs/holdpages" 240 120 >/run/held &
holder=$!
check "pages are held" wait_for 60 grep -q held /run/held
refute "all of the area is not to be had" take reserved 65536
check "a failure is counted" test "$(counter failures cma)" -ge 1
check "of this area" test "$(area reserved 8)" -ge 1
# The kernel tries a range at each page, so a smaller piece only takes longer.
refute "nor most of it" take reserved 63488
check "each range that was tried is a retry" test "$(counter retries cma)" -ge 2
check "of this area" test "$(area reserved 7)" -ge 2
refute "more than there is" take reserved 65537
kill "$holder"
wait "$holder" 2>/dev/null
check "let go, it is to be had" wait_for 20 take reserved 8192
give reserved 8192

# Another livepatch lies on top of the wrapper that answers when CMA memory is used up.  The
# policy goes off, while all of CMA memory is wanted all the time, until somebody switches it on.
at_mark
while :; do
	fill wanted 140
	rm -f /mnt/wanted
done &
wanting=$!
check "lending goes on" wait_for 20 grown "$(counter lent_pages cma)" counter lent_pages cma
need foreign_load function=find_suitable_fallback
check "cma is off and says why" wait_for 20 tells status \
	"^cma +(off|unsupported) .*livepatch lmm_foreign holds find_suitable_fallback"
same "no hook of cma is armed meanwhile" "$(armed)" ""
lent=$(counter lent_pages cma)
sleep 3
same "nothing is lent" "$(counter lent_pages cma)" "$lent"
same "theirs was never asked what ours answers" "$(foreign_number unanswerable)" 0
need foreign_unload
check "cma can be switched on when theirs has gone" write_to "$policy/enabled" 1
check "lending goes on when theirs has gone" wait_for 20 grown "$lent" counter lent_pages cma
kill "$wanting"
wait "$wanting" 2>/dev/null
rm -f /mnt/wanted
off_mark

check "switching off" write_to "$policy/enabled" 0
none_armed
check "stock again: all of the area is to be had" wait_for 20 take reserved 65536
give reserved 65536
all_back
