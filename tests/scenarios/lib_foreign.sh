# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Somebody else's livepatch; needs lib.sh.
#
#   foreign_load OPTIONS     load it, and wait until it is in force
#   foreign_number NAME      one of its counts: hits, unanswerable
#   foreign_unload           disable it, wait until it has gone, unload it

foreign=/sys/kernel/livepatch/lmm_foreign

foreign_settled() { [ "$(cat "$foreign/transition")" = 0 ]; }
foreign_gone() { [ ! -e "$foreign" ]; }
foreign_number() { cat "/sys/module/lmm_foreign/parameters/$1"; }

foreign_load() {
	insmod "$LMM_MODDIR/lmm_foreign.ko" "$@" && wait_for 60 foreign_settled
}

foreign_unload() {
	echo 0 >"$foreign/enabled" && wait_for 60 foreign_gone && rmmod lmm_foreign
}
