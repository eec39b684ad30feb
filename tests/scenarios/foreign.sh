# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1
# guest: shared
# args: transparent_hugepage=never
#
# Another livepatch replaces a function that ours wraps. Theirs stays in force, `hooks` shows the
# conflict, and the rest of the policy works. Then theirs is loaded above ours. The same with a
# cumulative livepatch, and with a kprobe that has a post_handler.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_foreign.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

hooks_are() {
	for _hook in $1; do
		hook_is "$_hook" "$2" || return 1
	done
}

# give_back CMD: have the policy lower the bound of lists that are full: drains by the
# policy, and hits of theirs, which CMD prints.
give_back() {
	need write_to "$LMM_DBG/pcp/high_max_pct" 12.5
	load_start
	need wait_for 60 lists_raised
	load_stop
	# A process that ends would have the kernel drain lists, and so would more than a list may
	# hold.
	need dd if=/dev/zero of=/dev/shm/lmm bs=1M count=16 status=none
	rm /dev/shm/lmm
	drains=$(counter drains) hits=$("$1")
	need write_to "$LMM_DBG/pcp/high_max_pct" 1
	wait_for 20 grown $((drains + 3)) counter drains
	drains=$(($(counter drains) - drains)) hits=$(($("$1") - hits))
}
# The same, until the policy has drained a few times.
policy_gives_back() {
	for _try in 1 2 3 4 5; do
		give_back "$1"
		[ "$drains" -lt 4 ] || break
	done
}

need foreign_load
need lmm_load
check "drain is unavailable and says why" tells hooks \
	"^drain .* unavailable .*livepatch lmm_foreign holds free_pcppages_bulk"
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" "livepatch lmm_foreign holds"
check "mode depth goes on without it" write_to "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
load_start
check "page hooks count" wait_for 30 grown 0 hook_hits page_alloc
# Deep lists may go without a drain for minutes; a CPU that leaves drains its own.
hits=$(foreign_number hits)
need write_to /sys/devices/system/cpu/cpu1/online 0
check "their livepatch still runs" test "$(foreign_number hits)" -gt "$hits"
need write_to /sys/devices/system/cpu/cpu1/online 1
need write_to "$LMM_DBG/pcp/enabled" 0
need lmm_unload
need foreign_unload

need foreign_load replace=1
need lmm_load
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" \
	"hook drain: livepatch lmm_foreign holds free_pcppages_bulk"
need lmm_unload
need foreign_unload

need lmm_load policies=pcp:enabled=1
check "without it drain is armed" tells hooks "^drain .* armed"
# A cumulative livepatch of theirs takes ours out behind our back.
need foreign_load replace=1
check "the policy is off, and says why" klp_wait tells status '^pcp +off +event .*hook drain: .*(lmm_foreign|replaced)'
refute "drain is no longer armed" tells hooks "^drain .* armed"
check "and pcp can still be switched off" write_to "$LMM_DBG/pcp/enabled" 0
load_stop
check "unloads" lmm_unload
check "theirs can go" foreign_unload

# Mode depth goes on without the hook while theirs holds the function, and gets the hook back.
need lmm_load policies=pcp:enabled=1,mode=depth
check "mode depth uses drain" wait_for 30 hook_is drain armed
need foreign_load
check "theirs covers drain" wait_for 30 hook_is drain unavailable
check "pcp goes on without drain" wait_for 10 policy_is pcp on
# What the policy itself gives back goes through theirs, too.
policy_gives_back foreign_hits
note "while theirs holds drain: $drains drains by the policy, $hits calls of theirs"
check "the policy drains lists" test "$drains" -ge 4
check "by way of theirs" test "$hits" -ge "$drains"
check "theirs goes" foreign_unload
check "drain is armed again" wait_for 30 hook_is drain armed
check "pcp is on" wait_for 10 policy_is pcp on
# A policy that requires the function goes off and stays off.
need write_to "$LMM_DBG/pcp/mode" event
need foreign_load
check "mode event is off, and says why" wait_for 30 tells status \
	'^pcp +off +event .*livepatch lmm_foreign holds free_pcppages_bulk'
same "enabled reads 0" "$(cat "$LMM_DBG/pcp/enabled")" 0
need foreign_unload
sleep 3
check "it stays off when theirs has gone" policy_is pcp off
check "and can be switched on" write_to "$LMM_DBG/pcp/enabled" 1
check "with drain" hook_is drain armed
check "unloads again" lmm_unload

# A cumulative livepatch of theirs on a function with a direct call of ours: before us both work;
# after us the kernel disables every livepatch of ours, whatever the function.
need foreign_load replace=1 function=get_page_from_freelist
need lmm_load policies=pageblock:enabled=1
hits=$(foreign_number hits)
check "pageblock is on beside their cumulative livepatch" hooks_are "fallback request" armed
check "theirs counts" wait_for 30 grown "$hits" foreign_hits
check "it goes" foreign_unload
check "pageblock is on" policy_is pageblock on
need foreign_load replace=1 function=get_page_from_freelist
check "after ours: pageblock is off" klp_wait tells status '^pageblock +off .*disabled or replaced'
hits=$(foreign_number hits)
check "theirs counts on" wait_for 30 grown "$hits" foreign_hits
need foreign_unload
refuses "$LMM_DBG/pageblock/enabled" 1 "Device or resource busy" "unload it (rmmod) and try again"
need lmm_klp_unload
check "then write 1: pageblock is on again" write_to "$LMM_DBG/pageblock/enabled" 1
check "with its hooks" hooks_are "fallback request" armed
check "unloads after that" lmm_unload

# A kprobe with a post_handler and a livepatch: the kernel refuses the later one.
probe_load() { insmod "$LMM_MODDIR/lmm_probe.ko" "$@"; }
probe_hits() { cut -d, -f1 /sys/module/lmm_probe/parameters/hits; }
probe_words="a kprobe with a post_handler holds"

need probe_load function=free_pcppages_bulk,find_suitable_fallback post=1
need lmm_load
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" \
	"hook drain: $probe_words free_pcppages_bulk; remove that first"
check "hooks says so" tells hooks "^drain .* unavailable .*$probe_words free_pcppages_bulk"
refuses "$LMM_DBG/pageblock/enabled" 1 "Operation not supported" \
	"hook fallback: $probe_words find_suitable_fallback; remove that first"
check "supported says so" grep -q "^no: hook fallback: $probe_words" "$LMM_DBG/pageblock/supported"
check "status says so" tells status "^pageblock +unsupported .*$probe_words"
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" "$probe_words free_pcppages_bulk"
check "mode depth does without drain" write_to "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
check "with its other hooks" hook_is page_alloc armed
load_start
need write_to /sys/devices/system/cpu/cpu1/online 0
check "the kprobe counts" wait_for 30 grown 0 probe_hits
need write_to /sys/devices/system/cpu/cpu1/online 1
load_stop
# A policy that is on holds the livepatch, which lacks drain.
need write_to "$LMM_DBG/pcp/enabled" 0
need klp_wait settled
check "the kprobe goes" rmmod lmm_probe
# Whoever switches on has livemm look anew.
need lmm_klp_unload
check "pcp has drain" write_to "$LMM_DBG/pcp/config" "enabled=1 mode=event"
check "pageblock is supported" grep -q "^yes" "$LMM_DBG/pageblock/supported"
check "drain is armed" hook_is drain armed

refute "a kprobe with a post_handler is refused after ours" probe_load post=1
check "the kernel says busy" expr "$_out" : ".*[Bb]usy"
check "a kprobe without a post_handler is not" probe_load
check "drain is armed beside the kprobe" hook_is drain armed
need rmmod lmm_probe
check "drain stays armed" hook_is drain armed
# What livemm drains begins behind its own wrapper, and so behind the kprobe.  From 6.7 on the kernel
# drains lists each second, and such drains are hits, too; there the KUnit suite of flow has the case.
need probe_load
if ! tunes; then
	need write_to "$LMM_DBG/pcp/config" "mode=depth"
	for _try in 1 2 3 4 5; do
		policy_gives_back probe_hits
		[ "$drains" -lt 4 ] || [ $((hits * 2)) -ge "$drains" ] || break
	done
	# By way of the wrapper, each would count as two drains and one hit.
	note "with the wrapper: $drains drains by the policy, $hits hits of the kprobe"
	check "the policy drains past its own wrapper" \
		test "$drains" -ge 4 -a $((hits * 2)) -lt "$drains"
fi
need rmmod lmm_probe
check "unloads beside kprobes" lmm_unload

# Without a wrapper at the function, what livemm drains passes whatever else is there.
need lmm_load livepatch=0
need probe_load function=free_pcppages_bulk post=1
need write_to "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
policy_gives_back probe_hits
note "livepatch=0: $drains drains by the policy, $hits hits of the kprobe"
check "livepatch=0: the policy drains lists" test "$drains" -ge 4
tunes || check "livepatch=0: by way of the kprobe" test "$hits" -ge "$drains"
check "livepatch=0: unloads" lmm_unload
need rmmod lmm_probe

# On a function that the policy can do without.
if traceable rmqueue_bulk; then
	need probe_load function=rmqueue_bulk post=1
	need lmm_load
	check "pcp comes on without refill" write_to "$LMM_DBG/pcp/enabled" 1
	check "refill says why" tells hooks "^refill .* unavailable .*$probe_words rmqueue_bulk"
	check "drain is armed all the same" hook_is drain armed
	need rmmod lmm_probe
	need write_to "$LMM_DBG/pcp/enabled" 0
	need lmm_klp_unload
	check "pcp comes on again" write_to "$LMM_DBG/pcp/enabled" 1
	check "with refill" hook_is refill armed
	check "unloads in the end" lmm_unload
else
	note "this kernel has no rmqueue_bulk to probe"
fi
