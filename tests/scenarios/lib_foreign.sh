# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Somebody else's livepatch; needs lib.sh.
#
#   foreign_use MODULE       what the others are about: lmm_foreign (default) or lmm_foreign2
#   foreign_load OPTIONS     load it, and wait until it is in force
#   foreign_number NAME      one of its counts: hits (one a function, with commas), unanswerable
#   foreign_hits_past N      is the first of its hits above N?
#   foreign_unload           disable it, wait until it has gone, unload it

foreign_use() {
	foreign_module=$1
	foreign=/sys/kernel/livepatch/$1
}
foreign_use lmm_foreign

foreign_settled() { [ "$(cat "$foreign/transition")" = 0 ]; }
foreign_gone() { [ ! -e "$foreign" ]; }
foreign_number() { cat "/sys/module/$foreign_module/parameters/$1"; }
foreign_hits_past() { [ "$(foreign_number hits | cut -d, -f1)" -gt "$1" ]; }

foreign_load() {
	insmod "$LMM_MODDIR/$foreign_module.ko" "$@" && wait_for 60 foreign_settled
}

foreign_unload() {
	echo 0 >"$foreign/enabled" && wait_for 60 foreign_gone && rmmod "$foreign_module"
}
