# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 7.2
# memory: 512M
# args: transparent_hugepage=never
# allow: \bCall Trace:
#
# There is no swap and hardly any page cache, so reclaim frees next to nothing. Free memory is in
# half-used movable blocks. Requests for page tables are refused again and again. Refusals raise
# watermarks no further than reclaim may free, and the OOM killer does not act while tens of MiB are
# free.
# (The OOM killer prints a call trace.)
. "$LMM_ROOT/tests/scenarios/lib.sh"

PB=$LMM_DBG/pageblock tracing=/sys/kernel/tracing
free_mib() { echo $(($(zone_pages free) / 256)); }
# Pages that reclaim may free without swap.
cache() { vmstat nr_zone_inactive_file nr_zone_active_file; }
# The highest boost of a zone when kswapd was woken; kswapd takes a boost back within a moment.
boost() {
	awk '$2 == "boost:" && $3 > most { most = $3 } END { print most + 0 }' \
		"$tracing/events/lmm/woken/hist"
}
refusals() { counter refused pageblock; }
# storm NAME TABLES: take page tables; the OOM killer may act before all are there.
storm_says() { grep -q held /run/held; }
storm_over() { storm_says || [ "$(vmstat oom_kill)" -gt "$killed" ]; }
storm() {
	: >/run/held
	"$LMM_ROOT/build/programs/pagetables" "$2" >/run/held &
	check "$1: the storm ends" wait_for 300 storm_over
	note "$1: refused $(($(refusals) - refused)), mixed $(counter mixed pageblock); boost $(boost) at most; free $free MiB, then $(free_mib)"
	check "$1: all page tables are there" storm_says
	same "$1: the OOM killer has not acted" "$(vmstat oom_kill)" "$killed"
}

need write_to /proc/sys/vm/compaction_proactiveness 0
# Watermarks far enough apart: a boost can be 1.5 times the high watermark.
need write_to /proc/sys/vm/min_free_kbytes 16384
pages_before pageblock
need write_to "$PB/config" "enabled=1 move_pages_per_s=0"
need write_to /proc/sys/vm/drop_caches 3
# What is free then is below four times the high watermark, above which requests may mix at once.
hog_hold $(($(free_mib) - 140))
hog=lmm_late
hog_hold $(($(free_mib) - 28)) sh -c 'exec "$@" -s' sh
hog=lmm_hog
need write_to /proc/sys/vm/drop_caches 3
high=$(zone_pages high) free=$(free_mib) reclaimable=$(cache)
note "high watermark $high, reclaimable $reclaimable pages"
killed=$(vmstat oom_kill) refused=$(refusals)
check "tens of MiB are free" test "$free" -gt 50
check "not more than four times the high watermark" test $((free * 256)) -lt $((high * 4))
check "reclaim may free less than a boost can be" test "$reclaimable" -lt "$high"

# The boost follows the four watermarks, with which struct zone begins.
need write_to $tracing/kprobe_events 'p:lmm/woken wakeup_kswapd boost=+32($arg1):u64'
need write_to $tracing/events/lmm/woken/trigger 'hist:keys=boost'
# The blocks that are free, and much of the zone below: no request mixes yet, which raises, too.
storm "refused" 9200
check "requests were refused" grown $((refused + 1000)) refusals
same "none has mixed" "$(counter mixed pageblock)" 0
check "no boost is above what reclaim may free" test "$(boost)" -le $((reclaimable + 512))
# Half of what is free in used blocks.
storm "in used blocks" 5800
check "more were refused" grown $((refused + 4000)) refusals
check "kswapd was woken" grown 0 awk '$1 == "Hits:" { print $2 }' $tracing/events/lmm/woken/hist
check "tens of MiB are still free" test "$(free_mib)" -gt 20

need write_to $tracing/events/lmm/woken/trigger '!hist:keys=boost'
: >$tracing/kprobe_events
pkill pagetables
hog_end
hog=lmm_late
hog_end
need write_to "$PB/config" "enabled=0 move_pages_per_s=1450"
none_armed
all_back
