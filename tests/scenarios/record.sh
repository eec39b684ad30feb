# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# timeout: 900
#
# A recording changes nothing: lists keep their bounds, as many pages cross zone->lock, no policy
# counts anything. Hooks are armed while the file `record` is open, and never afterwards, also when
# the recorder is killed. A recorder that exits while another task holds the mutex of the recorder does not
# wait for that task. Where the kernel tunes its lists, no two runs cross alike, and refills are
# not recorded: figures are compared on 6.1 alone.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_ctl.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

touching="-w 32 -r 6"
instance() { ls -d /sys/kernel/tracing/instances/livemm-record-* 2>/dev/null; }
on_61() { [ "$LMM_KERNEL" != 6.1 ] || "$@"; }
recording() { hook_is drain armed; }
policies_counted() { cat "$LMM_DBG"/*/counters; }
# recorder_start FILE: a process $recorder that records for long.
recorder_start() {
	/usr/bin/python3 "$CTL" record -o "$1" --seconds 600 >/run/recorder 2>&1 &
	recorder=$!
	need wait_for 120 recording
}

# livemmctl builds the replay of the sources beside it.
need ln -s "$LMM_ROOT/module" "$LMM_ROOT/kunit" /run/
export XDG_CACHE_HOME=/run/cache
ctl_setup
need lmm_load
refute "without its module nobody records" test -e "$LMM_DBG/record"
need modprobe livemm_record
need write_to "$LMM_PARAMS/livepatch" 0
refuses "$LMM_DBG/record" 1 "Operation not supported" \
	"record: 1: hook drain: module parameter livepatch=0"
need write_to "$LMM_PARAMS/livepatch" 1
mkdir /run/rec
bounds=$(lists_bounds)
before=$(policies_counted)
check "a load warms up" "$LMM_ROOT/build/bench/pagetouch" -w 64 -r 4

# alike FILE OTHER: as many pages cross now, which FILE is to say, as OTHER says, or nearly.
alike() {
	# shellcheck disable=SC2086 # words
	crossings $touching >"$1"
	near "$(cat "$1")" "$(cat "$2")" 60
}
# shellcheck disable=SC2086 # words
crossings $touching >/run/first
# A process that has just begun has its own pages cross meanwhile.
on_61 check "without a recording as many pages cross each time" \
	wait_for 2 alike /run/second /run/first
recorder_start /run/rec/a.rec
none_of_policies=$(awk '$2 == "on"' "$LMM_DBG/status")
same "every policy is off" "$none_of_policies" ""
on_61 check "with a recording as many cross" wait_for 2 alike /run/third /run/second
on_61 note "pages over zone->lock for 1000 faults: $(cat /run/first), $(cat /run/second), recorded $(cat /run/third)"
same "lists have the bounds that they had" "$(lists_bounds)" "$bounds"
same "no policy has counted anything" "$(policies_counted)" "$before"
ctl "a second recording is refused" 3 record -o /run/rec/b.rec --seconds 1
said "a second recording is refused" "record: 1: somebody records already"
same "the file says so, too" "$(cat "$LMM_DBG/record")" 1
refuses "$LMM_DBG/record" 2 "Invalid argument" "record: 2: "
refute "the recorder stays while somebody records" rmmod livemm_record
refute "and livemm while the recorder does" rmmod livemm

kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
check "hooks of a recorder that was killed go" wait_for 60 gives "" armed
same "lists have the bounds that they had, then too" "$(lists_bounds)" "$bounds"
check "a killed recorder leaves its buffer" test -n "$(instance)"

# Nothing but the document is to be printed.
ctl "a load is recorded --json" 0 record -o /run/rec/c.rec --json -- \
	sh -c "$LMM_ROOT/build/bench/pagetouch $touching >/dev/null"
same "the buffer of the killed recorder is gone, and ours" "$(instance)" ""
none_armed "after a recording "
same "nothing else is left behind" "$(ls /run/rec)" c.rec

# What was recorded is what the kernel counted.
hits=$(hits)
# shellcheck disable=SC2086 # words
ctl "a load is recorded and counted" 0 record -o /run/rec/d.rec -- "$LMM_ROOT/build/bench/pagetouch" $touching
hits=$(($(hits) - hits))
ctl "whatif --json" 0 whatif /run/rec/d.rec --json
note "pages over zone->lock that the kernel counted: $hits"
holds "a load is recorded --json" "d['lost'] == 0"
ctl "the exit code of a load is passed on" 7 record -o /run/rec/f.rec -- sh -c 'exit 7'
ctl "and the signal that has ended a load" 143 record -o /run/rec/f.rec -- sh -c 'kill -TERM $$'
on_61 holds "whatif --json" "abs(d['recorded']['crossed'] - $hits) < 0.1 * $hits"
holds "whatif --json" "d['events_lost'] == 0"
on_61 holds "whatif --json" "d['predicted']['crossed'] < 0.6 * d['recorded']['crossed']"
shows "whatif --json" "(d['recorded']['crossed'], d['predicted']['crossed'], d['events_per_second'])"

# A task hangs and holds the mutex of the recorder: whoever records can exit, and can be killed.
gone() { ! grep -q '^State:[[:space:]]*[RSD]' "/proc/$1/status" 2>/dev/null; }
mutex_held() { gives Y cat /sys/module/lmm_hold/parameters/holds; }
keeper_start() {
	rm -f /run/over
	sh -c 'exec 9<>"$1"; printf 1 >&9; until [ -e /run/over ]; do sleep 0.1; done' sh "$LMM_DBG/record" &
	keeper=$!
	need wait_for 60 recording
	need insmod "$LMM_MODDIR/lmm_hold.ko"
	need wait_for 10 mutex_held
}
keeper_start
touch /run/over
check "beside a task that hangs, a recorder exits" wait_for 30 gone "$keeper"
same "nobody records, then" "$(cat "$LMM_DBG/record")" 0
refuses "$LMM_DBG/record" 1 "Device or resource busy" "record: 1: the last recording is still being ended"
need rmmod lmm_hold
check "its hooks go when the task goes on" wait_for 60 gives "" armed
keeper_start
kill -KILL "$keeper"
check "beside a task that hangs, a recorder can be killed" wait_for 30 gone "$keeper"
need rmmod lmm_hold
check "the hooks of that recorder go, too" wait_for 60 gives "" armed
ctl "another recording" 0 record -o /run/rec/e.rec --seconds 1

# A recording whose livepatch goes ends with an error, and lets its hooks go.
refused_is() { gives "$1" sed -n 's/^\(record: ended: hook [a-z]*: livepatch livemm_klp_lists\) .*/\1/p' "$LMM_DBG/last_error"; }
recorder_start /run/rec/g.rec
need livepatch_off livemm_klp_lists
check "the recording ends" wait_for 60 gone "$recorder"
check "its words are in last_error" refused_is "record: ended: hook drain: livepatch livemm_klp_lists"
check "the recorder says so" grep -q "record: ended: hook drain" /run/recorder
refute "and keeps no file" test -e /run/rec/g.rec
check "no hook is left armed" wait_for 60 gives "" armed
same "nobody records, then, either" "$(cat "$LMM_DBG/record")" 0
refuses "$LMM_DBG/record" 1 "Device or resource busy" "record: 1: livepatch livemm_klp_lists was"
need klp_wait livepatch_gone livemm_klp_lists
need wait_for 10 unloaded livemm_klp_lists
ctl "with a new livepatch, another" 0 record -o /run/rec/h.rec --seconds 1

check "the module can be unloaded" lmm_unload
ctl_judge
