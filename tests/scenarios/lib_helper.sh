# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after lib.sh by scenarios in which the program that the kernel runs for us misbehaves.  In
# the guest /sbin/modprobe becomes tests/programs/fakehelper.c; scenarios themselves call the host's
# own modprobe.
#
#   helper_setup                put the stand-ins in their place
#   helper_mode WORDS [NAME]    what the stand-ins do, see fakehelper.c; NAME: modprobe or rmmod only
#   helper_gone NAME...         these programs are absent from now on
#   helper_barred NAME          the program is there and may not be run
#   helper_back                 both programs are there and do the real thing
#   helper_runs [NAME]          does a program run now?
#   helper_idle                 does no program run now?
#   helper_end                  kill every program that runs
#   helper_meant                every line of the log has the right arguments; else print the wrong lines
#
# Livepatches of ours and policies:
#
#   patches                     names of our livepatches in force or under way
#   patches_enabled             those of them that are enabled
#   stalls                      is a transition of our livepatches under way?  patches_quiet: is none?
#   settled                     is no policy waiting, loading or leaving, and no transition under way?
#   traceable FUNCTION          can a livepatch or a probe have the function?
#   all_off                     write 0 to every policy that is not off
#   all_out                     unload livemm and all its livepatches, in any state
#   writer_start FILE TEXT      a process $writer that writes TEXT to the file
#   writer_back NAME            a check: the writer ends, and its write has succeeded
#   in_time MS NAME CMD...      a check: CMD succeeds within so many guest milliseconds
#   alive PID, dead PID         does the process run (a zombie does not)?

HELPER=/run/helper

helper_setup() {
	need mkdir -p "$HELPER" /run/real-sbin /run/sbin
	need cp "$(readlink -f /sbin/modprobe)" "$HELPER/kmod"
	need cp "$LMM_ROOT/build/programs/fakehelper" "$HELPER/fakehelper"
	need cp "$LMM_ROOT/build/programs/killwriters" "$HELPER/killwriters"
	echo "$LMM_MODDIR" >"$HELPER/modules"
	# Ours come first in PATH, so that scenarios do not meet the stand-ins.
	_first=${PATH%%:*}
	for _name in modprobe rmmod insmod lsmod modinfo; do
		need ln -sf "$HELPER/kmod" "$_first/$_name"
	done
	: >"$HELPER/log"
	need mount --bind /usr/sbin /run/real-sbin
	need ln -s /run/real-sbin/* /run/sbin/
	need ln -sf "$HELPER/modprobe" "$HELPER/rmmod" /run/sbin/
	helper_back
	need mount --bind /run/sbin /usr/sbin
}

helper_mode() {
	if [ -n "${2:-}" ]; then
		echo "$1" >"$HELPER/mode.$2"
	else
		rm -f "$HELPER/mode.modprobe" "$HELPER/mode.rmmod"
		echo "$1" >"$HELPER/mode"
	fi
}

helper_gone() { (cd "$HELPER" && rm -f "$@"); }
helper_barred() { chmod 0600 "$HELPER/$1"; }

helper_back() {
	helper_mode ""
	for _name in modprobe rmmod; do
		# By another name first: one that runs cannot be written to.
		cp "$HELPER/fakehelper" "$HELPER/$_name.new"
		mv "$HELPER/$_name.new" "$HELPER/$_name"
	done
}

# By name: the scenario itself runs no modprobe or rmmod meanwhile.
helper_pids() {
	for _comm in /proc/[0-9]*/comm; do
		{ read -r _name <"$_comm"; } 2>/dev/null || continue
		case ${1:-any}:$_name in
		any:modprobe | any:rmmod | any:kmod | modprobe:modprobe | rmmod:rmmod)
			_pid=${_comm%/comm}
			echo "${_pid#/proc/}"
			;;
		esac
	done
}

helper_runs() { [ -n "$(helper_pids "${1:-any}")" ]; }
helper_idle() { ! helper_runs any; }

helper_end() {
	for _pid in $(helper_pids any); do
		kill -KILL "$_pid" 2>/dev/null
	done
	wait_for 20 helper_idle
}

# The kernel itself runs modprobe too, with -q.
helper_meant() {
	awk '
	BEGIN { env = "^e[|]HOME=/[|]TERM=linux[|]PATH=/sbin:/usr/sbin:/bin:/usr/bin$" }
	$3 == "|end" && NF == 3 { next }
	$3 ~ /^[|]\/sbin\/modprobe[|]-q[|]--[|][^|]+$/ && $4 ~ env { next }
	{ print; found = 1 }
	END { exit found }' "$HELPER/log"
}

patches() {
	for _patch in /sys/kernel/livepatch/livemm_klp*; do
		[ ! -d "$_patch" ] || echo "${_patch##*/}"
	done
}

patches_enabled() {
	for _patch in $(patches); do
		! gives 1 cat "/sys/kernel/livepatch/$_patch/enabled" 2>/dev/null || echo "$_patch"
	done
}

stalls() { grep -qs 1 /sys/kernel/livepatch/livemm_klp*/transition; }
patches_quiet() { ! stalls; }

settled() { ! tells status '^[a-z]+ +(waiting|loading|leaving)( |$)' && patches_quiet && helper_idle; }

traceable() { grep -qx "$1" /sys/kernel/tracing/available_filter_functions; }

all_off() {
	for _enabled in "$LMM_DBG"/*/enabled; do
		_policy=${_enabled%/enabled}
		policy_is "${_policy##*/}" "(off|unsupported)" || echo 0 >"$_enabled" || return 1
	done
}

all_out() {
	! loaded livemm || all_off || return 1
	lmm_klp_unload && wait_for 30 unloaded livemm
}

# In a subshell nobody reaps a child of the scenario's: one that has ended has no program.
alive() { [ -e "/proc/$1/exe" ]; }
dead() { ! alive "$1"; }

writer_start() {
	write_to "$1" "$2" >/run/said 2>&1 &
	writer=$!
}

writer_back() {
	if wait "$writer"; then
		ok "$1"
	else
		fail "$1" "$(cat /run/said) $(cat "$LMM_DBG/last_error")"
	fi
}

in_time() {
	_limit=$1 _what=$2
	shift 2
	_from=$(uptime_ms)
	# A process that cannot be killed is left behind.
	"$@" >/run/in_time 2>&1 &
	_job=$!
	while alive "$_job" && [ $(($(uptime_ms) - _from)) -le $((_limit + 200)) ]; do
		sleep 0.05
	done
	_waited=$(($(uptime_ms) - _from))
	if alive "$_job"; then
		fail "$_what" "not done after $_waited ms: $*"
		kill -KILL "$_job" 2>/dev/null
	elif ! wait "$_job"; then
		fail "$_what" "$*: $(tail -n 2 /run/in_time)"
	else
		ok "$_what"
	fi
}
