# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1 7.2
# nodes: 2
# memory: 2G
# emulation: parallel
# timeout: 2400
# args: transparent_hugepage=never
#
# Other tools put a livepatch, a kprobe, an fprobe and BPF programs (entry, exit) on each function
# that policies hook by a direct call: before our policies come on, and after. In make soak these
# tools are return probes, a kprobe with a post_handler, the tracers function and function_graph, and
# kprobes of BPF as well. All but the livepatch and the post_handler also go on a function that our
# livepatch wraps. Each tool's hook loads, counts and unloads, and our own hooks count on meanwhile.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"

EVENTS=/sys/kernel/tracing
bpf=
# A function that our livepatch wraps; another livepatch, or a kprobe with a post_handler, has no
# room there: the scenario foreign.
wrapped=free_pcppages_bulk

hook_of() {
	case $1 in
	get_page_from_freelist) echo request ;;
	"$wrapped") echo drain ;;
	bdev_getblk | __getblk_gfp) echo buffer ;;
	*) echo hint_fault ;;
	esac
}

# The functions by the names of this kernel.
functions="get_page_from_freelist task_numa_fault"
if traceable bdev_getblk; then
	functions="$functions bdev_getblk"
else
	functions="$functions __getblk_gfp"
fi
# The functions for a kind of theirs, with commas between. A tracer of returns is tried on the
# wrapped function by returns().
targets() {
	_names=$functions
	case $1 in
	patch | post | graph) ;;
	*) _names="$_names $wrapped" ;;
	esac
	echo "$_names" | tr ' ' ,
}

# Loads that call all of the functions the whole time.
need modprobe -a loop ext4
need truncate -s 64M /run/disk
need mkfs.ext4 -q -F -b 4096 /run/disk
need mkdir /run/ext4
need mount -o loop /run/disk /run/ext4
# The pipe makes one CPU allocate and the other free: zonelock stores, and looks at requests where
# refills cannot be hooked.
calls() {
	while :; do
		mkdir /run/ext4/folder
		rm -r /run/ext4/folder
		taskset -c 0 head -c 4M /dev/zero | taskset -c 1 cat >/dev/null
		sleep 0.5
	done
}

# ours_go_on NAME: each of our hooks is armed, and hooks whose hits rise under this load go on
# rising.
ours_go_on() {
	for _function in $functions $wrapped; do
		_hook=$(hook_of "$_function")
		if ! hook_is "$_hook" armed; then
			fail "$1: our hook $_hook is armed" "$(grep "^$_hook " "$LMM_DBG/hooks")"
			continue
		fi
		case " $rising " in
		*" $_hook "*)
			check "$1: our hook $_hook goes on" wait_for 30 grown "$(hook_hits "$_hook")" hook_hits "$_hook"
			;;
		*) ok "$1: our hook $_hook is armed" ;;
		esac
	done
	for _policy in pageblock numa zonelock; do
		check "$1: $_policy is on" policy_is "$_policy" on
	done
}

ours_on() {
	for _policy in pageblock numa zonelock; do
		check "$1: $_policy comes on" write_to "$LMM_DBG/$_policy/enabled" 1
	done
}
ours_off() {
	for _policy in pageblock numa zonelock; do
		check "$1: $_policy goes off" write_to "$LMM_DBG/$_policy/enabled" 0
	done
	klp_wait settled
}

# KIND_on FUNCTIONS, KIND_count FUNCTIONS INDEX, KIND_off.  Kprobes and BPF programs are at the
# entry and at the return of the functions; with $at_return set, at the return alone.
at_return=
# Return probes and kprobes of BPF on every function: in soak.
thorough=$(soaked "" 1)
# Is theirs to be at the return of this function?  With anything at the return of the wrapped
# function zonelock cannot see the caller of a drain and stores nothing, so that there is nothing to
# hand requests on for, and our hook request stands still: returns() alone does that.
returns_of() {
	[ -n "$at_return" ] || { [ -n "$thorough" ] && [ "$1" != "$wrapped" ]; }
}
patch_on() { foreign_load function="$1"; }
patch_count() { foreign_number hits | cut -d, -f"$2"; }
patch_off() { foreign_unload; }

kprobe_on() {
	for _name in $(echo "$1" | tr , ' '); do
		[ -n "$at_return" ] || echo "p:lmm/in_$_name $_name" >>"$EVENTS/kprobe_events" || return 1
		! returns_of "$_name" ||
			echo "r:lmm/out_$_name $_name" >>"$EVENTS/kprobe_events" || return 1
	done
	echo 1 >"$EVENTS/events/lmm/enable"
}
kprobe_count() {
	awk -v name="$(echo "$1" | cut -d, -f"$2")" '
		$1 == "in_" name || $1 == "out_" name { if (least == "" || $2 < least) least = $2 }
		END { print least + 0 }' "$EVENTS/kprobe_profile"
}
kprobe_off() { echo 0 >"$EVENTS/events/lmm/enable" && : >"$EVENTS/kprobe_events"; }

# Of an event of the kernel's own, the way of BPF's kprobe.multi; 6.1 has none.
fprobes=
! grep -q '^[[:space:]]*f\[:' "$EVENTS/README" || fprobes=fprobe
fprobe_on() {
	for _name in $(echo "$1" | tr , ' '); do
		echo "f:lmm/in_$_name $_name" >>"$EVENTS/dynamic_events" || return 1
		! returns_of "$_name" ||
			echo "f:lmm/out_$_name $_name%return" >>"$EVENTS/dynamic_events" || return 1
	done
	for _event in "$EVENTS"/events/lmm/*/trigger; do
		echo hist:keys=common_cpu >"$_event" || return 1
	done
}
# The smallest of the hits at entry and at return.
fprobe_count() {
	_name=$(echo "$1" | cut -d, -f"$2")
	cat "$EVENTS"/events/lmm/*_"$_name"/hist | awk '$1 == "Hits:" {
			if (least == "" || $2 < least) least = $2
		}
		END { print least + 0 }'
}
fprobe_off() {
	for _event in "$EVENTS"/events/lmm/*/trigger; do
		echo '!hist:keys=common_cpu' >"$_event" || return 1
	done
	: >"$EVENTS/dynamic_events"
}

post_on() { insmod "$LMM_MODDIR/lmm_probe.ko" function="$1" post=1; }
post_count() { cut -d, -f"$2" /sys/module/lmm_probe/parameters/hits; }
post_off() { rmmod lmm_probe; }

tracer_on() {
	rm -f /run/seen.*
	echo 256 >"$EVENTS/buffer_size_kb" &&
		echo "$2" | tr , '\n' >"$EVENTS/set_ftrace_filter" &&
		echo "$1" >"$EVENTS/current_tracer"
}
# How often the function was in the trace, with the trace emptied each time.
tracer_count() {
	_name=$(echo "$1" | cut -d, -f"$2")
	if grep -qw "$_name" "$EVENTS/trace"; then
		echo >>"/run/seen.$_name"
		: >"$EVENTS/trace"
	fi
	awk 'END { print NR }' "/run/seen.$_name" 2>/dev/null || echo 0
}
tracer_off() {
	echo nop >"$EVENTS/current_tracer"
	: >"$EVENTS/set_ftrace_filter"
}
function_on() { tracer_on function "$1"; }
function_count() { tracer_count "$@"; }
function_off() { tracer_off; }
graph_on() { tracer_on function_graph "$1"; }
graph_count() { tracer_count "$@"; }
graph_off() { tracer_off; }

bpf_running() { grep -q running /run/bpf.out || dead "$bpf"; }
bpf_on() {
	for _name in $(echo "$1" | tr , ' '); do
		if [ -z "$at_return" ]; then
			echo "kfunc:$_name { @hits[\"$_name\", \"in\"] = count(); }"
			[ -z "$thorough" ] || echo "kprobe:$_name { @hits[\"$_name\", \"probe\"] = count(); }"
		fi
		if [ "$_name" != "$wrapped" ] || returns_of "$_name"; then
			echo "kretfunc:$_name { @hits[\"$_name\", \"out\"] = count(); }"
		fi
	done >/run/bpf.bt
	cat >>/run/bpf.bt <<-END
		interval:s:1 { printf("running\n"); print(@hits); }
	END
	: >/run/bpf.out
	bpftrace -B line /run/bpf.bt >/run/bpf.out 2>&1 &
	bpf=$!
	# bpftrace starts a compiler, which takes long under emulation.
	wait_for 400 bpf_running && alive "$bpf" && grep -q running /run/bpf.out && return
	cat /run/bpf.out
	return 1
}
# The smallest of the last counts at entry, at exit and of the kprobe, of those that there are.
bpf_count() {
	awk -v name="@hits[$(echo "$1" | cut -d, -f"$2")," '$1 == name { last[$2] = $3 }
		END { for (side in last) if (least == "" || last[side] < least) least = last[side]
		      print least + 0 }' /run/bpf.out
}
bpf_off() { kill -INT "$bpf" && wait_for 60 dead "$bpf"; }

# theirs_go_on NAME KIND FUNCTIONS: each has counted, and counts on.
theirs_go_on() {
	_index=0
	for _function in $(echo "$3" | tr , ' '); do
		_index=$((_index + 1))
		_count=$("$2_count" "$3" $_index)
		check "$1: theirs of $_function counts" \
			wait_for 40 grown "${_count:-0}" "$2_count" "$3" $_index
	done
}

# theirs_load NAME KIND FUNCTIONS: NAME is the check that fails if theirs does not load.
theirs_load() {
	"$2_on" "$3" >/run/said 2>&1 && return
	fail "$1" "$(tail -n 2 /run/said)"
	# Undo the part that has loaded.
	"$2_off" 2>/dev/null
	return 1
}

# Theirs above ours: on all functions at once, and in make soak on one function after another.
# BPF comes on all at once only, and before ours in make soak only, because a compiler that is
# emulated takes a minute to start.
after() {
	ours_on "after"
	for kind in patch kprobe $fprobes $(soaked "" "post function graph"); do
		each=$(targets "$kind")
		for function in $(soaked "$each" "$(echo "$each" | tr , ' ')"); do
			name="ours, then their $kind of $function"
			theirs_load "$name loads" "$kind" "$function" || continue
			ok "$name loads"
			theirs_go_on "$name" "$kind" "$function"
			check "$name goes" "${kind}_off"
		done
		ours_go_on "ours, after their $kind"
	done
	if theirs_load "ours, then BPF on all loads" bpf "$(targets bpf)"; then
		ok "ours, then BPF on all loads"
		theirs_go_on "ours, then BPF" bpf "$(targets bpf)"
		ours_go_on "ours, then BPF"
		check "ours, then BPF goes" bpf_off
		ours_go_on "ours, after BPF"
	fi
	ours_off "after"
}

# Theirs at the return of the wrapped function: a return probe, the tracer function_graph, and a BPF
# exit program.  In make soak also before ours.
returns() {
	at_return=1
	for kind in kprobe $(soaked "" "graph bpf"); do
		returns_with "$kind" "ours, then their $kind at the return of $wrapped" after
		[ -z "$thorough" ] ||
			returns_with "$kind" "their $kind at the return of $wrapped, then ours" before
	done
}

# returns_with KIND NAME after|before: theirs comes after ours, or before.
returns_with() {
	[ "$3" = before ] || ours_on "$2"
	if ! theirs_load "$2 loads" "$1" "$wrapped"; then
		[ "$3" = before ] || ours_off "$2"
		return
	fi
	[ "$3" = after ] || ours_on "$2"
	theirs_go_on "$2" "$1" "$wrapped"
	check "$2: our hook drain goes on" wait_for 30 grown "$(hook_hits drain)" hook_hits drain
	_stored=$(counter stored_pages zonelock)
	sleep 5
	same "$2: zonelock stores nothing" "$(counter stored_pages zonelock)" "$_stored"
	check "$2 goes" "$1_off"
	_stored=$(counter stored_pages zonelock)
	check "$2, theirs gone: zonelock stores" wait_for 30 grown "$_stored" counter stored_pages zonelock
	ours_off "$2"
}

before() {
	for kind in patch kprobe $fprobes $(soaked "" "post function graph bpf"); do
		name="their $kind, then ours"
		each=$(targets "$kind")
		theirs_load "$name: it loads" "$kind" "$each" || continue
		ours_on "$name"
		theirs_go_on "$name" "$kind" "$each"
		ours_go_on "$name"
		ours_off "$name"
		theirs_go_on "$name, ours gone again" "$kind" "$each"
		ours_on "$name, again"
		check "$name: theirs goes first" "${kind}_off"
		ours_go_on "$name, theirs gone"
		ours_off "$name, theirs gone"
	done
}

need lmm_load
kernel_scans 100 200 400
# The hooks of ours that count under this load without other tools.
rising=
# The livepatches load without a load, which is quick; in "after" all comes on under load.
ours_on "alone"
# One CPU that is busy half of the time is enough: the other patches code and compiles.
hint_start -p swap -t 1 -m 2 -r 50
calls >/dev/null 2>&1 &
calls=$!
for function in $functions $wrapped; do
	hook=$(hook_of "$function")
	! wait_for 15 grown "$(hook_hits "$hook")" hook_hits "$hook" || rising="$rising $hook"
done
note "our hooks that count under this load:$rising"
check "hint faults are among them" test "${rising#*hint_fault}" != "$rising"
hook_is refill armed || check "requests are among them" test "${rising#*request}" != "$rising"
ours_off "alone"

after
before
returns
none_armed
kill $calls 2>/dev/null
hints_stop
check "unloads" all_out
need umount /run/ext4
