# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# args: transparent_hugepage=never
#
# The kernel boosts the watermarks of a zone between two looks at lists: a hook sees the boost, and
# has lists give back. (From 6.7 on refills cannot be hooked: a tick may be the first to see a
# boost.)
. "$LMM_ROOT/tests/scenarios/lib.sh"

zone=DMA32

# Watermarks far enough apart for an emulated CPU's turn of 0.1 s.
need write_to /proc/sys/vm/watermark_scale_factor 300
pcp_before
# The mark is the high watermark; kswapd is woken at the low one.
need write_to "$LMM_DBG/pcp/config" "enabled=1 decay_ms=3000"
work_start 40
check "lists are raised" wait_for 60 zone_raised "$zone"
sleep 2
# A look at lists each 7.5 s.
need write_to "$LMM_DBG/pcp/decay_ms" 60000
load_stop
need lists_bounds >/dev/null
check "lists are raised without a load" zone_raised "$zone"
same "no hook has asked for a look" "$(counter kicks)" 0
woken=$(vmstat pageoutrun) excess=$(counter excess_pages)
# Half way from the low watermark to the high one.
boost=$(($(zone_pages free) - ($(zone_pages low) + $(zone_pages high)) / 2))
need write_to /sys/module/lmm_lists/parameters/boost "$boost"
# More than lists hold, so that a list is refilled.
hog_start $(($(zone_pages count) / 256 + 4)) taskset -c 1
check "a hook notices the boost" wait_for 60 counted kicks 0
check "lists give back" wait_for 60 counted excess_pages "$excess"
note "boost $boost, kicks $(counter kicks), free $(zone_pages free), kswapd +$(($(vmstat pageoutrun) - woken))"
hog_end
need write_to /sys/module/lmm_lists/parameters/boost 0
pcp_after ""
all_back
