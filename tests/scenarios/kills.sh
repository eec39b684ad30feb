# SPDX-License-Identifier: GPL-2.0-only
# kernels: debug
# named: 6.1 6.12 7.2
# emulation: parallel 6.1
# timeout: 1800
# args: transparent_hugepage=never
#
# Writers of control files are killed 0 to 300 ms after their start, two at once, while the
# program that loads modules is present, absent, slow or dying, and while transitions stall or not. The kernel reports nothing, every program gets the right arguments, no policy
# stays half on, and every policy can be used afterwards.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_helper.sh"

# Rounds of each of the eight parts.
rounds=$(($(soaked 16 800) / 8))
seed=0
# Writers that died of their kill so far.
killed=0
# Seconds within which a killed writer must die.  One of 7,200 took 6.4 s, on 6.12 and a busy host;
# a "slow" line tells where such a writer waits.
quick=15
[ "$LMM_DEBUG" = 0 ] || quick=30

p() { echo "$LMM_DBG/$1/enabled=$2"; }

# said_of WORD: the number behind a word of killwriters.
said_of() { awk -v word="$1" '{ for (i = 1; i < NF; i++) if ($i == word) print $(i + 1) }' /run/killed; }

# kill_some NAME: the rounds of one part, and the checks after each part.
kill_some() {
	seed=$((seed + 1))
	# shellcheck disable=SC2046 # words
	"$HELPER/killwriters" -r "$rounds" -n 2 -m 300 -s "$seed" -l 45 \
		$(p pcp 1) $(p pcp 0) $(p zonelock 1) $(p zonelock 0) $(p pageblock 1) \
		$(p pageblock 0) "$LMM_PARAMS/policies=pcp:enabled=1" \
		"$LMM_DBG/pcp/config=enabled=1,mode=depth" "$LMM_DBG/pcp/config=mode=event" \
		>/run/killed 2>&1
	_status=$?
	while read -r _line; do
		note "$1: $_line"
	done </run/killed
	same "$1: no writer outlives its kill by 45 s" "$_status" 0
	killed=$((killed + $(said_of killed | grep . || echo 0)))
	slowest=$(said_of slowest_ms)
	check "$1: each dies within $quick s" test "${slowest:-99999}" -le $((quick * 1000))
	in_time 8000 "$1: status can be read" cat "$LMM_DBG/status"
}

# usable NAME: with the real programs and without a stall, every policy can be used.
usable() {
	helper_back
	! loaded lmm_stall || need rmmod lmm_stall
	in_time 60000 "$1: off" all_off
	check "$1: and comes to rest" klp_wait settled
	same "$1: no hook is left armed" "$(armed)" ""
	same "$1: lists are as before" "$(lists_bounds)" "$bounds"
	check "$1: no policy is half on" awk '$2 != "off" && $2 != "unsupported" { exit 1 }' \
		"$LMM_DBG/status"
	for policy in pcp zonelock; do
		check "$1: $policy can be switched on" write_to "$LMM_DBG/$policy/enabled" 1
		# In mode depth pcp starts anew when the livepatch that it does not require has come.
		check "$1: $policy is on" wait_for 30 policy_is "$policy" on
	done
	check "$1: with its hooks" tells hooks '^drain +livepatch .* armed'
	need write_to "$LMM_DBG/zonelock/enabled" 0
	need write_to "$LMM_DBG/pcp/enabled" 0
	check "$1: at rest" klp_wait settled
	check "$1: every program was run as meant" helper_meant
	: >"$HELPER/log"
}

# No livepatch is loaded when a part begins.
fresh() { need all_out && need lmm_load; }

helper_setup
need lmm_load
bounds=$(lists_bounds)

for stall in "" stalled; do
	for how in present absent slow dying; do
		name="${stall:+stalled, }helper $how"
		[ -z "$stall" ] || need insmod "$LMM_MODDIR/lmm_stall.ko"
		case $how in
		present) ;;
		absent) helper_gone modprobe ;;
		slow) helper_mode "slow 150" ;;
		dying) helper_mode "signal 11" ;;
		esac
		kill_some "$name"
		usable "$name"
		fresh
	done
done

# A write waits for no program and no transition, so most end before their kill.
check "writers died of their kills: $killed" test "$killed" -ge 1

# The words for a program that is absent.
fresh
helper_gone modprobe
need write_to "$LMM_DBG/pcp/enabled" 1
check "without modprobe: off, in words" tells status "^pcp +off .*livemm_klp_lists cannot be loaded .-2."
helper_back
check "and on when it is there again" write_to "$LMM_DBG/pcp/enabled" 1
need write_to "$LMM_DBG/pcp/enabled" 0
check "unloads" all_out
