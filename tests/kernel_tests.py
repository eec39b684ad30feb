# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own tests of memory management, from its source package, as programs for guests."""

from pathlib import Path

from guests.command import call
from guests.kernel_build import source_tree
from guests.report import BUILD, ToolError

BUILT = BUILD / "kernel-tests"
# Left out: gup_test, hmm-tests and test_vmalloc.sh want modules that Debian does not build,
# virtual_address_range takes all memory there is, and the cgroup tests of hugetlb (*.sh) sleep
# for minutes.
NAMES = (
    "compaction_test", "hugepage-mmap", "hugepage-mremap", "hugepage-shm", "hugepage-vmemmap",
    "hugetlb-madvise", "khugepaged", "ksm_tests", "madv_populate", "map_fixed_noreplace",
    "map_hugetlb", "map_populate", "memfd_secret", "migration", "mlock-random-test",
    "mlock2-tests", "mrelease_test", "mremap_dontunmap", "mremap_test", "on-fault-limit",
    "protection_keys", "soft-dirty", "split_huge_page_test", "thuge-gen", "transhuge-stress",
    "userfaultfd", "va_128TBswitch",
)
# Changes to tests, each with its reason.
EDITS = {
    # 512 huge pages in turn, which the stock kernel has at one time and lacks at another.
    "khugepaged": (("TEST(collapse_compound_extreme,", "if (0) TEST(collapse_compound_extreme,"),),
    "migration": (
        # A minute for each of three parts, where pages move thousands of times in seconds.
        ("#define RUNTIME (60)", "#define RUNTIME (8)"),
        # On two CPUs one thread moves pages, and one reads.
        ("= numa_num_task_cpus() - 1;", "= numa_num_task_cpus();"),
        # A page that is in use for a moment is not moved.
        ("if (ret) {", "if (ret > 0)\n\t\t\tcontinue;\n\t\tif (ret) {"),
    ),
    # A round of all parts takes long under emulation.
    "protection_keys": (("int nr_iterations = 22;", "int nr_iterations = 3;"),),
    "soft-dirty": (("#define TEST_ITERATIONS 10000", "#define TEST_ITERATIONS 1000"),),
    # The test makes four huge pages in one mapping.  6.1's copy expects to see one, and calls the
    # mapping whole when no huge page is left.
    "split_huge_page_test": (
        ("check_huge_anon(one_page, 1,", "check_huge_anon(one_page, 4,"),
        ("if (check_huge_anon(one_page, 0,", "if (!check_huge_anon(one_page, 0,"),
    ),
    # Runs until killed.
    "transhuge-stress": (("while (1) {", "for (int round = 0; round < 4; round++) {"),),
}
# For mrelease_test, which lacks the numbers of system calls, and protection_keys.
FLAGS = ("-include", "sys/syscall.h", "-mxsave")


def build() -> None:
    """Compile each test, if the source package or this file is newer."""
    tree = source_tree()
    sources = tree / "tools/testing/selftests/vm"
    stamp = BUILT / ".done"
    newest = max(path.stat().st_mtime for path in (tree / ".done", Path(__file__)))
    if stamp.exists() and stamp.stat().st_mtime > newest:
        return
    BUILT.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        text = (sources / f"{name}.c").read_text(encoding="utf-8")
        for before, after in EDITS.get(name, ()):
            if before not in text:
                raise ToolError(f"{name}.c: has no '{before}'")
            text = text.replace(before, after)
        source = BUILT / f"{name}.c"
        source.write_text(text, encoding="utf-8")
        # Its warnings are not ours to mend.
        call(["gcc", "-O1", "-w", "-static", "-pthread", "-D_GNU_SOURCE", *FLAGS, f"-I{tree}",
              f"-I{sources}", source, sources / "vm_util.c", "-o", BUILT / name,
              "-lnuma", "-lcap"])
    stamp.touch()
