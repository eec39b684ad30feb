#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the packages' units do on a Debian that has them installed, under its own systemd.
# units.boot= on the kernel's command line says which part is due; each goes on from what
# the one before has left, and ends with how the machine goes down.
set -u
ports=/dev/virtio-ports
# udev has them a while after this was started.
until [ -e $ports/livemm.verdict ] && [ -e $ports/livemm.output ]; do
	sleep 0.2
done
exec 3>$ports/livemm.verdict >$ports/livemm.output 2>&1
. "$LMM_ROOT/tests/scenarios/lib.sh"
trap 'ended $? systemctl poweroff' EXIT

boot=$(sed -n 's/.*units\.boot=\([a-z]*\).*/\1/p' /proc/cmdline)
profile=livemm-profile.service
timer=livemm-export.timer
trial=livemm-ab@trial.service
journal=/var/lib/livemm/trial.jsonl
folder=/var/lib/prometheus/node-exporter
metrics=$folder/livemm.prom
lease_s=45
# A command of ours takes seconds here; none of this is about how many.
soon_s=120

prop() { systemctl show -P "$2" "$1"; }
looked_at() { ! gives 0 prop "$1" ConditionTimestampMonotonic; }
config() { cat "$LMM_DBG"/*/config; }
all_off() { [ "$(cat "$LMM_DBG"/*/enabled | sort -u)" = 0 ]; }
pcp_is() { gives "$1" cat "$LMM_DBG/pcp/enabled"; }
log_has() { journalctl -q -o cat -b "$1" -u "$2" | grep -qF -e "$3"; }
inode_is_not() { [ "$(stat -c %i "$1" 2>/dev/null || echo "$2")" != "$2" ]; }

# Else print what the unit has said in this boot, for the note of the failed check.
has_said() { wait_for 30 log_has 0 "$1" "$2" || ! journalctl -q -o cat -b -u "$1"; }
said() { check "$1 says '$2'" has_said "$1" "$2"; }

# Records of a kind, of all boots.
records() { grep -c "\"type\":\"$1\"" "${2:-$journal}"; }

configure() {
	printf 'profile = "%s"\nat_stop = "%s"\n' "$1" "$2" >/etc/livemm/livemm.toml
}

# However it ends, the machine goes down: $1 is the status, the rest how.
ended() {
	trap - EXIT
	journalctl -q -b -u 'livemm*'
	# What was asked for of systemctl is to be on the disk, should there be a crash now.
	sync
	echo "end $1" >&3
	shift
	"$@"
}
crash() { echo b >/proc/sysrq-trigger; }

shipped() {
	for unit in $profile $timer $trial; do
		same "$unit is shipped disabled" "$(systemctl is-enabled "$unit")" disabled
	done
	refute "the boot has not loaded livemm" loaded livemm
	same "the boot has started nothing of ours" \
		"$(systemctl list-units --all --plain --no-legend 'livemm*')" ""
	same "systemd-analyze verify has nothing to say" \
		"$(systemd-analyze verify --man=no $profile $timer livemm-export.service $trial 2>&1)" ""
	# In tenths, 100 being everything allowed.
	for unit in $profile livemm-export.service; do
		check "systemd-analyze security of $unit is below 3" \
			systemd-analyze security --no-pager --threshold=30 "$unit"
	done
}

bad_profiles() {
	configure nosuch keep
	refute "a profile that there is not fails the unit" systemctl start $profile
	same "as failed" "$(prop $profile Result)" exit-code
	said $profile "nosuch: no such profile"
	refute "nothing is loaded for it" loaded livemm
	bad_profile >/etc/livemm/profiles/bad.toml
	need modprobe livemm
	before=$(config)
	configure bad keep
	refute "a profile that the kernel refuses fails the unit" systemctl start $profile
	said $profile "pcp/decay_ms: 499: not in 500..60000"
	same "nothing of it is applied" "$(config)" "$before"
}

profiles() {
	configure lists keep
	check "enable --now" systemctl enable --now $profile
	same "the unit is active" "$(prop $profile ActiveState)" active
	check "the profile is applied" pcp_is 1
	check "all of it" livemmctl profile verify
	before=$(config)
	configure bad keep
	refute "a restart with a bad profile fails" systemctl restart $profile
	same "and leaves what was applied" "$(config)" "$before"
	configure lists keep
	check "it starts again" systemctl start $profile
	check "it stops" systemctl stop $profile
	said $profile "policies are kept"
	same "at_stop = keep: what was applied stays" "$(config)" "$before"
	configure lists off
	need systemctl start $profile
	check "it stops again" systemctl stop $profile
	check "at_stop = off: every policy is off" all_off
}

# $1: its name. One arm has nearly all hosts: which arm this one is in must not matter.
experiment() {
	cat >"/etc/livemm/experiments/$1.toml" <<-END
		name = "$1"
		salt = "units"
		mode = "host"
		duration = "1h"
		tick = "3s"
		lease = "${lease_s}s"
		control = "off"
		[arms.off]
		weight = 0.000001
		[arms.on]
		weight = 0.999999
		policy.pcp.enabled = true
		[[metrics]]
		name = "faults"
		source = "vmstat:pgfault"
	END
}

way_out() {
	experiment trial
	sed 's/$/ livemm.off=1/' /proc/cmdline >/run/cmdline
	need mount --bind /run/cmdline /proc/cmdline
	for unit in $profile $trial; do
		check "livemm.off=1: to start $unit is no error" systemctl start "$unit"
		same "livemm.off=1: $unit is skipped" \
			"$(prop "$unit" ConditionResult) $(prop "$unit" ActiveState)" "no inactive"
	done
	check "livemm.off=1: nothing is applied" all_off
	need umount /proc/cmdline
}

modprobe_d() {
	need livemmctl unload
	livemmctl profile modprobe lists >/etc/modprobe.d/livemm.conf
	echo livemm >/etc/modules-load.d/livemm.conf
	check "systemd loads it by modules-load.d" systemctl restart systemd-modules-load
	check "with a profile by modprobe.d" pcp_is 1
	need rm /etc/modprobe.d/livemm.conf /etc/modules-load.d/livemm.conf
	need livemmctl disable --all
}

export_timer() {
	rm -rf "$folder"
	check "the timer starts where node_exporter is not" systemctl enable --now $timer
	check "and looks for it" wait_for $soon_s looked_at livemm-export.service
	same "nothing fails" \
		"$(prop livemm-export.service Result) $(prop livemm-export.service ConditionResult)" \
		"success no"
	need mkdir -p "$folder"
	check "once it is there, metrics are written" wait_for $soon_s test -s $metrics
	first=$(stat -c %i $metrics)
	same "for all to read" "$(stat -c %a $metrics)" 644
	check "they say that livemm is up" grep -qx 'livemm_up 1.*' $metrics
	check "and are written again and again" wait_for $soon_s inode_is_not $metrics "$first"
}

# A service that loads a livepatch at boot, and takes its time.
livepatch_service() {
	cat >/etc/systemd/system/kpatch.service <<-END
		[Service]
		Type=oneshot
		RemainAfterExit=yes
		ExecStart=/bin/sleep 5
		[Install]
		WantedBy=multi-user.target
	END
	need systemctl -q enable kpatch.service
}

fresh() {
	shipped
	bad_profiles
	profiles
	way_out
	modprobe_d
	export_timer
	livepatch_service
	need systemctl start $profile
	ended 0 systemctl reboot
}

applied_again() {
	ended=$(prop kpatch.service ExecMainExitTimestampMonotonic)
	check "the profile waits for a service that loads livepatches" \
		test "$ended" -gt 0 -a "$(prop $profile ExecMainStartTimestampMonotonic)" -ge "$ended"
	need systemctl -q disable kpatch.service
	check "its shutdown had switched off" log_has -1 $profile "pcp/enabled: 1 -> 0"
	same "the unit is active" "$(prop $profile ActiveState)" active
	check "the profile is applied again" pcp_is 1
	check "metrics are written anew" wait_for $soon_s test $metrics -nt /run/udev
	need systemctl disable --now $timer
}

beside_a_profile() {
	need systemctl start $trial
	check "beside a profile an experiment fails" wait_for $soon_s systemctl -q is-failed $trial
	said $trial "already on; an experiment begins at stock"
	check "and leaves the profile alone" pcp_is 1
	check "disable --now" systemctl disable --now $profile
	check "at_stop = off: every policy is off" all_off
	need systemctl reset-failed
}

runs() {
	need systemctl start livemm-ab@nosuch.service
	same "an experiment without a file is skipped" \
		"$(prop livemm-ab@nosuch.service ConditionResult)" no
	check "an experiment: enable --now" systemctl enable --now $trial
	check "its arm is applied" wait_for $soon_s pcp_is 1
	begun=$(records resume)
	check "its runner is killed" systemctl kill -s KILL $trial
	check "and is started again" wait_for $soon_s gives 1 prop $trial NRestarts
	check "it goes on" wait_for $soon_s grown "$begun" records resume
	check "with its arm" wait_for $soon_s pcp_is 1
	check "stop" systemctl stop $trial
	same "it ends well" "$(prop $trial Result) $(prop $trial ActiveState)" "success inactive"
	check "at stock" all_off
	same "without a lease" "$(cat "$LMM_DBG/lease")" 0
}

lease_runs_out() {
	dropin=/run/systemd/system/livemm-ab@.service.d
	mkdir -p $dropin
	printf '[Service]\nRestart=no\n' >$dropin/never.conf
	need systemctl daemon-reload
	need systemctl start $trial
	check "started again its arm is applied" wait_for $soon_s pcp_is 1
	# So that the lease is a whole one.
	sleep 3
	need systemctl kill -s KILL $trial
	check "killed and not started again it has failed" \
		wait_for $soon_s gives signal prop $trial Result
	check "the kernel does not see it at once" pcp_is 1
	check "then the host is back to stock" wait_for $((lease_s + 30)) pcp_is 0
	check "all of it" all_off
	rm -r $dropin
	need systemctl daemon-reload
	need systemctl start $trial
	check "to go on is still possible" wait_for $soon_s pcp_is 1
}

again() {
	applied_again
	beside_a_profile
	runs
	lease_runs_out
	ended 0 systemctl reboot
}

resumed() {
	check "the shutdown ended it at stock" sh -c \
		'grep "\"type\":\"stop\"" "$1" | tail -n 1 | grep "SIGTERM.*\"stock\":\"yes\""' \
		sh $journal
	check "its arm is applied again" wait_for $soon_s pcp_is 1
	same "the unit is active" "$(prop $trial ActiveState)" active
	# The record of that comes after.
	sleep 3
	ended 0 crash
}

crashed() {
	check "after a crash a guardrail is passed" wait_for $soon_s grown 0 records guard
	said $trial "the host went down while arm on was on"
	seen=$(records sample)
	check "the host is still read" wait_for $soon_s grown $((seen + 1)) records sample
	check "but stays at stock" all_off
	same "the unit is active" "$(prop $trial ActiveState)" active
	need systemctl disable --now $trial

	other=livemm-ab@other.service
	experiment other
	need systemctl start $other
	check "another experiment applies its arm" wait_for $soon_s pcp_is 1
	need livemmctl disable pcp
	check "what an admin switches off ends it" wait_for $soon_s systemctl -q is-failed $other
	same "for good" "$(prop $other Result) $(prop $other ExecMainStatus) $(prop $other NRestarts)" \
		"exit-code 6 0"
	said $other "changed by somebody else: pcp/enabled"
	check "and it stays off" pcp_is 0
	check "livemm unloads" livemmctl unload
	ended 0 systemctl poweroff
}

state=$(systemctl is-system-running --wait)
note "$(systemd-analyze time | head -n 1)"
same "the boot ends well" "$state $(systemctl list-units --failed --plain --no-legend)" "running "
case $boot in
fresh | again | resumed | crashed) "$boot" ;;
*) fail "units.boot=$boot: no such part" ;;
esac
