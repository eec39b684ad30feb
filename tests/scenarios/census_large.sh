# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# memory: 64G
# nodes: 4
# cpus: 4
# args: init_on_alloc=0
# timeout: 1800
#
# A census of memory that takes more than one read: each read ends in time and goes on where the
# read before stopped, the file says how far and how old, and nobody waits for a reader.
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
take() { cat "$census" >/run/census; }
# note_of WORDS N: the Nth number of the note that begins with WORDS.
note_of() { sed -n "s/^# $1: //p" /run/census | tr -cs '0-9\n' ' ' | awk -v n="$2" '{ print $n }'; }
zones() { awk -v name="$1" '$1 == name { sum += $2 } END { print sum + 0 }' /proc/zoneinfo; }

# The first round, in as many reads as that takes.  Sets reads, longest, and back: 0 if all is well.
first_round() {
	reads=0 longest=0 all=0 back=0 done_before=-1
	while [ "$reads" -lt 120 ]; do
		_ms=$(ms_of take)
		reads=$((reads + 1)) all=$((all + _ms))
		[ "$_ms" -le "$longest" ] || longest=$_ms
		grep -q '^# first round: ' /run/census || return 0
		_done=$(note_of 'first round' 3)
		[ "$_done" -gt "$done_before" ] || back=1
		done_before=$_done
		grep -Eq '^# incomplete: [0-9]+ [A-Za-z0-9]+ [0-9]+(, [0-9]+ [A-Za-z0-9]+ [0-9]+)*$' \
			/run/census || back=2
	done
	return 1
}

need lmm_load
need first_round
note "free memory, $(zones spanned) pages: reads $reads, $all ms, the longest $longest ms"
check "unloads, and forgets the sums" lmm_unload

# No page of more than one to be had at a look: the dearest memory there is.
free=$(($(meminfo MemFree) / 4))
need insmod "$LMM_MODDIR/lmm_holes.ko" pages=$((free * 4 / 5))
need lmm_load
need first_round
note "single pages: reads $reads, $all ms, the longest $longest ms"
note "$(grep '^# [a-mo-z]' /run/census)"
check "a round takes more than a read" test "$reads" -gt 1
same "each read goes on where the one before stopped, and says so" "$back" 0
check "no read takes much more than a second" test "$longest" -lt 1500
total=$(census_pages /run/census "free loose movable slab table other" all)
managed=$(zones managed)
note "pages not reserved $total, managed $managed"
check "the sums are those of all memory" near "$total" "$managed" 2048
ages='began [0-9]+ ms ago, ended [0-9]+ ms ago'
# A fast host has time for the end of the first round and for all of the next.
! grep -q '^# [a-mo-z]' /run/census || check "the round is older than the read, and the file says so" \
	grep -Eq "^# older: $ages, reads [0-9]+; next round: [0-9]+ of [0-9]+ blocks\$" /run/census
check "sums that are younger than the first read" census_take /run/census 240
note "$(grep '^# [a-mo-z]' /run/census)"

# Four at once take turns, and share the time of one.
readers=
for reader in 1 2 3 4; do
	ms_of cat "$census" >/run/reader_$reader &
	readers="$readers $!"
done
sleep 0.1
written=$(ms_of write_to "$LMM_DBG/pageblock/reserve_blocks" 15)
shown=$(ms_of cat "$LMM_DBG/status")
# shellcheck disable=SC2086 # process ids
wait $readers
slowest=$(cat /run/reader_[1-4] | sort -n | tail -n 1)
note "four readers: the slowest $slowest ms; a knob $written ms, status $shown ms"
check "no reader waits for the sum of all" test "$slowest" -lt 2500
check "a reader does not make others wait" test "$written" -lt 850 -a "$shown" -lt 850
check "unloads" lmm_unload
check "the pages are given back" rmmod lmm_holes
