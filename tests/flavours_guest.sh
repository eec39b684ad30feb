#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# On another build of a kernel: livemm loads, each policy that is supported goes on and off under
# load, and livemm unloads.  On a realtime kernel the modules of its series do not load.
# tests/flavours.py boots the guest, and reads the notes.
set -u
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

# The shell is busybox, and would run its own modprobe; it has no pkill.
modprobe() { /sbin/modprobe "$@"; }
pkill() { killall "$@"; }

same "kernel release" "$(uname -r)" "$LMM_RELEASE"
same "CPUs" "$(grep -c ^processor /proc/cpuinfo)" "$LMM_CPUS"

logged() { dmesg | grep -Eq "livemm.*: .*$1"; }

# No module can be built here: these are of the same series.
if [ "$LMM_OUTCOME" = refused ]; then
	for module in livemm livemm_klp_lists livemm_klp_giveback livemm_klp_fallback livemm_record; do
		dmesg -c >/dev/null
		refute "$module does not load" insmod "$LMM_MODDIR/$module.ko"
		check "$module: the log says why" logged "(disagrees about version|version magic)"
		note "$(dmesg | grep livemm | tail -n 1)"
		refute "$module is not there" loaded "$module"
	done
	exit
fi

# shellcheck disable=SC2119 # no parameters of the module
if ! lmm_load; then
	[ "$LMM_OUTCOME" = unknown ] || need loaded livemm
	check "the log says why livemm does not load" logged "not loaded: "
	exit
fi

hooks_that_are() { awk -v state="$1" '$4 == state { printf "%s ", $1 }' "$LMM_DBG/hooks"; }
all_hits() { awk '$4 == "armed" { sum += $5 } END { print sum + 0 }' "$LMM_DBG/hooks"; }
hooks_quiet() { [ -z "$(armed)" ]; }

note "hooks unavailable: $(hooks_that_are unavailable)"
grep ' unavailable ' "$LMM_DBG/hooks"
same "hooks left out without a reason" \
	"$(awk '$4 == "unavailable" && (NF < 7 || $7 == "-")' "$LMM_DBG/hooks")" ""
supported=
for policy in zonelock cma pcp pageblock numa; do
	case $(cat "$LMM_DBG/$policy/supported") in
	yes) supported="$supported $policy" ;;
	"no: "?*) note "$policy: $(cat "$LMM_DBG/$policy/supported")" ;;
	*) fail "$policy says whether it is supported" "$(cat "$LMM_DBG/$policy/supported")" ;;
	esac
done
note "supported:$supported"
check "a policy is supported" test -n "$supported"
none_armed "at first: "
bounds=$(lists_bounds)

# The work that a policy is there for.
work() {
	case $1 in
	cma)
		need write_to /sys/kernel/debug/lmm_owner/reserved/alloc 1024
		need write_to /sys/kernel/debug/lmm_owner/reserved/free 1024
		;;
	# More than the blocks of the kernel's own pages have.
	pageblock)
		need insmod "$LMM_MODDIR/lmm_holes.ko" pages=16384
		need rmmod lmm_holes
		;;
	# From now on.
	numa)
		"$LMM_ROOT/build/programs/hintload" -p swap -t 1 -m 4 >/dev/null &
		check "numa: scans are counted" wait_for 60 grown 0 counter scans numa
		;;
	esac
}

at_rest() {
	check "$1: comes to rest" wait_for 60 settled
	none_armed "$1: "
	same "$1: list bounds are as before" "$(lists_bounds)" "$bounds"
}

case $supported in *cma*) need insmod "$LMM_MODDIR/lmm_owner.ko" ;; esac
# A CPU that rests now and then, and one that is free: emulated CPUs take turns, and the kernel
# waits for a turn of each busy one when it patches code.
LOAD_PROCS=1 LOAD_ROUNDS="-w 16 -F 60" load_start
for policy in $supported; do
	check "$policy comes on" write_to "$LMM_DBG/$policy/enabled" 1
	check "$policy is on" wait_for 60 policy_is "$policy" on
	note "armed by $policy: $(hooks_that_are armed)"
	refute "$policy: hooks are armed" hooks_quiet
	hits=$(all_hits)
	work "$policy"
	check "$policy: the kernel calls hooks" wait_for 60 grown "$hits" all_hits
	check "$policy goes off" write_to "$LMM_DBG/$policy/enabled" 0
	at_rest "$policy"
done

for policy in $supported; do
	check "together: $policy comes on" write_to "$LMM_DBG/$policy/enabled" 1
done
for policy in $supported; do
	check "together: $policy is on" wait_for 60 policy_is "$policy" on
done
hits=$(all_hits)
check "together: the kernel calls hooks" wait_for 60 grown "$hits" all_hits
sleep 3
check "together: all go off" all_off
at_rest together
pkill hintload
load_stop
! loaded lmm_owner || need rmmod lmm_owner
check "unloads" lmm_unload
check "loads again" lmm_load
check "unloads again" lmm_unload
