# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 7.2
# memory: 512M
#
# An interrupt asks for a page while livemm notes a request. The interrupted request is not judged
# by the arguments of the interrupt's request. (On the debug kernel, which has no BPF, the hook is
# an ftrace callback, and the code that is interrupted here does not run.)
. "$LMM_ROOT/tests/scenarios/lib.sh"

noted=/sys/module/lmm_noted/parameters

need lmm_load
need write_to "$LMM_DBG/pageblock/enabled" 1
hooks_armed request
need insmod "$LMM_MODDIR/lmm_noted.ko"
need write_to $noted/run 1
note "interrupted at $(cat $noted/places) instructions: $(cat $noted/whole) notes of the request, $(cat $noted/mixed) mixed"
# Before the first of the stores, and between them.
check "requests are interrupted while they are noted" test "$(cat $noted/places)" -ge 6
check "a request that is noted after the interrupt is known" test "$(cat $noted/whole)" -ge 1
check "no note mixes two requests" test "$(cat $noted/mixed)" = 0
need rmmod lmm_noted
check "unloads" lmm_unload
