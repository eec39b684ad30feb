#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine suspends to idle, with nothing under way, while a livepatch transition stalls, while
# the program that loads modules hangs, and with policies on.  A lease counts the time asleep.
# tests/sleep.py presses the key that wakes the machine.
set -u
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

# The shell is busybox, and would run its own modprobe.
modprobe() { /sbin/modprobe "$@"; }

sleeps() { cat /sys/power/suspend_stats/success; }

# A key that comes too early has the kernel give up.
suspend() {
	for _try in $(seq 5); do
		write_to /sys/power/state freeze && return
	done
	return 1
}

# sleep_now NAME: the machine sleeps, once.
sleep_now() {
	_sleeps=$(sleeps)
	check "$1: the machine sleeps and wakes" suspend
	same "$1: the kernel counts one sleep more" "$(sleeps)" $((_sleeps + 1))
}

# The keyboard wakes the machine.
for wakeup in /sys/bus/serio/devices/*/power/wakeup; do
	need write_to "$wakeup" enabled
done
sleep_now "no livemm"
need lmm_load
sleep_now "all off"

need insmod "$LMM_MODDIR/lmm_stall.ko"
need write_only "$LMM_DBG/pcp/enabled" 1
need wait_for 40 stalls
sleep_now "a transition stalls"
check "the transition stalls as before" stalls
check "pcp waits as before" policy_is pcp waiting
sleep_now "and stalls"
need rmmod lmm_stall
check "the transition ends" wait_for 40 patches_quiet
check "pcp comes on" klp_wait policy_is pcp on

for policy in zonelock pageblock; do
	check "$policy comes on" write_to "$LMM_DBG/$policy/enabled" 1
done
need write_to "$LMM_DBG/lease" 600
sleep_now "policies on"
for policy in pcp zonelock pageblock; do
	check "$policy is on after the sleep" policy_is "$policy" on
done
check "with hooks" tells hooks '^drain +livepatch .* armed'
need all_off
check "policies come to rest" wait_for 60 settled
check "unloads" lmm_unload

need lmm_load
: >/run/hang
need write_only "$LMM_DBG/pcp/enabled" 1
need wait_for 20 helper_runs modprobe
sleep_now "a program hangs"
check "the program hangs as before" helper_runs modprobe
check "pcp waits for the program" policy_is pcp waiting
rm /run/hang
check "pcp is on when the program has ended" klp_wait policy_is pcp on
sleep_now "pcp on"

# lmm_asleep moves the clocks as a sleep of so many seconds does.
slept=/sys/module/lmm_asleep/parameters/seconds
need write_to "$LMM_DBG/lease" 600
need insmod "$LMM_MODDIR/lmm_asleep.ko"
before=$(uptime_ms)
need write_to $slept 500
check "the boot clock has moved" test $(($(uptime_ms) - before)) -ge 500000
sleep_now "within the lease"
left=$(cat "$LMM_DBG/lease")
note "of 600 s, after 500 s asleep, $left s are left"
check "a lease counts the time asleep" test "$left" -gt 0 -a "$left" -le 100
check "and has not ended yet" policy_is pcp on
need write_to $slept 500
sleep_now "over the end of the lease"
check "it ends when the machine wakes too late" wait_for 5 policy_is pcp off
same "and is none" "$(cat "$LMM_DBG/lease")" 0
need rmmod lmm_asleep
need all_off
check "pcp comes to rest" wait_for 60 settled
check "unloads again" lmm_unload
