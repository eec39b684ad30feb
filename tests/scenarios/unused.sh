# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12 7.2 debug
# memory: 1G
# args: transparent_hugepage=never
#
# A CPU's list is full of movable pages that the CPU does not use any more. The CPU then fills and
# closes pipes, whose pages are unmovable: the movable pages go to the buddy, and make room.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_unused.sh"

need lmm_load
unused pcp 40
check "the list was full of pages" test "$had" -gt 1000
# A list that has less than a drain takes stays, up to 2,016 pages.
check "movable pages that nobody uses make room" test $(($(drained 1) * 4)) -gt "$had"
check "unloads" lmm_unload
