# SPDX-License-Identifier: GPL-2.0-only
"""The kernel's own tests of memory management, from its source package, as programs for guests."""

from guests.command import call
from guests.kernel_build import source_tree
from guests.report import BUILD

BUILT = BUILD / "kernel-tests"
# Left out: gup_test, hmm-tests and test_vmalloc.sh want modules that Debian does not build,
# protection_keys wants a CPU with protection keys, virtual_address_range takes all there is.
NAMES = (
    "compaction_test", "hugepage-mmap", "hugepage-mremap", "hugepage-shm", "hugepage-vmemmap",
    "hugetlb-madvise", "khugepaged", "ksm_tests", "madv_populate", "map_fixed_noreplace",
    "map_hugetlb", "map_populate", "memfd_secret", "migration", "mlock-random-test",
    "mlock2-tests", "mrelease_test", "mremap_dontunmap", "mremap_test", "on-fault-limit",
    "soft-dirty", "split_huge_page_test", "thuge-gen", "transhuge-stress", "userfaultfd",
)


def build() -> None:
    """Compile each test, if the source package is newer."""
    tree = source_tree()
    sources = tree / "tools/testing/selftests/vm"
    stamp = BUILT / ".done"
    if stamp.exists() and stamp.stat().st_mtime > (tree / ".done").stat().st_mtime:
        return
    BUILT.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        # Its warnings are not ours to mend.
        call(["gcc", "-O1", "-w", "-static", "-pthread", "-D_GNU_SOURCE", f"-I{tree}",
              f"-I{sources}/..", sources / f"{name}.c", sources / "vm_util.c", "-o", BUILT / name,
              "-lnuma", "-lcap"])
    stamp.touch()
