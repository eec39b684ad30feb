# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# cpus: 2
# nodes: 2
# memory: 3G
# emulation: parallel
# args: secretmem.enable=y norandmaps
# programs: kernel_tests
# timeout: 1800
#
# The kernel's own tests of memory management have the same verdicts on the stock kernel and with
# every policy on, and in make soak with every policy off again. A test that fails on the stock
# kernel has to fail alike.
. "$LMM_ROOT/tests/scenarios/lib.sh"

TESTS=$LMM_ROOT/build/kernel-tests
# A test and its arguments in a line, as run_vmtests.sh of 6.1 calls them but for fewer rounds.
# With huge pages in the pool; the files in /run/huge are made anew for each test.
pool_tests="hugepage-mmap
hugepage-shm
map_hugetlb
hugepage-mremap /run/huge/file
hugepage-vmemmap
hugetlb-madvise /run/huge/file
userfaultfd hugetlb 16 2
userfaultfd hugetlb_shared 16 2 /run/huge/file
protection_keys"
# With an empty pool.
tests="map_fixed_noreplace
userfaultfd anon 8 2
userfaultfd shmem 8 2
compaction_test
on-fault-limit
map_populate
mlock-random-test
mlock2-tests
mrelease_test
mremap_test
mremap_dontunmap
thuge-gen
va_128TBswitch
madv_populate
memfd_secret
migration
ksm_tests -M -p 10
ksm_tests -U
ksm_tests -Z -p 10 -z 0
ksm_tests -Z -p 10 -z 1
ksm_tests -N -m 1
ksm_tests -N -m 0
soft-dirty
split_huge_page_test
khugepaged khugepaged:anon
khugepaged madvise:anon
transhuge-stress 64"

need mkdir -p /run/huge
need mount -t hugetlbfs none /run/huge
# khugepaged swaps pages out.
need modprobe zram
need write_to /sys/block/zram0/disksize 256M
need mkswap -q /dev/zram0
need swapon /dev/zram0

# A khugepaged test that fails leaves its settings, with which the daemon puts together at once
# what split_huge_page_test has split.
THP=/sys/kernel/mm/transparent_hugepage
thp_files="$THP/enabled $THP/defrag $THP/shmem_enabled $THP/use_zero_page
	$THP/khugepaged/defrag $THP/khugepaged/alloc_sleep_millisecs
	$THP/khugepaged/scan_sleep_millisecs $THP/khugepaged/max_ptes_none
	$THP/khugepaged/max_ptes_swap $THP/khugepaged/max_ptes_shared $THP/khugepaged/pages_to_scan"
for file in $thp_files; do
	echo "$file $(sed 's/.*\[\(.*\)\].*/\1/' "$file")"
done >/run/thp
thp_restore() {
	while read -r _file _value; do
		echo "$_value" >"$_file"
	done </run/thp
}

run() {
	case $1 in
	# The limit holds for those without this capability.
	on-fault-limit) set -- setpriv --bounding-set=-ipc_lock "$TESTS/$1" ;;
	*)
		_program=$TESTS/$1
		shift
		set -- "$_program" "$@"
		;;
	esac
	timeout 300 "$@"
}

# A verdict: the exit status (0 passed, 4 skipped), and how many parts passed, were skipped, failed.
# A test that says nothing of its parts has none.
verdict() {
	awk -v status="$1" '
		/^ok .*SKIP/ { skipped++; next }
		/^ok / || /^test +[0-9]+ PASSED/ { passed++ }
		/^not ok / { failed++ }
		END { printf "%d %d/%d/%d\n", status, passed, skipped, failed }' "$2"
}

# verdicts FOLDER TESTS: a line each; what the tests say is in the folder.
verdicts() {
	mkdir -p "$1"
	echo "$2" | while read -r _test; do
		rm -f /run/huge/*
		echo 3 >/proc/sys/vm/drop_caches
		echo 1 >/proc/sys/vm/compact_memory
		_said="$1/$(echo "$_test" | tr ' /' '__')"
		_from=$(cut -d. -f1 /proc/uptime)
		# shellcheck disable=SC2086 # the arguments of the test
		(cd /run && run $_test >"$_said" 2>&1 </dev/null)
		_status=$?
		thp_restore
		_verdict="$_test: $(verdict $_status "$_said")"
		# For the reader of the log too, who sees how far the guest has come.
		echo "$_verdict" >&2
		echo "$_verdict"
		echo "$_test: $(($(cut -d. -f1 /proc/uptime) - _from)) s" >>/run/times
	done
}

# round NAME: all verdicts are in /run/NAME.
round() {
	need write_to /proc/sys/vm/nr_hugepages 160
	same "$1: the pool has its huge pages" "$(cat /proc/sys/vm/nr_hugepages)" 160
	verdicts "/run/said.$1" "$pool_tests" >"/run/$1"
	need write_to /proc/sys/vm/nr_hugepages 0
	verdicts "/run/said.$1" "$tests" >>"/run/$1"
}

all="$pool_tests
$tests"

# The last words of a test in a round.
words_of() {
	tail -n 2 "/run/said.$1/$(echo "$2" | tr ' /' '__')" | tr '\r\n' ';;' | tail -c 200
}

# compared NAME: with the stock kernel.
compared() {
	echo "$all" | while read -r _test; do
		_stock=$(grep -F "$_test: " /run/stock) _now=$(grep -F "$_test: " "/run/$1")
		same "$1: ${_stock:-$_test}" "$_now" "$_stock"
		[ "$_now" = "$_stock" ] ||
			note "$1: $_test: $(words_of "$1" "$_test")"
	done
}

round stock
echo "$all" | while read -r test; do
	grep -qF "$test: 0 " /run/stock ||
		note "stock: $(grep -F "$test: " /run/stock): $(words_of stock "$test")"
done
note "seconds: $(awk '$(NF - 1) > 5' /run/times | tr '\n' ';')"
passed=$(grep -c ': 0 ' /run/stock)
note "stock: $passed of $(echo "$all" | wc -l) pass"
check "most pass on the stock kernel" test "$passed" -ge 30

need lmm_load
policies=$(awk '$2 == "off" { print $1 }' "$LMM_DBG/status")
for policy in $policies; do
	check "$policy is on" write_to "$LMM_DBG/$policy/enabled" 1
done
round on
compared on
for policy in $policies; do
	check "$policy is still on" policy_is "$policy" on
done
check "hooks have counted" test "$(awk '$5 > 0 { n++ } END { print n + 0 }' "$LMM_DBG/hooks")" -ge 3
for policy in $policies; do
	check "$policy goes off" write_to "$LMM_DBG/$policy/enabled" 0
done
none_armed
if [ "$(soaked 0 1)" = 1 ]; then
	round off
	compared off
fi
check "unloads" lmm_unload
need swapoff /dev/zram0
