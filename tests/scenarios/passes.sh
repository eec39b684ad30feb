# SPDX-License-Identifier: GPL-2.0-only
# kernels: 7.2
# named: 6.1 6.12
# guest: shared
# memory: 1G
# timeout: 900
# args: transparent_hugepage=never
#
# One CPU allocates and another CPU frees, with pcp and zonelock both on, and pcp looks at lists
# often. pcp leaves the list of the CPU that frees as the kernel wants that list. What a list gives
# back goes to the depot while the other CPU takes pages from there, and not to the buddy.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

# Lists that two processes have raised, and that give back while the pipe is in use.
passes() {
	"$LMM_ROOT/build/bench/pagetouch" -w 64 -r 4 -p 2 >/dev/null
	send 1024
	[ "$(counter passed_pages zonelock)" -gt 0 ]
}

need lmm_load
sent 256 >/dev/null
base=$(sent 1024)
# However slow the machine is, what is on its way is not taken for old.
need write_to "$zonelock/config" "enabled=1 max_age_ms=10000"
sent 256 >/dev/null
alone=$(sent 2048)
need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=500"
sent 1024 >/dev/null
# On a busy host pcp looks at lists several times as often for a page that is sent.
for _try in 1 2 3; do
	both=$(sent 2048)
	[ $((both * 10)) -ge "$base" ] || break
done
note "pages over zone->lock, of 1000 sent: stock $base, zonelock $alone, both $both"
check "zonelock brings them under a tenth of stock" test $((alone * 10)) -lt "$base"
check "so do both" test $((both * 10)) -lt "$base"
check "lists pass on what they give back" wait_for 60 passes
note "$(tr '\n' ' ' <"$zonelock/counters")"
check "pcp goes off" write_to "$LMM_DBG/pcp/enabled" 0
check "switched off" write_to "$zonelock/enabled" 0
same "all that was stored was taken or went back" "$(unaccounted)" 0
check "unloads" lmm_unload
