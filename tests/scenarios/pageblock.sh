# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 7.2 debug
# memory: 512M
# args: transparent_hugepage=never
# allow: \bCall Trace:
#
# Memory of one migratetype runs short. With the policy, blocks are not mixed where the request
# can wait, requests that cannot wait are served, and a host that is out of memory is no worse
# off. (The OOM killer prints a call trace. How often 6.12 mixes blocks without the policy varies
# too much from run to run to be a check.)
. "$LMM_ROOT/tests/scenarios/lib.sh"

PB=$LMM_DBG/pageblock
mixing=/sys/kernel/tracing/events/kmem/mm_page_alloc_extfrag
# Parts of blocks that were taken for another type.
mixed() {
	[ $traced = 1 ] || { counter mixed pageblock && return; }
	awk '/fallback_order:/ { gsub(/[^0-9]+/, " "); if ($1 < 9) sum += $2 } END { print sum + 0 }' \
		"$mixing/hist"
}
available() { echo $(($(meminfo MemAvailable) / 1024)); }
# One hog takes nearly all there is, and the kernel needs some for pipes and processes.
squeeze() {
	victim_start $(($(available) - $1))
	hog_settled
	for _pipe in $(seq 24); do
		head -c 65536 /dev/zero | sh -c 'exec sleep 100' &
	done
	sleep 1
	pkill sleep
	hog_end
}
# Mixes that it takes to be short of memory some times.
squeezed() {
	_before=$(mixed)
	for _left in $lefts; do
		squeeze "$_left"
	done >/dev/null
	echo $(($(mixed) - _before))
}
# The debug kernel has no histograms of events, and 6.12 nothing to compare; that mixes are
# refused there, too, is for blocks to see.
traced=0 lefts=6
# There to start as many processes takes minutes.
[ "$LMM_DEBUG" = 0 ] || lefts=$(soaked "" 6)
[ "$LMM_KERNEL" != 6.1 ] || traced=1 lefts=$(soaked 6 "8 6 4")

[ $traced = 0 ] || need write_to "$mixing/trigger" "hist:keys=fallback_order"
pages_before pageblock

[ $traced = 0 ] || without=$(squeezed)
need write_to "$PB/enabled" 1
hooks_armed fallback request reclaim_end compact_begin mixed
with=$(squeezed)
note "mixed without ${without:--}, with $with; refused $(counter refused pageblock), tried $(counter allowed_tried pageblock)"
# Each search is a mix that the kernel alone would have made.
if [ $traced = 1 ]; then
	check "mixes are refused" test "$(counter refused pageblock)" -gt 0
	check "few of them come about" test "$(($(counter mixed pageblock) * 2))" -lt "$(counter searches pageblock)"
	check "who asks is known" grown 0 hook_hits request
fi

# As a network card takes pages, while there are few.
hog_hold $(($(available) - 24))
need insmod "$LMM_MODDIR/lmm_atomic.ko"
sleep 3
atomic=/sys/module/lmm_atomic/parameters
check "atomic requests are served" test "$(cat $atomic/served)" -gt 1000
same "and none fails" "$(cat $atomic/failed)" 0
hog_end
need rmmod lmm_atomic

# More than there is: the hog is killed, once, and the load goes on, which leaves it most of
# the emulated CPUs.
LOAD_PROCS=1 LOAD_ROUNDS="-w 16 -F 60" load_start
before=$(vmstat oom_kill)
victim_start 4096
check "memory runs out" wait_for 120 grown "$before" vmstat oom_kill
check "out of memory ends with the hog" wait_for 120 hog_gone
same "one is killed" "$(($(vmstat oom_kill) - before))" 1
check "the load lives" lives pagetouch
note "searches $(counter searches pageblock), refused $(counter refused pageblock)"
check "there were searches" test "$(counter searches pageblock)" -gt 0
same "every search has a verdict" "$(counter searches pageblock)" \
	"$(awk '$1 ~ /^(refused|allowed_)/ { sum += $2 } END { print sum }' "$PB/counters")"
check "a configuration that does not change it" write_to "$PB/config" "$(cat "$PB/config")"

switched=0
for round in $(seq 6); do
	write_to "$PB/enabled" 0 && write_to "$PB/config" "enabled=1" && switched=$round
done
same "switched off and on under load" "$switched" 6
load_stop
need write_to "$PB/enabled" 0
none_armed
all_back
