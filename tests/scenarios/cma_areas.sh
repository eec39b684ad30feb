# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: debug
# memory: 5G
# nodes: 2
# timeout: 1200
# args: cma=64M@0-1G hugetlb_cma=1:1G transparent_hugepage=never nokaslr
#
# Two areas on two nodes: each node lends its own area, each owner gets its own memory, and memory
# is kept for an owner on the owner's node alone. The policy goes on and off meanwhile.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

rounds=5

# A column of the zones of a node with CMA memory, summed: 3 cma, 4 free, 6 kept.
node() { awk -v node="$1" -v column="$2" '$1 == node && $8 ~ /%$/ { sum += $column } END { print sum + 0 }' "$policy/state"; }

# An area's owner, as fast as it can; a line for each time it got nothing.
owner_loop() {
	while :; do
		take "$1" 4096 && echo got >>"/run/got_$1" || echo "$1: not got"
		give "$1" 4096
	done
}

pages_before cma

need write_to "$policy/config" "enabled=1 mode=ratio"
check "an area on node 0" grep -Eq '^reserved +0 .* 16384 ' "$policy/state"
check "an area on node 1" grep -Eq '^hugetlb1 +1 .* 262144 ' "$policy/state"
same "and so it is by zone" "$(node 0 3) $(node 1 3)" "16384 262144"

# Memory is a node's own where it is touched.
before="$(node 0 4) $(node 1 4)"
taskset -c 1 dd if=/dev/zero of=/mnt/one bs=1M count=128 2>/dev/null
after="$(node 0 4) $(node 1 4)"
note "free CMA pages of node 0 and 1: before $before, after 128 MiB on node 1 $after"
check "node 1 lends" test $((${before#* } - ${after#* })) -ge 8000
check "and node 0 does not for it" test $((${before% *} - ${after% *})) -le 512
check "the owner of the one on node 1 gets 512 MiB" take hugetlb1 131072
same "which is counted of that alone" "$(area reserved 6) $(area hugetlb1 6)" "0 1"
give hugetlb1 131072
# A quarter of an area may be.
kept() { echo "$(area hugetlb1 5) $(node 1 6)"; }
check "of which as much is kept as may be, by zone too" wait_for 10 gives "65536 65536" kept
check "the owner of the other gets 8 MiB" take reserved 2048
give reserved 2048
same "counted too" "$(area reserved 6) $(area hugetlb1 6)" "1 1"
check "on node 0 only what its own owner had" test "$(node 0 6)" -le 2048
rm /mnt/one

touch /run/refused /run/got_reserved /run/got_hugetlb1
owner_loop reserved >>/run/refused 2>&1 &
first=$!
owner_loop hugetlb1 >>/run/refused 2>&1 &
second=$!
for round in $(seq "$rounds"); do
	need write_to "$policy/config" "enabled=1 keep_ms=$((round % 2 * 500))"
	taskset -c $((round % 2)) dd if=/dev/zero of=/mnt/some bs=1M count=48 2>/dev/null
	need write_to "$policy/enabled" 0
	rm /mnt/some
done
note "switched $round times while both owners are at it"
lines() { wc -l <"/run/got_$1"; }
check "the owner of the first got its own" wait_for 60 grown 2 lines reserved
check "and that of the second" wait_for 60 grown 2 lines hugetlb1
kill "$first" "$second"
wait "$first" "$second" 2>/dev/null
note "got nothing: $(wc -l </run/refused); $(tr '\n' ' ' <"$policy/counters")"
same "always" "$(cat /run/refused)" ""
give reserved 16384
give hugetlb1 262144
check "all of the first can be had" wait_for 20 take reserved 16384
check "and of the second" wait_for 20 take hugetlb1 262144
give reserved 16384
give hugetlb1 262144
all_back
