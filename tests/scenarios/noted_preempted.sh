# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 7.2
# memory: 512M
# args: preempt=full
#
# On a preemptible kernel another task asks for a page while livemm notes a request. The request of
# that task is not judged by the arguments of the request that it has preempted.
. "$LMM_ROOT/tests/scenarios/lib.sh"

noted=/sys/module/lmm_noted/parameters

need lmm_load
need write_to "$LMM_DBG/pageblock/enabled" 1
hooks_armed request
need insmod "$LMM_MODDIR/lmm_noted.ko"
need write_to $noted/preempt 1
note "preempted at $(cat $noted/places) instructions: $(cat $noted/whole) notes of who preempts, $(cat $noted/mixed) mixed"
check "requests are preempted while they are noted" test "$(cat $noted/places)" -ge 6
check "a request of who preempts is known" test "$(cat $noted/whole)" -ge 1
check "no note mixes two requests" test "$(cat $noted/mixed)" = 0
need rmmod lmm_noted
check "unloads" lmm_unload
