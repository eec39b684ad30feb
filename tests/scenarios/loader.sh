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

# By hand, with theirs in force already.
need foreign_load function=compact_zone
refute "ours, by hand, is refused above theirs" \
	insmod "$LMM_MODDIR/$by_hand.ko" functions=compact_zone
refute "nothing of ours holds the function" ours_holds compact_zone
theirs_count "by hand"
! loaded "$by_hand" || all_out
check "theirs can go" foreign_unload
loaded livemm || need lmm_load

# While our livepatch is being loaded, theirs is still in transition (first) or in force (after).
# The kernel itself refuses our livepatch while theirs is in transition.
for when in first after; do
	helper_mode "$when $LMM_MODDIR/lmm_foreign.ko function=compact_zone" modprobe
	refute "$when: zonelock is refused" write_to "$LMM_DBG/zonelock/enabled" 1
	said=$_out
	note "$when: $said; last_error: $(cat "$LMM_DBG/last_error")"
	check "$when: in words" tells last_error "^zonelock/enabled: "
	helper_mode ""
	check "$when: their livepatch is in force" klp_wait foreign_settled
	check "$when: zonelock is off" klp_wait policy_is zonelock "(off|unsupported)"
	check "$when: it comes to rest" klp_wait settled
	refute "$when: nothing of ours holds the function" ours_holds compact_zone
	theirs_count "$when"
	[ "$when" = after ] || need foreign_unload
done
check "the errno says so too" expr "$said" : ".*\(busy\|not supported\)"
check "and the words who" tells last_error "livepatch lmm_foreign holds compact_zone"
none_armed
check "what does not need it comes on" write_to "$LMM_DBG/pcp/enabled" 1
check "with its hooks" tells hooks '^drain +livepatch .* armed'
theirs_count "beside pcp"
check "zonelock is still refused" sh -c "! echo 1 >$LMM_DBG/zonelock/enabled"
check "supported says why" grep -q "^no: .*lmm_foreign holds compact_zone" "$LMM_DBG/zonelock/supported"
check "theirs can go, beside ours" foreign_unload
check "then zonelock comes on" write_to "$LMM_DBG/zonelock/enabled" 1
check "its hook is armed" tells hooks '^compact +livepatch .* armed'
check "ours holds the function then" ours_holds compact_zone

# Their livepatch comes later, on top of ours: the policy stands by, and comes back by itself.
need foreign_load function=compact_zone
check "zonelock stands by" wait_for 30 policy_is zonelock standby
check "and says who is in the way" tells status "^zonelock .*livepatch lmm_foreign"
check "pcp, which does not need it, is on" policy_is pcp on
theirs_count "on top"
need foreign_unload
check "zonelock is back by itself" wait_for 60 policy_is zonelock on
check "with its hook" tells hooks '^compact +livepatch .* armed'
need all_off
check "unloads" all_out
check "programs were run" test -s "$HELPER/log"
same "every program was run as meant" "$(helper_meant)" ""
