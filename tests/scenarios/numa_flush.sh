# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1 6.12
# cpus: 4
# nodes: 2
# timeout: 1200
# args: transparent_hugepage=never
#
# A scan of ours flushes TLBs no more often than a scan of the kernel's: each range that the
# kernel scans is armed in one call or in none.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_numa.sh"

tracing=/sys/kernel/tracing
# The scans that are asked for, the ranges that they come to, and the calls that arm entries; each
# such call flushes.  Reason 4 is a flush by IPI.
probes="scan:task_numa_work range:change_prot_numa"
counted="lmm_flush/scan lmm_flush/range lmm_flush/armed tlb/tlb_flush"

trigger() {
	case $1 in
	# Programs that begin change protections, too.
	*/armed) echo "hist:keys=common_type if armed > 0 && comm == \"hintload\"" ;;
	*/tlb_flush) echo "hist:keys=reason if reason == 4" ;;
	*) echo "hist:keys=common_type" ;;
	esac
}

hits_of() { awk '$1 == "Hits:" { print $2 }' "$tracing/events/$1/hist"; }

# Hits of each, and flushes by the policy's own counter, one line, in so many seconds.  The load
# stands still while they are read, which takes seconds on a slow machine.
count() {
	kill -STOP "$hint"
	for event in $counted; do
		trigger "$event" >"$tracing/events/$event/trigger" || return
	done
	ours=$(counter scan_flushes numa)
	kill -CONT "$hint"
	sleep "$1"
	kill -STOP "$hint"
	{
		for event in $counted; do
			hits_of "$event"
		done
		echo $(($(counter scan_flushes numa) - ours))
	} | paste -sd " "
	for event in $counted; do
		echo "!$(trigger "$event")" >"$tracing/events/$event/trigger"
	done
	kill -CONT "$hint"
}

# In hundredths: $1 a $2.
each() { echo $(($1 * 100 / ($2 ? $2 : 1))); }

settled() { [ "$(growth 3 vmstat numa_pages_migrated)" -lt 50 ]; }

measure() {
	hits=$(count "$seconds")
	echo "$hits" | {
		read -r scans ranges armed flushes _
		note "$1: $scans scans of $ranges ranges, $armed armed, $flushes flushes by IPI"
		check "$1: entries were armed" test "${armed:-0}" -gt 0
	}
	check "$1: there were scans" test "${hits%% *}" -ge 10
}

add_probe() { echo "$1" >>"$tracing/kprobe_events"; }

for probe in $probes; do
	need add_probe "p:lmm_flush/${probe%:*} ${probe#*:}"
done
# What it returns is the number of entries that were changed.
need add_probe "r:lmm_flush/armed change_protection armed=\$retval:s64"

seconds=15
kernel_scans 100 200 400
need lmm_load
for size in 256 4; do
	# With 4 MiB the load is a process of many scans.
	need write_to "$KERNEL_NUMA/scan_size_mb" "$size"
	hint_start -p own -t 4 -m 16
	check "$size MiB: pages have moved" wait_for 60 settled
	measure "$size MiB, without the policy"
	read -r scans _ armed flushes _ <<-END
		$hits
	END
	# From 6.4 on the kernel patches each call of cond_resched() when a livepatch comes, one after
	# another: minutes on emulated CPUs that are busy.
	kill -STOP "$hint"
	need write_to "$NUMA/enabled" 1
	kill -CONT "$hint"
	before=$(counter sampling_scans numa)
	check "$size MiB: sampling scans" wait_for 180 grown $((before + 20)) counter sampling_scans numa
	full=$(counter scans numa) sampling=$(counter sampling_scans numa)
	measure "$size MiB, with the policy"
	note "$size MiB: $(($(counter scans numa) - full)) full scans and" \
		"$(($(counter sampling_scans numa) - sampling)) sampling scans; ${hits##* } flushes by scan_flushes"
	echo "$hits" | {
		read -r our_scans our_ranges our_armed our_flushes ours
		check "$size MiB: a range is armed in one call" test "$our_armed" -le "$our_ranges"
		# The counter stands at the end of a range; some scans are in between.
		check "$size MiB: scan_flushes counts the calls" near "$our_armed" "$ours" \
			$((our_armed / 10 + 5))
		check "$size MiB: a scan arms no more ranges than the kernel's" test \
			"$(each "$our_armed" "$our_scans")" -le $(($(each "$armed" "$scans") + 20))
		check "$size MiB: a scan flushes no more often than the kernel's" test \
			"$(each "$our_flushes" "$our_scans")" -le $(($(each "$flushes" "$scans") + 20))
	}
	need write_to "$NUMA/enabled" 0
	hints_stop
done
check "unloads" lmm_unload
