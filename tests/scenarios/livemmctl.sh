# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1
# timeout: 900
#
# livemmctl against the real module: words, exit codes and effects. Then the same under lockdown,
# where livemmctl has module parameters alone.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_ctl.sh"

config() { cat "$LMM_DBG"/*/config; }
unchanged() { same "$1: nothing has changed" "$(config)" "$before"; }

mountpoint -q /sys/kernel/security || mount -t securityfs none /sys/kernel/security
ctl_setup

ctl "status without the module" 4 status
said "status without the module" "livemm is not loaded (livemmctl load)"
ctl "load --json" 0 load --json
holds "load --json" "d['loaded'] and d['changed']"
check "it is loaded" loaded livemm
names=$(awk '{ print $1 }' "$LMM_DBG/status" | sed "s/.*/'&'/" | paste -sd, -)
stock=$(cat "$LMM_PARAMS/policies")

ctl "status --json" 0 status --json
holds "status --json" "[row['name'] for row in d['policies']] == [$names]"
holds "status --json" "d['debugfs'] == 'open' and d['lease_seconds'] == 0"
holds "status --json" "d['kernel'] == '$LMM_RELEASE'"
ctl "list --json" 0 list --json
# Stock kernels have no CMA.
holds "list --json" "{row['state'] for row in d['policies'] if row['name'] != 'cma'} == {'off'}"

ctl "enable --json" 0 enable pcp --json
holds "enable --json" "[list(c.values()) for c in d['changed']] == [['pcp', 'enabled', '0', '1']]"
same "pcp is on" "$(cat "$LMM_DBG/pcp/enabled")" 1
ctl "status" 0 status
said "status" "$LMM_RELEASE"
load_start
ctl "counters --json" 0 counters --rate 3 pcp --json
load_stop
holds "counters --json" "d['rates']['pcp']['periods'] > 0 and d['seconds'] >= 3"
ctl "state" 0 state pcp
said "state" "DMA32"
ctl "hooks --json" 0 hooks --only armed --json
holds "hooks --json" "'drain' in [hook['name'] for hook in d['hooks']]"

ctl "set" 0 set pcp decay_ms=2000 high_max_pct=10
said "set" "pcp/decay_ms: 3000 -> 2000"
check "set is done" grep -q "high_max_pct=10 .*decay_ms=2000" "$LMM_DBG/pcp/config"
ctl "get" 0 get pcp decay_ms
same "get prints the value alone" "$(cat "$SAID/get.out")" 2000
same "and so does a process that nobody forked" "$(/usr/bin/python3 "$CTL" get pcp decay_ms)" 2000
before=$(config)
ctl "set out of range" 3 set pcp high_max_pct=20 decay_ms=499
said "set out of range" "pcp/decay_ms: 499: not in 500..60000"
ctl "set malformed --json" 3 set pcp mode=fast --json
holds "set malformed --json" "d['error']['code'] == 'REFUSED' and d['error']['status'] == 3"
unchanged "what was refused"
ctl "disable" 0 disable --all
same "none is on" "$(cat "$LMM_DBG"/*/enabled | sort -u)" 0

need write_to "$LMM_DBG/pcp/enabled" 1
ctl "lease" 0 lease 2
said "lease" "then every policy is off"
check "the lease runs out" wait_for 60 policy_is pcp off

mkdir -p /etc/livemm/profiles
bad_profile >/etc/livemm/profiles/bad.toml
before=$(config)
ctl "profile with a bad key" 3 profile apply bad
said "profile with a bad key" "/etc/livemm/profiles/bad.toml: pcp/decay_ms: 499: not in"
said "profile with a bad key" "; nothing was changed"
unchanged "profile with a bad key"
ctl "profile apply" 0 profile apply lists
check "it is applied" grep -q "^enabled=1 mode=event .*decay_ms=3000" "$LMM_DBG/pcp/config"
need write_to "$LMM_DBG/pcp/config" "decay_ms=2500 high_max_pct=10"
need write_to "$LMM_DBG/pageblock/enabled" 1
ctl "profile diff --json" 0 profile diff --json
drift="['pageblock/enabled 1 0', 'pcp/decay_ms 2500 3000', 'pcp/high_max_pct 10 12.5']"
row="'{policy}/{knob} {now} {wanted}'.format(**c)"
holds "profile diff --json" "sorted($row for c in d['changes']) == $drift"
before=$(config)
ctl "profile verify when drifted" 6 profile verify
said "profile verify when drifted" "pcp/decay_ms: 2500 -> 3000"
same "it names three" "$(wc -l <"$SAID/profile verify when drifted.out")" 3
unchanged "profile diff and verify"
ctl "profile save --json" 0 profile save mine --json
ctl "profile verify what was saved" 0 profile verify mine
ctl "profile apply again" 0 profile apply lists
ctl "profile verify --json" 0 profile verify --json
holds "profile verify --json" "d['as_profile'] and d['profile'] == 'lists' and not d['changes']"

ctl "doctor --json" 0 doctor --json
holds "doctor --json" "len(d['checks']) > 15"
holds "doctor --json" "not [c for c in d['checks'] if c['state'] == 'fail']"
mkdir /run/metrics
ctl "export" 0 export --textfile /run/metrics
metrics=/run/metrics/livemm.prom
check "metrics say that pcp is on" grep -q '^livemm_policy_enabled{policy="pcp"} 1' "$metrics"
same "promtool has nothing to say" "$(promtool check metrics <"$metrics" 2>&1)" ""

# Unsigned modules are refused from here on; the wrappers are in already.
need write_to /sys/kernel/security/lockdown integrity
ctl "locked: status --json" 0 status --json
holds "locked: status --json" "d['debugfs'] == 'read-only'"
holds "locked: status --json" "[r['name'] for r in d['policies'] if r['state'] == 'on'] == ['pcp']"
ctl "locked: disable" 0 disable pcp
check "locked: pcp is off" policy_is pcp off
ctl "locked: enable --json" 0 enable pcp pageblock --json
check "locked: pcp is on" policy_is pcp on
check "locked: pageblock is on" policy_is pageblock on
ctl "locked: set" 0 set pcp decay_ms=1500
check "locked: set is done" grep -q "decay_ms=1500" "$LMM_PARAMS/policies"
before=$(cat "$LMM_PARAMS/policies")
ctl "locked: set out of range" 3 set pcp decay_ms=1
said "locked: set out of range" "pcp/decay_ms: 1: not in 500..60000"
same "locked: nothing has changed" "$(cat "$LMM_PARAMS/policies")" "$before"
ctl "locked: counters --json" 0 counters --json
holds "locked: counters --json" "sorted(d['counters']) == sorted([$names])"
ctl "locked: doctor --json" 1 doctor --json
holds "locked: doctor --json" \
	"[c['check'] for c in d['checks'] if c['state'] == 'fail'] == ['signing']"
ctl "locked: profile apply" 0 profile apply stock
same "locked: as it was when loaded" "$(cat "$LMM_PARAMS/policies")" "$stock"
need write_to "$LMM_PARAMS/policies" "pcp:enabled=1"
ctl "locked: lease --json" 0 lease 2 --json
holds "locked: lease --json" "0 < d['lease_seconds'] <= 2"
check "locked: the lease runs out" wait_for 60 policy_is pcp off

ctl "unload" 0 unload
said "unload" "livemm_klp_lists is unloaded"
refute "livemm is gone" loaded livemm
refute "livepatches are gone" any_klp_loaded
ctl "locked: load" 8 load
said "locked: load" "signed"
ctl "export without the module" 0 export
said "export without the module" "livemm_up 0"
ctl_judge
