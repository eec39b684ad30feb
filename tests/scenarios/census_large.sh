# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# memory: 64G
# nodes: 4
# cpus: 4
# args: init_on_alloc=0
# timeout: 1800
#
# A census of much memory: how long a read takes, and that nobody but other readers waits for it.
#
# Without init_on_alloc the host needs 2 GiB only, for the guest's struct pages.
. "$LMM_ROOT/tests/scenarios/lib.sh"

census=$LMM_DBG/pageblock/census

# Milliseconds that a command takes.
ms_of() {
	_from=$(uptime_ms)
	"$@" >/dev/null || {
		echo 999999
		return
	}
	echo $(($(uptime_ms) - _from))
}
take() { census_take /run/census; }
zones() { awk -v name="$1" '$1 == name { sum += $2 } END { print sum + 0 }' /proc/zoneinfo; }

need lmm_load
note "free memory, $(zones spanned) pages: a read took $(ms_of take) ms"

# No page of more than one to be had at a look: the dearest memory there is.
free=$(($(meminfo MemFree) / 4))
need insmod "$LMM_MODDIR/lmm_holes.ko" pages=$((free * 4 / 5))
note "single pages: a read took $(ms_of take) ms"
total=$(census_pages /run/census "free loose movable slab table other" all)
managed=$(zones managed)
note "pages not reserved $total, managed $managed"
check "the sums are those of all memory" near "$total" "$managed" 2048
# Two at once take turns.
readers=
for reader in 1 2; do
	ms_of cat "$census" >/run/reader_$reader &
	readers="$readers $!"
done
sleep 0.1
written=$(ms_of write_to "$LMM_DBG/pageblock/reserve_blocks" 15)
shown=$(ms_of cat "$LMM_DBG/status")
# shellcheck disable=SC2086 # process ids
wait $readers
note "two readers: $(cat /run/reader_[12] | tr '\n' ' ')ms; a knob $written ms, status $shown ms"
check "a reader does not make others wait" test "$written" -lt 850 -a "$shown" -lt 850
check "unloads" lmm_unload
check "the pages are given back" rmmod lmm_holes
