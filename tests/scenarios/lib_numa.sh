# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by the numa scenarios, after lib.sh.
#
#   kernel_scans DELAY MIN MAX   balancing is on; ms of the kernel's own delay and bounds of
#                                the period
#   hint_start [OPTION...]       the load, in the background; its process is $hint
#   hint_stop PID...             end these loads
#   hints_stop                   end all
#   left_out SECONDS             scans let through and scans put off, in so many seconds
#   numa_classes                 pages it has counted, of all classes
#   space_rows [PID]             rows of `state`, or a process's
#   space_field PID N            a column of a process's row
#   space_known PID              has the process an entry?
#   spaces_left                  entries by the counters, and those in `state`
#   spaces_dead                  processes with an entry that are no more
#   scanned_rows                 what the kernel keeps of the loads' scans: process, shortest and
#                                longest period, next scan in ms
#   kernel_rates PID SECONDS     numa_pte_updates and numa_hint_faults of /proc/vmstat in a second
#                                of CPU time of a process, over so many guest seconds
#   growth SECONDS CMD...        by how much a number grows in so many guest seconds

NUMA=$LMM_DBG/numa
KERNEL_NUMA=/sys/kernel/debug/sched/numa_balancing
HINTLOAD=$LMM_ROOT/build/programs/hintload

kernel_scans() {
	# The debug kernel has it off by default.
	need write_to /proc/sys/kernel/numa_balancing 1
	# Each must stay within the others.
	need write_to "$KERNEL_NUMA/scan_period_min_ms" 1
	need write_to "$KERNEL_NUMA/scan_period_max_ms" "$3"
	need write_to "$KERNEL_NUMA/scan_period_min_ms" "$2"
	need write_to "$KERNEL_NUMA/scan_delay_ms" "$1"
}

hint_start() {
	# Below what we do here, which would have a fraction of an emulated CPU else.
	nice -n 19 "$HINTLOAD" "$@" >/dev/null &
	# shellcheck disable=SC2034 # used by scenarios
	hint=$!
}

hint_stop() {
	kill -KILL "$@"
	wait "$@" 2>/dev/null
	return 0
}

hints_stop() {
	pkill -KILL hintload
	wait 2>/dev/null
	return 0
}

numa_classes() { awk '/^(local|remote)_(private|shared) / { sum += $2 } END { print sum }' "$NUMA/counters"; }

space_rows() { awk -v pid="${1:-}" '$1 ~ /^[0-9]+$/ && (pid == "" || $1 == pid)' "$NUMA/state"; }
space_field() { space_rows "$1" | awk -v field="$2" '{ print $field }'; }
space_known() { [ -n "$(space_rows "$1")" ]; }
space_unknown() { ! space_known "$1"; }

# In one process: on a slow kernel each that is begun has an entry, too.
spaces_left() {
	awk '$1 == "mms" { made = $2 }
	     $1 == "mms_gone" { gone = $2 }
	     $1 == "#" { there = $2 }
	     END { print made - gone, there }' "$NUMA/counters" "$NUMA/state"
}

# By the counters, and by the table: the same?
mms_agree() { [ "$(spaces_left | awk '{ print $1 == $2 }')" = 1 ]; }

spaces_dead() {
	space_rows | while read -r _pid _rest; do
		[ -d "/proc/$_pid" ] || echo "$_pid"
	done
}

scanned_rows() {
	loaded lmm_scanned || insmod "$LMM_MODDIR/lmm_scanned.ko"
	cat /sys/module/lmm_scanned/parameters/rows
}

# left_out SECONDS: scans that were let through and scans that were put off, in so many seconds.
# PTE updates tell less: on a slow machine a page is armed again as soon as the page was used.  There
# threads also ask late, so that most scans are due.
left_out() {
	_scans=$(counter scans numa) _put_off=$(counter postponed numa)
	sleep "$1"
	echo $(($(counter scans numa) - _scans)) $(($(counter postponed numa) - _put_off))
}

# A thread asks for a scan by the CPU time that it has had.
cpu_ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }
kernel_rates() {
	_ticks=$(cpu_ticks "$1") _updates=$(vmstat numa_pte_updates) _faults=$(vmstat numa_hint_faults)
	sleep "$2"
	_updates=$(($(vmstat numa_pte_updates) - _updates)) _faults=$(($(vmstat numa_hint_faults) - _faults))
	_ticks=$(($(cpu_ticks "$1") - _ticks + 1))
	echo $((_updates * 100 / _ticks)) $((_faults * 100 / _ticks))
}

growth() {
	_seconds=$1
	shift
	_from=$("$@")
	sleep "$_seconds"
	echo $(($("$@") - _from))
}
