# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# memory: 5G
# nodes: 2
# timeout: 1200
# args: cma=64M@0-1G numa_cma=1:128M hugetlb_cma=1:1G transparent_hugepage=never nokaslr
#
# Three areas on two nodes of a stock kernel. Pages of a node go to CMA memory of that node, and not
# to what is kept for an owner. Each owner gets its own memory, among them the pool of gigantic
# pages. The policy goes on and off meanwhile, and memory of the node goes offline.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

pools=/sys/devices/system/node/node1/hugepages
gigantic=$pools/hugepages-1048576kB huge=$pools/hugepages-2048kB

# A column of the zones of a node with CMA memory, summed: 3 cma, 4 free, 6 kept.
node() { awk -v node="$1" -v column="$2" '$1 == node && $8 ~ /%$/ { sum += $column } END { print sum + 0 }' "$policy/state"; }
node_free() { awk '$3 == "MemFree:" { print int($4 / 1024) }' "/sys/devices/system/node/node$1/meminfo"; }
kept() { echo "$(area numa1 5) $(area hugetlb1 5)"; }
steady() { _was=$(counter balanced cma) && sleep 0.5 && [ "$_was" = "$(counter balanced cma)" ]; }
had_gigantic() { cat $gigantic/nr_hugepages; }
# The kernel tries an area for a gigantic page once, and a page that somebody moves just then is
# busy.
: >/run/again
gigantic_got() {
	write_to $gigantic/nr_hugepages 1
	[ "$(had_gigantic)" = 1 ] || { echo again >>/run/again && false; }
}

need lmm_load
need modprobe lmm_owner
pages_before cma
# For longer than this takes on a busy host.
need write_to "$policy/config" "enabled=1 keep_ms=600000"
check "an area on node 0" grep -Eq '^reserved +0 .* 16384 ' "$policy/state"
check "a device's area on node 1" grep -Eq '^numa1 +1 .* 32768 ' "$policy/state"
check "an area of gigantic pages on node 1" grep -Eq '^hugetlb1 +1 .* 262144 ' "$policy/state"
same "and so it is by zone" "$(node 0 3) $(node 1 3)" "16384 294912"

# Each area has an owner of its own, whose range is kept, on the area's own node.
for one in reserved numa1 hugetlb1; do
	check "$one: 8 MiB are had" take "$one" 2048
	give "$one" 2048
	check "$one: and kept" wait_for 20 gives 2048 area "$one" 5
done
same "kept by zone" "$(node 0 6) $(node 1 6)" "2048 4096"
same "counted of each" "$(area reserved 6) $(area numa1 6) $(area hugetlb1 6)" "1 1 1"

# The owners have their memory while a process takes what is left of node 1.
check "the owner on node 1 gets all of its area" take numa1 32768
need write_to $gigantic/nr_hugepages 1
same "a gigantic page comes from the area" "$(had_gigantic) $(area hugetlb1 6)" "1 2"
# Most is taken by huge pages, which the worker leaves alone.
need write_to $huge/nr_hugepages $((($(node_free 1) - 600) / 2))
hog_hold $(($(node_free 1) - 120)) taskset -c 1
note "node 1 has $(node_free 1) MiB free"
before=$(node 0 4)
# Much regular memory shall be free.
need write_to /proc/sys/vm/watermark_scale_factor 400
give numa1 32768
need write_to $gigantic/nr_hugepages 0
check "pages are moved" wait_for 60 grown 20000 counter balanced cma
check "and no more than are to be free" wait_for 60 steady
check "what the owners gave back is kept, a quarter of each area" wait_for 60 gives "8192 65536" kept
after="$(node 0 4) $(node 1 4)"
note "free CMA pages of node 0: before $before; of node 0 and 1 after $(counter balanced cma) pages were moved: $after"
check "to CMA memory of node 1" test $((294912 - ${after#* })) -ge 18000
check "not of node 0" test $((before - ${after% *})) -le 512
migrated=$(migrated_for numa1 8192)
check "not to what is kept for one owner: $migrated pages had to go" test "${migrated:-9999}" -lt 1024
migrated=$(migrated_for hugetlb1 65536)
check "nor for the other: $migrated" test "${migrated:-9999}" -lt 4096

# All of an area is wanted: what is in it moves back, or to the other area.
migrated=$(vmstat pgmigrate_success)
check "the gigantic page is got while the worker wants room" wait_for 20 gigantic_got
note "$(($(vmstat pgmigrate_success) - migrated)) pages had to go"
need write_to $gigantic/nr_hugepages 0

# Owners, the worker, the switch, and memory that goes.
owners_loop() {
	while [ ! -e /run/still ]; do
		take numa1 8192 && give numa1 8192 || echo "numa1: not got"
		wait_for 20 gigantic_got || echo "gigantic: not got"
		write_to $gigantic/nr_hugepages 0
	done
}
owners_loop >/run/refused 2>&1 &
owners=$!
rounds=0 block=
moved=$(counter balanced cma)
need write_to /proc/sys/vm/watermark_scale_factor 1000
while [ "$rounds" -lt 3 ]; do
	need write_to "$policy/config" "enabled=1 keep_ms=$((rounds % 2 * 500))"
	wait_for 5 grown $((moved + 1000)) counter balanced cma
	moved=$(counter balanced cma)
	block=$(memory_offline "$block") || break
	[ $((rounds % 2)) = 0 ] || need write_to "$policy/enabled" 0
	need write_to "$block/state" online
	need write_to "$policy/enabled" 0
	rounds=$((rounds + 1))
done
touch /run/still
wait "$owners"
note "got nothing: $(sort /run/refused | uniq -c | tr '\n' ' '); gigantic page tried again $(wc -l </run/again) times; $(tr '\n' ' ' <"$policy/counters")"
check "memory went offline $rounds times" test "$rounds" -ge 1
same "each owner got its own" "$(cat /run/refused)" ""
check "the process lives" lives $hog
need write_to /proc/sys/vm/watermark_scale_factor 10
hog_end
need write_to $huge/nr_hugepages 0
for one in "reserved 2048" "numa1 32768" "hugetlb1 262144"; do
	# shellcheck disable=SC2086 # two words
	check "${one#* } pages of ${one% *} can be had" wait_for 20 take $one
	# shellcheck disable=SC2086 # two words
	give $one
done
need rmmod lmm_owner
all_back
