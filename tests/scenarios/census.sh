# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1 7.2 debug
# memory: 1G
# nodes: 2
# cpus: 2
#
# The census agrees with the kernel's own counters while the guest is idle, and does no harm under
# load while memory goes offline and comes back.
. "$LMM_ROOT/tests/scenarios/lib.sh"

census=$LMM_DBG/pageblock/census

# take FILE: read a census.
take() { census_take "$1"; }

# pages_of COLUMN...: of the last census.
pages_of() { census_pages /run/census "$*" all; }

# zones NAME: a number of /proc/zoneinfo, one that each zone has, summed.
zones() {
	awk -v name="$1" '$1 == name { sum += $2 }
			  $1 == "pages" && $2 == name { sum += $3 }
			  END { print sum + 0 }' /proc/zoneinfo
}

# Blocks by node, zone and type, as the kernel counts them and as we do.
blocks_by_kernel() {
	awk '$1 == "Number" { for (i = 5; i <= NF; i++) type[i] = tolower($i); next }
	     /^Node/ && NF == length(type) + 4 {
		sub(",", "", $2)
		for (i = 5; i <= NF; i++)
			if ($i) print $2, $4, type[i], $i
	     }
	     !NF { split("", type) }' /proc/pagetypeinfo | sort
}

blocks_by_census() {
	awk '/^[0-9]/ && $3 != "all" && $4 { print $1, $2, $3, $4 }' "$1" | sort
}

# Each row adds up.
sums_up() {
	awk '/^[0-9]/ && $4 != $5 + $6 + $7 + $8 || /^[0-9]/ && $9 > $4 { exit 1 }
	     /^[0-9]/ { for (i = 4; i <= 20; i++)
			if ($3 == "all") { if ($i != sum[i]) exit 1; sum[i] = 0 }
			else sum[i] += $i }' "$1"
}

need lmm_load
same "the policy is off" "$(cat "$LMM_DBG/pageblock/enabled")" 0
same "the file is read only" "$(stat -c %a "$census")" 400
# Pages on their way to an LRU list, or waiting for RCU, get there.
sync
sleep 1
need take /run/census
cat /run/census
check "every row adds up" sums_up /run/census
same "seven rows a zone" "$(grep -c '^[0-9]' /run/census)" \
	"$((7 * $(awk '$1 == "present" && $2 { n++ } END { print n + 0 }' /proc/zoneinfo)))"
# A block may be claimed between the two readings: once both must be of one moment.
for _ in $(seq 10); do
	ours=$(blocks_by_census /run/census)
	kernels=$(blocks_by_kernel)
	[ "$ours" != "$kernels" ] || break
	need take /run/census
done
same "blocks of each type, as in pagetypeinfo" "$ours" "$kernels"

# Its own reading needs memory too, and so does reading the kernel's: some pages' margin.
total=$(pages_of free loose movable slab table other)
managed=$(zones managed)
present=$(zones present)
whole=$((total + $(pages_of reserved)))
note "pages not reserved $total, managed $managed; all $whole, present $present"
check "pages that are not reserved are the managed ones" near "$total" "$managed" 64
check "with the reserved ones they are all that are present" test "$whole" -ge "$present"
check "and no more than holes besides" near "$whole" "$present" 1024

# compare NAME COLUMN KERNEL'S MARGIN: a fresh census each, between two readings.
compare() {
	note "$1: census $2, kernel $3"
	check "$1 pages are as the kernel counts them" near "$2" "$3" "$4"
}
need take /run/census
compare free "$(pages_of free)" "$(zones nr_free_pages)" 1024
compare movable "$(pages_of movable)" \
	"$(vmstat nr_zone_active_anon nr_zone_inactive_anon nr_zone_active_file \
		nr_zone_inactive_file nr_zone_unevictable)" 512
# The kernel counts what kmalloc gets from the buddy as slab, though no slab has it.
compare slab "$(pages_of slab)" "$(vmstat nr_slab_reclaimable nr_slab_unreclaimable)" 1024
compare table "$(pages_of table)" "$(vmstat nr_page_table_pages)" 128
listed=$(awk '$1 == "count:" { sum += $2 } END { print sum + 0 }' /proc/zoneinfo)
note "loose: census $(pages_of loose), in lists $listed"
check "pages of lists are loose" test $(($(pages_of loose) + 512)) -ge "$listed"

# A use that is known: 64 MiB of anonymous memory makes so many pages movable.
before=$(pages_of movable)
hog_hold 64
need take /run/census
compare "anonymous" $(($(pages_of movable) - before)) 16384 2048
hog_end
if [ -w /proc/sys/vm/nr_hugepages ]; then
	need take /run/census
	before=$(pages_of movable)
	need write_to /proc/sys/vm/nr_hugepages 16
	need take /run/census
	compare "hugetlb's" $(($(pages_of movable) - before)) \
		$((512 * $(cat /proc/sys/vm/nr_hugepages))) 256
	need write_to /proc/sys/vm/nr_hugepages 0
fi

# Under load, while memory goes and comes; readers never wait for it for long.
: >/run/reader_cut
load_start
reader() {
	while [ ! -e /run/reader_stop ]; do
		cat "$census" >/run/census_load || echo failed >>/run/reader_bad
		grep -q '^# node' /run/census_load || echo empty >>/run/reader_bad
		sums_up /run/census_load || echo wrong >>/run/reader_bad
		echo read >>/run/reader_reads
		! grep -q '^# incomplete' /run/census_load || echo cut >>/run/reader_cut
	done
}
reader &
rounds=0 block=
while [ "$rounds" -lt 3 ] && block=$(memory_offline "$block"); do
	[ -s /run/census_less ] || wait_for 60 take /run/census_less || rm -f /run/census_less
	need write_to "$block/state" online
	rounds=$((rounds + 1))
done
: >/run/reader_stop
wait $!
load_stop
check "memory goes and comes under load" test "$rounds" -gt 0
same "every read was whole" "$(cat /run/reader_bad 2>/dev/null)" ""
note "reads under load: $(wc -l </run/reader_reads), cut short: $(wc -l </run/reader_cut)"
check "there were reads" test -s /run/reader_reads
check "most of them whole" test $(($(wc -l </run/reader_cut) * 2)) -lt "$(wc -l </run/reader_reads)"
check "there was a whole census while memory was gone" test -s /run/census_less
size=$((0x$(cat /sys/devices/system/memory/block_size_bytes) / 4096))
less=$((whole - $(census_pages /run/census_less \
	"free loose movable slab table other reserved" all)))
note "pages gone with a block of memory: $less, it has $size"
check "a census has not what is offline" near "$less" "$size" 64
wait_for 30 take /run/census
same "blocks, when all is back" "$(pages_of blocks)" \
	"$(blocks_by_kernel | awk '{ sum += $4 } END { print sum }')"

check "readable when on" write_to "$LMM_DBG/pageblock/enabled" 1
# No BPF program is there; the debug kernel calls none at a function.
check "hook request is a direct call" tells hooks '^request +direct +[^ ]+ +armed +[0-9]+ [0-9]+ -$'
check "the same" take /run/census
check "off again" write_to "$LMM_DBG/pageblock/enabled" 0

# A page is taken for broken, one of these, which most likely are free.
one_breaks() {
	for _address in 0x38000000 0x34000000 0x30000000 0x2c000000 0x28000000 0x24000000; do
		! write_to $poison $_address || return 0
	done
	return 1
}
poison=/sys/devices/system/memory/soft_offline_page
if [ -w $poison ]; then
	need take /run/census
	before=$(pages_of reserved)
	need one_breaks
	need take /run/census
	same "a broken page is reserved" "$(pages_of reserved)" $((before + 1))
fi
check "unloads" lmm_unload
