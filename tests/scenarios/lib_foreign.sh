# SPDX-License-Identifier: GPL-2.0-only
#
# Somebody else's livepatch; needs lib.sh.
#
#   foreign_use MODULE       the module of all functions below: lmm_foreign (default) or lmm_foreign2
#   foreign_load OPTIONS     load the module, and wait until its livepatch is in force
#   foreign_number NAME      a count of the module: hits (one a function, with commas), unanswerable
#   foreign_hits             hits of the first function
#   foreign_unload           disable the livepatch, wait for the transition, unload the module

foreign_use() {
	foreign_module=$1
	foreign=/sys/kernel/livepatch/$1
}
foreign_use lmm_foreign

foreign_settled() { gives 0 cat "$foreign/transition"; }
foreign_number() { cat "/sys/module/$foreign_module/parameters/$1"; }
foreign_hits() { foreign_number hits | cut -d, -f1; }

foreign_load() {
	insmod "$LMM_MODDIR/$foreign_module.ko" "$@" && wait_for 60 foreign_settled
}

foreign_unload() {
	echo 0 >"$foreign/enabled" && wait_for 60 livepatch_gone "$foreign_module" &&
		rmmod "$foreign_module"
}
