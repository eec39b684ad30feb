#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: bench.whatif's recordings.  whatif.sh FOLDER SIDE... -- NAME PROGRAM ARGS -- ...
# Each SIDE is TAG=POLICY:SETTINGS+POLICY:SETTINGS, with commas between settings, or "off="; each
# load is run and recorded on each side.
set -eu

folder=$1
shift
sides=
while [ "$1" != -- ]; do
	sides="$sides $1"
	shift
done
shift
livemmctl="/usr/bin/python3 $LMM_ROOT/tools/bin/livemmctl"
debugfs=/sys/kernel/debug/livemm
kmem=/sys/kernel/tracing/events/kmem
export PYTHONDONTWRITEBYTECODE=1

# CPUs that were left out at boot begin only if this one pauses now and then: bench/guest.py.
"$LMM_SPIN" -p spin >/dev/null &
spinner=$!
for cpu in /sys/devices/system/cpu/cpu[1-9]*/online; do
	[ ! -e "$cpu" ] || printf 1 >"$cpu"
done
kill $spinner
wait $spinner || :

policies_off() {
	for policy in pcp zonelock; do
		printf 'enabled=0' >"$debugfs/$policy/config"
	done
	# Lists fall back to their defaults.
	sleep 1
}

modprobe livemm
while [ $# -gt 0 ]; do
	name=$1
	shift
	words=
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		words="$words $1"
		shift
	done
	[ $# = 0 ] || shift
	for side in $sides; do
		run=$folder/$name-${side%%=*}
		# Every run begins with small lists, and with the least bounds: from 6.7 on the kernel
		# tunes lists, and fetches up to 2016 pages at once.  So lists stay small until
		# livemmctl records, when whatif_run.sh lets these be as large as ever.
		"$LMM_TOUCH" -w 128 -r 2 >/dev/null
		echo 1000 >/proc/sys/vm/percpu_pagelist_high_fraction
		"$LMM_TOUCH" -w 4 -r 1 >/dev/null
		echo 1 >/proc/sys/vm/compact_memory
		sleep 1
		case $side in *zonelock:*) insmod "$LMM_LOCKS" ;; esac
		# shellcheck disable=SC2086 # words
		$livemmctl record -o "$run.rec" --seconds 900 -- \
			sh "$LMM_ROOT/bench/whatif_run.sh" "$run" "${side#*=}" $words
		case $side in *zonelock:*)
			for event in mm_page_alloc_zone_locked mm_page_pcpu_drain; do
				cat "$kmem/$event/hist" >"$run.$event"
				printf '!hist:keys=order' >"$kmem/$event/trigger"
			done
			rmmod lmm_locks
			;;
		esac
		policies_off
	done
done
printf 'ok every load is recorded\n' >&3
