# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# guest: shared
# named: 6.1
# programs: variants
# args: transparent_hugepage=never
#
# A simulated unknown kernel: a hook row with a wrong prototype is refused in words, and the rest
# works. A module built for another release, or another build, does not load.
. "$LMM_ROOT/tests/scenarios/lib.sh"

variants=$LMM_MODDIR/variants
patches_settled() { gives 0 cat /sys/kernel/livepatch/livemm_klp_lists/transition; }

need insmod "$variants/livemm-break-drain.ko"
check "the broken hook is refused in words" tells hooks \
	"^drain .* unavailable .*free_pcppages_bulk: has 'void', expected 'unsigned char'"
check "the others are there" tells hooks '^page_alloc .* idle'
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" "hook drain: free_pcppages_bulk: "
same "pcp is supported in another mode" "$(cat "$LMM_DBG/pcp/supported")" yes
check "and works" write_to "$LMM_DBG/pcp/config" "enabled=1 mode=depth"
# The policy begins anew when the livepatch of refills is in force.
check "hooks are armed" wait_for 20 tells hooks '^page_alloc .* armed'
refuses "$LMM_DBG/pcp/mode" event "Operation not supported" "hook drain: free_pcppages_bulk: "
check "it stays on in the old mode" tells status '^pcp +on +depth'
check "with its hooks" tells hooks '^page_alloc .* armed'
need lmm_unload

need insmod "$variants/livemm-break-page_free.ko"
same "the other way round" "$(cat "$LMM_DBG/pcp/supported")" yes
refuses "$LMM_DBG/pcp/config" "enabled=1 mode=depth" "Operation not supported" "page_free"
check "event works" write_to "$LMM_DBG/pcp/enabled" 1
need lmm_unload

need insmod "$variants/livemm-break-drain_list.ko"
check "without a hook that both modes require pcp is not supported" \
	grep -q "^no: hook drain_list: drain_zone_pages: " "$LMM_DBG/pcp/supported"
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" "drain_list"
check "status says unsupported" tells status '^pcp +unsupported .*drain_list'
need rmmod livemm

need insmod "$variants/livemm-break-high_fraction.ko"
check "a variable of another length is refused in words" tells hooks \
	"^high_fraction .* unavailable .*is no variable of 4096 bytes: [0-9]+ up to the next symbol"
refuses "$LMM_DBG/pcp/enabled" 1 "Operation not supported" "hook high_fraction: percpu_pagelist_high_fraction: is no variable"
same "no other row is" "$(grep -c ' is no variable of ' "$LMM_DBG/hooks")" 1
need rmmod livemm

need insmod "$variants/livemm-break-drain_pages_zone.ko"
check "a function that a caller has inlined is refused in words" tells hooks \
	"^drain_zone .* unavailable .*is called 2 times by __drain_all_pages, expected 3 .inlined there"
refuses "$LMM_DBG/zonelock/enabled" 1 "Operation not supported" "hook drain_zone: drain_pages_zone: is called"
same "no other row is" "$(grep -c ' is called [0-9]* times ' "$LMM_DBG/hooks")" 1
need rmmod livemm

# A livepatch of an older livemm: by the name of ours, and without a link to livemm.
python3 - "$LMM_MODDIR/lmm_foreign.ko" /run/old.ko <<-'END'
	import sys
	code = open(sys.argv[1], "rb").read()
	# As the loader has it: 56 bytes.
	name, ours = (text.ljust(56, b"\0") for text in (b"lmm_foreign", b"livemm_klp_lists"))
	assert code.count(name) == 1
	open(sys.argv[2], "wb").write(code.replace(name, ours))
END
need insmod /run/old.ko function=task_numa_fault
need klp_wait patches_settled
dmesg --clear
refute "beside a livepatch of an older livemm livemm does not load" modprobe livemm
check "and names it" sh -c "dmesg | grep -q 'livemm: livemm_klp_lists of another livemm is loaded'"
need lmm_klp_unload

dmesg --clear
refute "a module for another release does not load" insmod "$variants/livemm-other-release.ko"
check "and names both" sh -c "dmesg | grep -q 'built for kernel 6.1.0-0-other .*, this is $LMM_RELEASE '"
dmesg --clear
refute "nor does one for another build of the same release" insmod "$variants/livemm-other-build.ko"
check "and names both" sh -c "dmesg | grep -q 'for kernel $LMM_RELEASE Debian 6.1.38-2, this is '"
dmesg --clear
refute "nor one that does not know the kernel's distribution" insmod "$variants/livemm-other-vendor.ko"
check "and says so" sh -c "dmesg | grep -q 'livemm knows kernels of Ubuntu alone'"
refute "a livepatch of ours does not load without livemm" insmod "$LMM_MODDIR/livemm_klp_lists.ko"
