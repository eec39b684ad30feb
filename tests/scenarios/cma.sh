# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
# memory: 1G
# timeout: 1200
# args: cma=256M transparent_hugepage=never
#
# Memory reserved for CMA is lent in proportion to the free pages that are left in the reserve.
# Meanwhile the owner gets its memory, and released memory is kept for the owner.
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
need write_to "$policy/mode" cma_first
first=$(cma_pct_of 64)
check "cma_first: $first %" test "$first" -ge 90
# Where CMA memory ends, regular memory fills a refill up, and no refill after refill asks in vain.
asked=$(counter lend_first cma) none=$(counter lent_none cma)
fill all 290
asked=$(($(counter lend_first cma) - asked)) none=$(($(counter lent_none cma) - none))
note "290 MiB: $asked refills from CMA memory, $none of them in vain, topped up by $(counter topped_up_pages cma) pages"
check "the last refill from CMA memory is topped up" test "$(counter topped_up_pages cma)" -gt 0
check "few refills are in vain: $none" test "$none" -le 10
rm /mnt/all
need write_to "$policy/mode" regular_first
regular=$(cma_pct_of 64)
check "regular_first: $regular %" test "$regular" -le 5
note "percent from CMA memory: stock $stock, ratio $ratio, cma_first $first, regular_first $regular"

need write_to "$policy/mode" cma_first
need write_to "$event/enable" 1
fill some 4
need write_to "$event/enable" 0
rm /mnt/some
check "the tracepoint carries the decision with its inputs" grep -Eq \
	"cma_refill: nid=0 zone=[0-9]+ order=0 free=[0-9]+ free_cma=[1-9][0-9]* .* cma_blocks=[1-9][0-9]* regular=0 share=0 verdict=1$" \
	/sys/kernel/tracing/trace

# Before a long-term pin the kernel moves each page out of CMA memory.  Once a process has pinned
# memory, its refills come from regular memory; what a pin faults in is no CMA memory anyway.
need insmod "$LMM_MODDIR/lmm_pins.ko"
pins=$(counter regular_pins cma)
# shellcheck disable=SC2046 # three numbers
set -- $("$LMM_ROOT/build/programs/pinpages" 16)
note "pages migrated for pins of 4096: touched before the first pin $1, touched later $2, not touched $3"
check "before the first pin, the process had CMA memory" test "${1:-0}" -gt 3000
check "then refills came from regular memory" test "$(counter regular_pins cma)" -gt "$pins"
check "so less is migrated for the next pin: $2 pages" test "${2:-9999}" -lt 1024
check "nothing for pages that the pin faults in" test "${3:-9999}" -lt 64
need rmmod lmm_pins

# A cap, and what is above it all the same once regular memory has nothing left.
need write_to "$policy/config" "mode=cma_first cap_pct=25"
fill cap 128
used=$((100 - $(meminfo CmaFree) * 100 / 262144))
check "a quarter may be in use: $used % are" near "$used" 25 3
check "the rest is regular memory's, which is counted" test "$(counter regular_cap cma)" -gt 0
rm /mnt/cap

# Regular memory is at its high watermark, though not at the low one that wakes kswapd: CMA
# memory only, whose pages would not help it.
need write_to "$policy/config" "mode=regular_first cap_pct=100"
factor=$(cat /proc/sys/vm/watermark_scale_factor)
fill regular $(((($(meminfo MemFree) - $(meminfo CmaFree)) / 1024) - 120))
need write_to /proc/sys/vm/watermark_scale_factor 1000
need write_to "$policy/mode" ratio
same "regular memory is at its watermark" "$(next_refill 0)" "lends: pressure"
note "room above the watermark: $(zone 7) pages"
scanned=$(vmstat pgscan_kswapd)
under=$(cma_pct_of 64)
check "then all comes from CMA memory: $under %" test "$under" -ge 90
same "and kswapd looks for nothing" "$(vmstat pgscan_kswapd)" "$scanned"
check "which is counted" test "$(counter lend_pressure cma)" -gt 0
need write_to /proc/sys/vm/watermark_scale_factor "$factor"
rm /mnt/regular

# The owner's side: it gets what was lent, and the next time there is nothing to be moved.
need write_to "$policy/config" "mode=cma_first keep_ms=0"
fill lent 254
lent=$(migrated_for reserved 2048)
check "what was lent is moved for its owner: $lent pages" test "$lent" -gt 1000
fill again 8
rm /mnt/again
fill again 8
again=$(migrated_for reserved 2048)
need write_to "$policy/keep_ms" 60000
migrated_for reserved 2048 >/dev/null
rm /mnt/lent /mnt/again
check "what it has released is kept" wait_for 10 grown 2047 area reserved 5
fill lent 240
kept=$(migrated_for reserved 2048)
note "pages migrated for 8 MiB: first $lent, lent again $again, kept $kept; counters: $(tr '\n' ' ' <"$policy/counters")"
# A pageblock of 512 pages at either end may be lent before larger free blocks are.
check "kept, less is moved for it: $kept pages" test "$kept" -le 1024 -a "$kept" -lt "$again"
same "each was counted" "$(counter allocs cma) $(area reserved 6)" "4 4"
check "and with them their pages" test "$(counter alloc_pages cma)" -eq $((4 * 2048))
rm /mnt/lent
need write_to "$policy/keep_ms" 0
wait_for 5 gives 0 area reserved 5
same "a write forgets it" "$(area reserved 5)" 0

# Pages that somebody holds cannot be moved: the next range is tried, or none is got.
need write_to "$policy/config" "mode=cma_first keep_ms=60000"
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
same "no owner is at it any more" "$(next_refill 0)" "lends: mode"

# Another livepatch lies on top of the wrapper that answers when CMA memory is used up.  The
# policy stands by, while pages are wanted all the time, and comes back when theirs has gone.
while :; do
	fill wanted 200
	rm -f /mnt/wanted
done &
wanting=$!
check "lending goes on" wait_for 20 grown "$(counter lent_pages cma)" counter lent_pages cma
need foreign_load function=find_suitable_fallback
check "cma stands by and says why" wait_for 20 tells status \
	"^cma +standby .*livepatch lmm_foreign holds find_suitable_fallback"
same "no hook of cma is armed meanwhile" "$(armed)" ""
lent=$(counter lent_pages cma)
sleep 3
same "nothing is lent" "$(counter lent_pages cma)" "$lent"
same "theirs was never asked what ours answers" "$(foreign_number unanswerable)" 0
need foreign_unload
check "cma is on when theirs has gone" wait_for 20 policy_is cma on
check "lending goes on when theirs has gone" wait_for 20 grown "$lent" counter lent_pages cma
kill "$wanting"
wait "$wanting" 2>/dev/null
rm -f /mnt/wanted

check "switching off" write_to "$policy/enabled" 0
none_armed
check "stock again: all of the area is to be had" wait_for 20 take reserved 65536
give reserved 65536
all_back
