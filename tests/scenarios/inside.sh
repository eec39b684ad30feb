# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12
# memory: 1G
# args: transparent_hugepage=never
#
# A task sleeps in the kernel's own compact_zone(), which our wrapper has called: a page that it
# moves is locked. Somebody else's livepatch of the same function is not in force until that task has
# left the function, as the kernel promises.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"

inside() { grep -q compact_zone "/proc/$compacts/stack"; }

# The wrapper stays when the policy goes off.
need lmm_load policies=zonelock:enabled=1
need write_to "$LMM_DBG/zonelock/enabled" 0
need test -d /sys/kernel/livepatch/livemm_klp_giveback/vmlinux/compact_zone,1

# Half of memory is taken, and every other 4 MiB of that given back, so that compaction finds free pages
# wherever it looks, and meets locked ones.
for at in $(seq 0 49); do
	for name in lmm rest; do
		dd if=/dev/zero of=/dev/shm/$name bs=4M count=1 seek="$at" conv=notrunc status=none
	done
done
need rm /dev/shm/rest
need insmod "$LMM_MODDIR/lmm_locked.ko"
sh -c "echo 1 >/proc/sys/vm/compact_memory" &
compacts=$!
need wait_for 60 inside
insmod "$LMM_MODDIR/lmm_foreign.ko" function=compact_zone &
loads=$!
need wait_for 60 test -e $foreign/transition
sleep 20
check "the task is inside still" inside
same "theirs is not in force meanwhile" "$(cat $foreign/transition)" 1
need rmmod lmm_locked
check "it is, when the task has left" klp_wait foreign_settled
need wait $loads $compacts
need rm /dev/shm/lmm

need foreign_unload
check "unloads" lmm_unload
