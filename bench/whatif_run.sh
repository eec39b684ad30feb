#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest, while bench/whatif.sh records: lists get their bounds back, policies come on, two
# seconds pass, the load runs.
# whatif_run.sh RUN POLICIES COMMAND...; policies as whatif.sh takes these, or "".
#
# A recording says what lists give to the buddy and get.  It does not say what a depot takes of the
# pages, nor what the depot gives back.  With zonelock the kernel's own tracepoints therefore count
# pages, and module lmm_locks holds, which go to RUN.holds.  But for `sleep` the shell does all by
# itself: another process would count too.
set -eu

run=$1
rest=$2
shift 2
kmem=/sys/kernel/tracing/events/kmem
holds=/sys/module/lmm_locks/parameters/holds
before=0
echo 0 >/proc/sys/vm/percpu_pagelist_high_fraction
if [ -e $holds ]; then
	for event in mm_page_alloc_zone_locked mm_page_pcpu_drain; do
		echo hist:keys=order >$kmem/$event/trigger
	done
	read -r before <$holds
fi
while [ -n "$rest" ]; do
	one=${rest%%+*}
	printf 'enabled=1,%s' "${one#*:}" >"/sys/kernel/debug/livemm/${one%%:*}/config"
	while grep -q ' waiting ' /sys/kernel/debug/livemm/status; do sleep 0.2; done
	[ "$one" != "$rest" ] || break
	rest=${rest#*+}
done
sleep 2
"$@" >"$run.out"
if [ -e $holds ]; then
	read -r after <$holds
	for event in mm_page_alloc_zone_locked mm_page_pcpu_drain; do
		echo hist:keys=order:pause >>$kmem/$event/trigger
	done
	echo $((after - before)) >"$run.holds"
fi
