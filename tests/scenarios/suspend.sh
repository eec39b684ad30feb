# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 debug
# timeout: 900
#
# The machine goes to sleep while a livepatch transition stalls and a writer waits for the
# livepatch: tasks freeze, and the writer goes on afterwards.  A lease counts the time asleep.
#
# A root on 9p would not survive a sleep, so tasks only freeze and thaw here (pm_test), and
# lmm_asleep moves the clocks.  tests/sleep.py suspends a guest to idle in earnest.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

# freeze NAME: all tasks freeze, and thaw.
freeze() {
	_from=$(uptime_ms)
	check "$1: tasks freeze" write_to /sys/power/state freeze
	note "$1: froze and thawed in $(($(uptime_ms) - _from)) ms"
}

helper_setup
need grep -q freeze /sys/power/state
need write_to /sys/power/pm_test freezer
# An emulated delay may take five times as long.
need write_to /sys/module/suspend/parameters/pm_test_delay 1
need lmm_load transition_timeout_ms=20000
freeze "nothing under way"

need insmod "$LMM_MODDIR/lmm_stall.ko"
writer_start "$LMM_DBG/pcp/enabled" 1
need wait_for 20 stalls
freeze "a transition stalls"
check "the writer waits on" alive $writer
freeze "again"
need rmmod lmm_stall
check "it is through" wait_for 40 patches_quiet
writer_back "the writer comes back, and well"
check "pcp is on" policy_is pcp on
need all_off
need wait_for 60 settled
need all_out

# The kernel does not sleep while the kernel waits for a program (usermodehelper_disable()).
# livemm therefore waits for a program itself, and a hanging program does not stop the sleep.
need lmm_load
helper_mode hang modprobe
writer_start "$LMM_DBG/pcp/enabled" 1
need wait_for 20 helper_runs
write_to /sys/power/state freeze 2>/dev/null
note "a program hangs: to freeze had status $?"
same "no task of ours refused to freeze" "$(dmesg | grep -c "refusing to freeze")" 0
kill -KILL $writer
helper_end
need wait_for 60 settled
helper_back

# A lease counts the time asleep.
need write_to "$LMM_DBG/pcp/enabled" 1
need write_to "$LMM_DBG/lease" 600
need insmod "$LMM_MODDIR/lmm_asleep.ko"
before=$(uptime_ms)
need write_to /sys/module/lmm_asleep/parameters/seconds 500
check "the boot clock has moved" test $(($(uptime_ms) - before)) -ge 500000
need write_to /sys/power/state freeze
left=$(cat "$LMM_DBG/lease")
note "of 600 s, after 500 s asleep, $left s are left"
check "a lease counts the time asleep" test "$left" -gt 0 -a "$left" -le 100
check "and has not ended yet" policy_is pcp on
need write_to /sys/module/lmm_asleep/parameters/seconds 500
need write_to /sys/power/state freeze
check "it ends when the machine wakes too late" wait_for 5 policy_is pcp off
same "and is none" "$(cat "$LMM_DBG/lease")" 0
need rmmod lmm_asleep
need write_to /sys/power/pm_test none
need wait_for 60 settled
check "unloads" all_out
