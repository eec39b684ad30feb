# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by scenarios that count pages which cross zone->lock, after lib.sh.
#
#   hits                     pages that have crossed
#   crossings OPTION...      of the page-touch load with these options, for 1000 faults
#   send N                   send N times 64 KiB, 16 pages each, by a pipe from CPU 0 to CPU 1
#   sent N                   send, and print the pages that have crossed for 1000 pages sent

_crossing="kmem/mm_page_alloc_zone_locked kmem/mm_page_pcpu_drain"
tracing=/sys/kernel/tracing/events

echo never >/sys/kernel/mm/transparent_hugepage/enabled
# A scenario before this one, in the same guest, may have set the triggers.
for event in $_crossing; do
	grep -q ^hist: "$tracing/$event/trigger" ||
		need write_to "$tracing/$event/trigger" "hist:keys=common_type"
done

hits() {
	for event in $_crossing; do
		cat "$tracing/$event/hist"
	done | awk '$1 == "Hits:" { sum += $2 } END { print sum + 0 }'
}

crossings() {
	_hits=$(hits) _faults=$(vmstat pgfault)
	"$LMM_ROOT/build/bench/pagetouch" "$@" >/dev/null || return
	echo $((($(hits) - _hits) * 1000 / ($(vmstat pgfault) - _faults)))
}

send() {
	taskset -c 0 dd if=/dev/zero bs=64k count="$1" 2>/dev/null |
		taskset -c 1 dd of=/dev/null bs=64k 2>/dev/null
}

sent() {
	_hits=$(hits)
	send "$1"
	echo $((($(hits) - _hits) * 1000 / ($1 * 16)))
}
