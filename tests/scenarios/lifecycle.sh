# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1 6.12 7.2 debug
# guest: shared
# timeout: 900
# args: transparent_hugepage=never
#
# A policy is on while its mode, a sysctl, the CPUs and the memory blocks change.
. "$LMM_ROOT/tests/scenarios/lib.sh"

fraction=/proc/sys/vm/percpu_pagelist_high_fraction
settings=enabled=1,period_ms=100,decay_ms=800
need lmm_load "policies=pcp:mode=depth,$settings"
load_start

shown_as() { state_rows | awk -v why="$1" '$10 != why { exit 1 }'; }

check "lists are raised" wait_for 60 lists_raised
check "the mode changes under load" write_to "$LMM_DBG/pcp/mode" event
check "lists are raised in the new mode" wait_for 60 lists_raised
need write_to "$fraction" 16
check "hands off when the admin has set the sysctl" wait_for 30 shown_as sysctl
check "status says so" tells status "percpu_pagelist_high_fraction"
set_by_sysctl=$(lists_bounds)
rmmod livemm
same "the sysctl's bounds are what stands" "$(lists_bounds)" "$set_by_sysctl"
need lmm_load "policies=pcp:mode=event,$settings"
need write_to "$fraction" 0
check "and on again when it is cleared" wait_for 60 lists_raised

if [ -w /sys/devices/system/cpu/cpu1/online ]; then
	need write_to /sys/devices/system/cpu/cpu1/online 0
	sleep 1
	need write_to /sys/devices/system/cpu/cpu1/online 1
	check "a CPU can go and come back" wait_for 60 lists_raised
else
	fail "CPU 1 can go offline" "no such file"
fi

if gone=$(memory_offline ""); then
	check "a block of memory went offline" grep -q offline "$gone/state"
	check "and comes back" write_to "$gone/state" online
	check "lists are raised after it" wait_for 60 lists_raised
else
	fail "a block of memory can go offline" "the kernel let none go"
fi
load_stop
check "idle lists go back to their default" wait_for 60 lists_idle
check "switches off" write_to "$LMM_DBG/pcp/enabled" 0
# Memory that went and came may have changed the defaults.
same "every list has the kernel's own bound" "$(lists_changed)" ""
check "unloads" lmm_unload
