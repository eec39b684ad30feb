#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: bench.whatif's recordings.  whatif.sh FOLDER SIDE... -- NAME PROGRAM ARGS -- ...
# Each SIDE is "off" or settings of pcp with commas; each load is run and recorded on each side.
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
config=/sys/kernel/debug/livemm/pcp/config
export PYTHONDONTWRITEBYTECODE=1

modprobe livemm
# What the first run leaves behind, the later ones find too.
"$LMM_TOUCH" -w 128 -r 2 >/dev/null
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
		if [ "$side" != off ]; then
			printf '%s' "enabled=1,$side" >$config
			sleep 1
		fi
		# shellcheck disable=SC2086 # words
		$livemmctl record -o "$folder/$name-$side.rec" --seconds 900 -- $words
		printf 'enabled=0' >$config
		# Lists fall back to their defaults.
		sleep 1
	done
done
printf 'ok every load is recorded\n' >&3
