# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12 7.2 debug
# cpus: 2
# nodes: 2
# memory: 2G
# emulation: parallel
# programs: kernel_tests
# timeout: 3600
#
# The kernel's own tests of memory management have the same verdicts with every policy off and on.
# A test that fails on the stock kernel, for want of a device or of memory, has to fail alike.
. "$LMM_ROOT/tests/scenarios/lib.sh"

TESTS=$LMM_ROOT/build/kernel-tests
# A test and its arguments in a line, as run_vmtests.sh of 6.1 calls them; the file in /run/huge is
# made anew for each.
list="hugepage-mmap
hugepage-shm
map_hugetlb
hugepage-mremap /run/huge/file
hugepage-vmemmap
hugetlb-madvise /run/huge/file
map_fixed_noreplace
userfaultfd anon 20 4
userfaultfd hugetlb 32 4
userfaultfd shmem 20 4
compaction_test
map_populate
mlock-random-test
mlock2-tests
mrelease_test
mremap_test
mremap_dontunmap
thuge-gen
madv_populate
memfd_secret
migration
ksm_tests -M -p 10
ksm_tests -U
ksm_tests -Z -p 10 -z 0
ksm_tests -N -m 1
soft-dirty
split_huge_page_test
khugepaged
transhuge-stress 256"

need mkdir -p /run/huge
need mount -t hugetlbfs none /run/huge
need write_to /proc/sys/vm/nr_hugepages 96

# Each test's exit status: 0 passed, 4 skipped.
verdicts() {
	echo "$list" | while read -r test; do
		rm -f /run/huge/file
		# shellcheck disable=SC2086 # the arguments of the test
		set -- $test
		program=$1
		shift
		(cd /run && timeout 240 "$TESTS/$program" "$@" >"/run/$program.out" 2>&1 </dev/null)
		printf '%s: %s\n' "$test" $?
	done
}

verdicts >/run/off
note "stock: $(grep -c ': 0$' /run/off) passed, others: $(grep -v ': 0$' /run/off | tr '\n' ';')"
check "most pass on the stock kernel" test "$(grep -c ': 0$' /run/off)" -ge 15
need lmm_load
policies=$(awk '$2 == "off" { print $1 }' "$LMM_DBG/status")
for policy in $policies; do
	check "$policy is on" write_to "$LMM_DBG/$policy/enabled" 1
done
verdicts >/run/on
echo "$list" | while read -r test; do
	same "$test" "$(grep -F "$test: " /run/on)" "$(grep -F "$test: " /run/off)"
done
check "hooks have counted" test "$(awk '$5 > 0 { n++ } END { print n + 0 }' "$LMM_DBG/hooks")" -ge 3
for policy in $policies; do
	check "$policy goes off" write_to "$LMM_DBG/$policy/enabled" 0
done
none_armed
check "unloads" lmm_unload
