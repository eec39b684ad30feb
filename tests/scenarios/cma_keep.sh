# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# memory: 1G
# args: cma=256M transparent_hugepage=never
#
# A kernel with CMA whose refills cannot be hooked. Mode ratio is refused in words. Mode keep needs
# no livepatch, keeps released memory for the owner, and counts allocations.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_cma.sh"

need lmm_load
need modprobe lmm_owner
# kcompactd's pages would count as the owner's.
need write_to /proc/sys/vm/compaction_proactiveness 0
same "supported" "$(cat "$policy/supported")" yes
refuses "$policy/config" "enabled=1 mode=ratio" "Operation not supported" \
	"cma/mode: ratio: refills of the lists cannot be hooked on this kernel"
check "goes on" write_to "$policy/enabled" 1
need write_to "$policy/config" "keep_ms=0 move_pages_per_s=0"
refuses "$policy/mode" ratio "Operation not supported" "cma/mode: ratio: refills"
same "and the default stays" "$(cat "$policy/mode")" keep
refute "no livepatch for it" any_klp_loaded
hooks_armed cma_start cma_busy cma_finish cma_release buffer wake_kswapd
check "status says where refills come from" \
	tells status '^cma +on +keep +refills come from where the kernel takes them; no page is moved to CMA memory$'
name=$(awk 'NR == 2 { print $1 }' "$policy/state")
check "the area is known" grep -Eq "^$name +0 +[A-Z]+[A-Z0-9]* +65536 " "$policy/state"

# The kernel lends what is over half of the free memory; so much of that is left.
fill_until() {
	_part=0
	while [ "$(meminfo CmaFree)" -gt $(($1 * 1024)) ] && [ "$_part" -lt 60 ]; do
		fill "part$_part" 16
		_part=$((_part + 1))
	done
}

migrated_for reserved 8192 >/dev/null
fill_until 48
lent=$(migrated_for reserved 8192)
check "what was lent is moved for its owner: $lent pages" test "$lent" -gt 2000
rm /mnt/part*
need write_to "$policy/keep_ms" 60000
migrated_for reserved 8192 >/dev/null
check "what it has released is kept" wait_for 10 grown 8191 area "$name" 5
check "a knob that has nothing to do with it is written" write_to "$policy/config" "keep_ms=60000"
same "and it is kept on" "$(area "$name" 5)" 8192
fill_until 48
kept=$(migrated_for reserved 8192)
note "pages migrated for 32 MiB: $lent, kept $kept; counters: $(tr '\n' ' ' <"$policy/counters")"
# A block or two are lent before the rest of the range is behind all others.
check "kept, less is moved for it: $kept pages" test "$kept" -lt $((lent / 2))
same "each was counted" "$(counter allocs cma) $(area "$name" 6)" "4 4"
refute "more than there is" take reserved 70000
same "is a failure" "$(counter failures cma) $(area "$name" 8)" "1 1"
rm /mnt/part*

check "switches off" write_to "$policy/enabled" 0
need rmmod lmm_owner
check "unloads" lmm_unload
