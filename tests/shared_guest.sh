# SPDX-License-Identifier: GPL-2.0-only
#
# Runs the scenarios LMM_PARTS in one guest, one after the other.  Each leaves the guest as
# before: nothing of ours is loaded, and no load runs.
. "$LMM_ROOT/tests/scenarios/lib.sh"

nothing_loaded() { ! loaded livemm && ! any_klp_loaded; }
no_load() { ! readlink /proc/[0-9]*/exe | grep "^$LMM_ROOT/build/"; }

# Memory hotplug works min_free_kbytes out anew.
settings() {
	cat /proc/sys/vm/watermark_boost_factor /proc/sys/vm/percpu_pagelist_high_fraction \
		/proc/sys/kernel/threads-max /sys/devices/system/cpu/online
}

before=$(settings)
status=0
# shellcheck disable=SC2153 # of the environment
for part in $LMM_PARTS; do
	echo "part $part" >&3
	sh "$LMM_ROOT/tests/scenarios/$part.sh" || status=1
	echo part >&3
	check "$part: leaves nothing loaded" nothing_loaded
	# A process that was killed may still be on its way out.
	check "$part: leaves no load" wait_for 20 no_load
	same "$part: leaves the kernel's settings" "$(settings)" "$before"
done
[ "$status" = 0 ]
