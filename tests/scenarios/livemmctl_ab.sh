# SPDX-License-Identifier: GPL-2.0-only
# kernels: none
# named: 6.1
# memory: 2G
# timeout: 900
# args: transparent_hugepage=never
#
# An experiment on one host switches pcp off and on by turns under a load, and finds the effect
# with its interval. Then the runner is killed: the kernel's lease brings the host back to stock.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_ctl.sh"

lease_s=45
# To start a process and read a file may take so long in a guest under load.
read_s=5
# Six an arm is the least of which a report concludes anything, and a busy host may spoil one.
blocks=$(soaked 14 16)
trial=/run/trial.toml
pcp_is() { gives "$1" cat "$LMM_DBG/pcp/enabled"; }
clock() { awk '{ print int($1 * 10) }' /proc/uptime; }

ctl_setup
# The shipped experiment, with few blocks of 12 s in place of 40 of a minute, and with the awk that
# is in memory: a metric's command may take a second, and on a busy host the awk on 9p takes longer.
sed -e "s,/usr/bin/awk,$(command -v awk)," \
	-e "s/^duration = .*/duration = \"$((blocks * 12))s\"/; s/^tick = .*/tick = \"3s\"/" \
	-e "s/^lease = .*/lease = \"${lease_s}s\"/" \
	-e 's/^block = .*/block = "12s"/; s/^washout = .*/washout = "6s"/' \
	/run/tools/experiments/pcp-switchback.toml >"$trial"
# As its own comment says.
for event in mm_page_alloc_zone_locked mm_page_pcpu_drain; do
	echo hist:keys=common_type >/sys/kernel/tracing/events/kmem/$event/trigger
done

# Once on and off, as the first time loads livepatches, which is no part of a block.
pcp_before
# Rests, so that the emulator has time for the command.
export LOAD_PROCS=1 LOAD_ROUNDS="-w 16 -F 150"
load_start
ctl "check --json" 0 ab check "$trial" --json
holds "check --json" "d['no_numbers_for'] == [] and len(d['blocks']) == $blocks"
ctl "run" 0 ab run "$trial" --journal /run/trial.jsonl
load_stop
said "run" "the host is at stock"
same "after the run pcp is off" "$(cat "$LMM_DBG/pcp/enabled")" 0
same "and there is no lease" "$(cat "$LMM_DBG/lease")" 0
# What a page can be made of on the host; tools/tests/ab/recorded has one such run.
cat "$trial" /run/trial.jsonl
ctl "report --json" 0 ab report "$trial" /run/trial.jsonl --json
effect="next(c for c in d['comparisons'] if c['metric'] == 'crossings_per_fault')"
shows "report --json" "d['units'], ${effect}['verdict'], ${effect}['refused']"
for number in control treatment relative relative_low relative_high p; do
	shows "report --json" "'$number', ${effect}['estimate']['$number']"
done
shows "report --json" "[(c['metric'], c['verdict'], c['refused']) for c in d['comparisons']]"
holds "report --json" "d['conclusive']"
# Half of what stock does, at least, and the whole interval on that side of nothing.
holds "report --json" "${effect}['estimate']['relative'] < -0.5"
holds "report --json" "${effect}['estimate']['relative_high'] < 0"
# One carry-over in a hundred is chance, and then there is no verdict.
holds "report --json" "${effect}['verdict'] == 'better' or 'carry-over' in ${effect}['refused'][0]"

load_start
/usr/bin/python3 "$CTL" ab run "$trial" --journal /run/killed.jsonl >/run/killed.out 2>&1 &
runner=$!
check "the runner switches pcp on" wait_for 120 pcp_is 1
sleep 3
need kill -9 "$runner"
killed=$(clock)
left=$(cat "$LMM_DBG/lease")
check "the kernel does not see it at once" pcp_is 1
# The lease runs out without a load as well.
load_stop
check "then the host is back to stock" wait_for $((lease_s + 30)) pcp_is 0
took=$(($(clock) - killed))
note "back to stock $((took / 10)).$((took % 10)) s after the runner was killed; of the lease of\
 $lease_s s $left s were left"
check "the lease was renewed to the last" test "$left" -gt $((lease_s - 10))
check "when the lease has run out" test "$took" -le $(((left + read_s) * 10))
check "and not before" test "$took" -ge $(((left - 2) * 10))
pcp_after "killed: "
ctl "status --json" 0 ab status --json
holds "status --json" "d['running'] is False and d['experiment'] == 'pcp-switchback'"
ctl "stop" 0 ab stop
said "stop" "the host is at stock"
check "unloads" lmm_unload
ctl_judge
