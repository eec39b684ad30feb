# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# guest: shared
# named: 6.12 7.2
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never
#
# The kernel takes broken pages out of depots, and gets each page back.  No page that is marked
# leaves a depot for a user.  lmm_oracle.ko tells which pages are in depots: free pages that are on
# no list of the kernel.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"

oracle=/sys/module/lmm_oracle/parameters
inject=/sys/kernel/debug/hwpoison
soft=/sys/devices/system/memory/soft_offline_page

seen() { awk -v name="$1" '$1 == name { print $2 }' $oracle/check; }
# The words that come before tails must read 0.
misplaced() { awk '$1 == "tails" { exit } $2 { print }' $oracle/check; }
all_placed() { gives "" misplaced; }
# A page in a depot, the NUMBERth that the oracle has noted.
depot_page() { cat $oracle/check >/dev/null && sed -n "$1p" $oracle/where; }
marked() {
	[ $(($(dd if=/proc/kpageflags bs=8 skip="$1" count=1 2>/dev/null | od -An -tu8) >> 19 & 1)) = 1 ]
}

# broken NAME FILE UNIT NUMBER: by writing to FILE, which counts in UNIT bytes, a page of a depot
# breaks; the page comes back.
broken() {
	check "$1: the depot holds pages" stock
	_had=$(seen poisoned) _back=$(counter returned_drain zonelock)
	# Last: a process of this script may take the page.
	_pfn=$(depot_page "$4")
	need test -n "$_pfn"
	check "$1: the kernel takes the page" write_to "$2" $((_pfn * 4096 / $3))
	check "$1: the depot has given pages back" grown "$_back" counter returned_drain zonelock
	check "$1: the page is marked" marked "$_pfn"
	same "$1: one page more is kept from use" "$(seen poisoned)" $((_had + 1))
	check "$1: the page is given back" write_to $inject/unpoison-pfn "$_pfn"
	refute "$1: and no longer marked" marked "$_pfn"
	same "$1: as many pages are kept from use as before" "$(seen poisoned)" "$_had"
}

closed_for_good() { grep -q ' broken$' "$zonelock/state"; }

# fails NUMBER: a page of a depot fails; the zone's depot stays empty until zonelock goes off.
fails() {
	broken "page $1 fails" $inject/corrupt-pfn 4096 "$1"
	check "page $1 failed: the depot is closed" closed_for_good
	_stored=$(counter stored_pages zonelock) _taken=$(counter taken_pages zonelock)
	hog_hold 64 taskset -c 0
	hog_end
	sleep 0.5
	hog_hold 64 taskset -c 1
	hog_end
	check "page $1 failed: and stays so" closed_for_good
	same "page $1 failed: nothing is stored" "$(counter stored_pages zonelock)" "$_stored"
	same "page $1 failed: nothing is taken" "$(counter taken_pages zonelock)" "$_taken"
	need write_to "$zonelock/enabled" 0
	need write_to "$zonelock/enabled" 1
}

need insmod "$LMM_MODDIR/lmm_oracle.ko"
need modprobe hwpoison-inject
need lmm_load
need write_to "$zonelock/config" "enabled=1 max_age_ms=60000"
for number in 1 200; do
	broken "page $number moves off" $soft 1 $number
	fails $number
done
check "switched off, zonelock takes nothing more" write_to "$zonelock/enabled" 0
same "all that was stored was taken or went back" "$(unaccounted)" 0
check "every page is in its place" wait_for 20 all_placed
need rmmod lmm_oracle hwpoison_inject
check "unloads" lmm_unload
