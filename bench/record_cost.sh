#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: what page faults cost while nobody, and while somebody, records.
# record_cost.sh FOLDER; a line a run: state, load, and what the load program prints.
set -eu

folder=$1
export PYTHONDONTWRITEBYTECODE=1
: >"$folder/cost"

run() {
	_state=$1
	shift
	for _load in "-w 256K -r 500" "-w 64 -r 6"; do
		# shellcheck disable=SC2086 # words
		"$@" "$LMM_TOUCH" $_load >/run/said
		printf '%s|%s|%s\n' "$_state" "$_load" "$(grep '^{' /run/said)" >>"$folder/cost"
	done
}

"$LMM_TOUCH" -w 64 -r 4 >/dev/null
run "not loaded" env
modprobe livemm
run "loaded" env
run "recording" /usr/bin/python3 "$LMM_ROOT/tools/bin/livemmctl" record -o "$folder/cost.rec" \
	--seconds 900 --
run "after" env
printf 'ok every state is measured\n' >&3
