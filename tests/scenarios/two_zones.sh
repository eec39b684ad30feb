# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1 7.2
# memory: 4G
# timeout: 900
# args: transparent_hugepage=never
#
# A node has DMA32 and Normal, and Normal is full: requests prefer Normal and get pages of DMA32.
# The depot of DMA32 stores what is freed there, and requests take of it.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_zonelock.sh"
. "$LMM_ROOT/tests/scenarios/lib_crossings.sh"

# fill SIDE: take what is free in Normal, and a little more, which comes from DMA32.
fill() {
	hog_hold $(($(zone_pages free Normal) / 256 + 16))
	# kswapd stops above the high watermark, by a few batches at most.
	check "$1: Normal is full" \
		test "$(zone_pages free Normal)" -lt $(($(zone_pages high Normal) * 9 / 8))
}

need test "$(zone_pages managed Normal)" -gt 0
fill before
sent 1024 >/dev/null
fill stock
base=$(sent 2048)
need lmm_load
need write_to "$zonelock/enabled" 1
sent 1024 >/dev/null
fill zonelock
stored=$(counter stored_pages zonelock) taken=$(counter taken_pages zonelock)
on=$(sent 2048)
stored=$(($(counter stored_pages zonelock) - stored)) taken=$(($(counter taken_pages zonelock) - taken))
note "pages over zone->lock, of 1000: stock $base, zonelock $on; stored $stored, taken $taken; free in Normal $(zone_pages free Normal), its low watermark $(zone_pages low Normal)"
check "stock crosses for each page" test "$base" -gt 1000
check "what is stored is taken" test $((taken * 2)) -gt "$stored"
check "a quarter of stock at most" test $((on * 4)) -le "$base"
need write_to "$zonelock/enabled" 0
same "all that was stored was taken or went back" "$(unaccounted)" 0
check "unloads" lmm_unload
