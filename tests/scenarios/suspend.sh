# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# kernels: 6.1 6.12
# timeout: 900
#
# The machine is to sleep while a livepatch transition stalls and a writer waits for it: tasks
# freeze, and the writer comes back afterwards.  It sleeps for real in the end; its root is
# not there any more then, so that part runs from memory.
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
need lmm_load transition_timeout_ms=20000
freeze "nothing under way"

need insmod "$LMM_MODDIR/lmm_stall.ko"
write_to "$LMM_DBG/pcp/enabled" 1 >/run/said 2>&1 &
writer=$!
stalls() { grep -qs 1 /sys/kernel/livepatch/livemm_klp*/transition; }
need wait_for 20 stalls
freeze "a transition stalls"
check "the writer waits on" kill -0 $writer
freeze "again"
need rmmod lmm_stall
check "it is through" wait_for 40 patches_quiet
if wait $writer; then
	ok "the writer comes back, and well"
	check "pcp is on" policy_is pcp on
else
	fail "the writer comes back, and well" "$(cat /run/said) $(cat "$LMM_DBG/last_error")"
fi
need all_off
need wait_for 60 settled
need all_out

# While a program hangs.
need lmm_load
helper_mode hang modprobe
write_to "$LMM_DBG/pcp/enabled" 1 >/run/said 2>&1 &
writer=$!
need wait_for 20 helper_runs
freeze "a program hangs"
check "the writer waits for it" kill -0 $writer
kill -KILL $writer
helper_end
need wait_for 60 settled
helper_back

# Asleep for real, with a lease that ends meanwhile.
need write_to "$LMM_DBG/pcp/enabled" 1
need write_to /sys/power/pm_test none
rtc=/sys/class/rtc/rtc0
if [ ! -w $rtc/wakealarm ]; then
	note "no clock to wake the machine: it does not sleep for real"
	need all_off
	check "unloads" all_out
	exit 0
fi
# The guest's root, on 9p, does not outlive that, and virtio's pages of it do not either.
need cp "$LMM_ROOT/build/programs/asleep" /run/asleep
exec /run/asleep "$LMM_DBG" 20 $rtc
