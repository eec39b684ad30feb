# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 debug
# timeout: 900
#
# Another livepatch is loaded after our check and before ours is enabled: the program that loads
# our livepatch loads theirs first. Theirs stays in force, and no livepatch of ours lies above
# theirs, not even a livepatch loaded by hand.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

# Theirs runs whenever the function does.
theirs_count() {
	_hits=$(foreign_hits)
	echo 1 >/proc/sys/vm/compact_memory
	check "$1: their hits go on rising" wait_for 20 grown "$_hits" foreign_hits
}

# Of the livepatches in force, does one of ours hold that function?
ours_holds() {
	for _patch in $(patches_enabled); do
		[ ! -d "/sys/kernel/livepatch/$_patch/vmlinux/$1,1" ] || return 0
	done
	return 1
}

# The livepatch module with the wrapper of compaction.
by_hand=livemm_klp_giveback

helper_setup
need lmm_load

# By hand, with theirs in force already: ours does without the function.
need foreign_load function=compact_zone
need insmod "$LMM_MODDIR/$by_hand.ko"
refute "by hand: nothing of ours holds the function" ours_holds compact_zone
theirs_count "by hand"
need lmm_klp_unload
check "theirs can go" foreign_unload

# While our livepatch is being loaded, theirs is still in transition (first) or in force (after).
# The kernel itself refuses our livepatch while theirs is in transition.
for when in first after; do
	helper_mode "$when $LMM_MODDIR/lmm_foreign.ko function=compact_zone" modprobe
	check "$when: zonelock is asked for" write_to "$LMM_DBG/zonelock/enabled" 1
	check "$when: it does not come on, in words" klp_wait tells status \
		"^zonelock +(off|unsupported) .*lmm_foreign"
	note "$when: $(grep ^zonelock "$LMM_DBG/status")"
	helper_mode ""
	check "$when: their livepatch is in force" klp_wait foreign_settled
	check "$when: it comes to rest" klp_wait settled
	refute "$when: nothing of ours holds the function" ours_holds compact_zone
	theirs_count "$when"
	[ "$when" = after ] || need foreign_unload
done
none_armed
check "what does not need it comes on" write_to "$LMM_DBG/pcp/enabled" 1
check "with its hooks" tells hooks '^drain +livepatch .* armed'
theirs_count "beside pcp"
check "zonelock is still refused" sh -c "! echo 1 >$LMM_DBG/zonelock/enabled"
check "supported says why" grep -q "^no: .*lmm_foreign holds compact_zone" "$LMM_DBG/zonelock/supported"
check "theirs can go, beside ours" foreign_unload
need write_to "$LMM_DBG/pcp/enabled" 0
need lmm_klp_unload
check "then pcp comes on" write_to "$LMM_DBG/pcp/enabled" 1
check "and zonelock" write_to "$LMM_DBG/zonelock/enabled" 1
check "its hook is armed" tells hooks '^compact +livepatch .* armed'
check "ours holds the function then" ours_holds compact_zone

# Their livepatch comes later, on top of ours: the policy goes off, and stays off.
need foreign_load function=compact_zone
check "zonelock is off" wait_for 30 policy_is zonelock "(off|unsupported)"
check "and says who is in the way" tells status "^zonelock .*livepatch lmm_foreign"
check "pcp, which does not need it, is on" policy_is pcp on
theirs_count "on top"
need foreign_unload
check "zonelock can be switched on again" write_to "$LMM_DBG/zonelock/enabled" 1
check "it is on" policy_is zonelock on
check "with its hook" tells hooks '^compact +livepatch .* armed'
need all_off
check "unloads" all_out
check "programs were run" test -s "$HELPER/log"
same "every program was run as meant" "$(helper_meant)" ""
