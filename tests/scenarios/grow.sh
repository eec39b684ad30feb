# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# nodes: 2
# memory: 2G
# timeout: 900
# args: transparent_hugepage=always
#
# Only those functions are livepatched that a policy needs which is on. A further policy adds its
# functions. Notes say how long a policy takes to come on, while the guest is idle and while
# memory is compacted.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

# The functions that a livepatch of ours holds, sorted.
held() {
	for _func in /sys/kernel/livepatch/livemm_klp*/vmlinux/*,*; do
		[ ! -d "$_func" ] || echo "${_func##*/}"
	done | sed 's/,.*//' | sort | tr '\n' ' '
}
enabled() { patches_enabled | tr '\n' ' '; }

# comes_on POLICY WHEN STATE: a check, whose name ends with WHEN, and a note of how long it took.
comes_on() {
	_from=$(uptime_ms)
	if write_to "$LMM_DBG/$1/enabled" 1; then
		_took=$(($(uptime_ms) - _from))
		ok "$1 comes on$2"
		note "$1 came on in $_took ms, $3"
	else
		fail "$1 comes on$2" "$(cat "$LMM_DBG/last_error")"
	fi
}

lists="free_pcppages_bulk "
! traceable rmqueue_bulk || lists="free_pcppages_bulk rmqueue_bulk "

kernel_scans 100 200 400
need lmm_load
same "nothing is patched at first" "$(patches)" ""
need write_to "$NUMA/enabled" 1
same "nor for numa" "$(patches)" ""
comes_on pcp "" idle
same "for pcp the lists alone" "$(enabled)" "livemm_klp_lists "
same "and their functions" "$(held)" "$lists"
comes_on zonelock "" idle
same "adds what gives back" "$(enabled)" "livemm_klp_giveback livemm_klp_lists "
check "with its hook" tells hooks '^compact +livepatch .* armed'
comes_on pageblock "" idle
same "adds the search for a fallback" "$(enabled)" \
	"livemm_klp_fallback livemm_klp_giveback livemm_klp_lists "
check "pcp is on all the while" policy_is pcp on
need all_off
check "all comes to rest" klp_wait settled
need all_out

# A storm of compaction: by request of a task, and by huge pages.
storm() {
	while :; do
		echo 1 >/proc/sys/vm/compact_memory
	done &
	storms="$storms $!"
}
storms=
LOAD_PROCS=1 LOAD_ROUNDS="-w 64 -F 10" load_start
storm
storm
for policy in pcp zonelock pageblock; do
	for _round in $(seq "$(soaked 1 3)"); do
		need lmm_load
		comes_on "$policy" " in a storm of compaction" "while memory is compacted"
		note "patched: $(held)"
		in_time 5000 "$policy goes off in it" write_to "$LMM_DBG/$policy/enabled" 0
		klp_wait settled
		need all_out
	done
done
# shellcheck disable=SC2086 # process ids
kill $storms
load_stop
need lmm_load
check "all is usable" write_to "$LMM_DBG/pcp/enabled" 1
need write_to "$LMM_DBG/pcp/enabled" 0
check "unloads" all_out
