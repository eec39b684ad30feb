# SPDX-License-Identifier: GPL-2.0-only
#
# Somebody else's livepatch; needs lib.sh.
#
#   foreign_load OPTIONS     load the module, and wait until its livepatch is in force
#   foreign_number NAME      a count of the module: hits (one a function, with commas), unanswerable
#   foreign_hits             hits of the first function
#   foreign_unload           disable the livepatch, wait for the transition, unload the module

foreign=/sys/kernel/livepatch/lmm_foreign

foreign_settled() { gives 0 cat "$foreign/transition"; }
foreign_number() { cat "/sys/module/lmm_foreign/parameters/$1"; }
foreign_hits() { foreign_number hits | cut -d, -f1; }

foreign_load() {
	insmod "$LMM_MODDIR/lmm_foreign.ko" "$@" && klp_wait foreign_settled
}

foreign_out() { ! loaded lmm_foreign || rmmod lmm_foreign 2>/dev/null; }
foreign_unload() {
	echo 0 >"$foreign/enabled" && klp_wait livepatch_gone lmm_foreign || return 1
	# The kernel lets go of the module a moment after the folder is gone.
	wait_for 10 foreign_out
}
