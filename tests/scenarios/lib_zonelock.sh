# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by the scenarios of zonelock, after lib.sh.
#
#   held             pages that the depots hold
#   unaccounted      pages stored that were neither taken nor given back
#   stock [PAGES [MIB]]  have the depots hold more than PAGES (600), by processes of MIB (64); nothing
#                    else may want memory

zonelock=$LMM_DBG/zonelock

held() { awk '$2 == "held_pages" { print $3 }' "$zonelock/state"; }

unaccounted() {
	awk '$1 == "stored_pages" { sum += $2 } $1 == "taken_pages" || /^returned_/ { sum -= $2 }
	     END { print sum + 0 }' "$zonelock/counters"
}

open_all() {
	awk '/^[0-9]/ { n++; if ($8 != "open") found = 1 } END { exit found || !n }' "$zonelock/state"
}

# What processes leave may be less than their lists have room for.
stock() {
	for _try in $(seq 5); do
		wait_for 10 open_all
		hog_hold "${2:-64}" taskset -c 0
		hog_end
		! grown "${1:-600}" held || return 0
	done
	return 1
}
