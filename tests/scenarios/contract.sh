# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# guest: shared
# named: 6.1 7.2
# args: transparent_hugepage=never
#
# Every file of the control contract is there with its mode, is documented, and refuses bad input
# as the contract says.
. "$LMM_ROOT/tests/scenarios/lib.sh"
. "$LMM_ROOT/tests/scenarios/lib_defaults.sh"

defaults_of() { eval "echo \"\$$1_defaults\""; }
# recreates FILE NAME NAME: what the file shows can be written, and is shown again.
recreates() {
	_shown=$(cat "$1")
	check "$2" write_to "$1" "$_shown"
	same "$3" "$(cat "$1")" "$_shown"
}

need lmm_load
need modprobe livemm_record
cd "$LMM_DBG" || exit 1

find . -type d ! -perm 0700 >/run/dirs
same "directories are 0700" "$(cat /run/dirs)" ""
find . -type f ! -perm 0600 ! -perm 0400 >/run/files
same "files are 0600 or 0400" "$(cat /run/files)" ""
for file in version hooks status last_error pageblock/census \
	$(for policy in $policies; do echo "$policy/supported" "$policy/counters" "$policy/state"; done); do
	same "$file is read only" "$(stat -c %a "$file")" 400
	refute "$file has no write operation" write_to "$LMM_DBG/$file" 0
done
for file in lease record policies $(for policy in $policies; do
	echo "enabled= config= $(defaults_of "$policy")" | sed "s/=[^ ]*//g; s|[^ ][^ ]*|$policy/&|g"
done); do
	same "$file is read and written" "$(stat -c %a "$file")" 600
done

# Both ways: a file without an entry, an entry without a file.  <policy> stands for each policy.
documented() {
	sed -n 's/^What:[[:space:]]*//p' "$LMM_ROOT"/debugfs-docs/* | grep "^$1" |
		while read -r entry; do
			case $entry in
			*"<policy>"*) for policy in $policies; do
				echo "${entry%%<*}$policy${entry#*>}"
			done ;;
			*) echo "$entry" ;;
			esac
		done | sort
}
find "$LMM_DBG" -type f | sort >/run/made
documented "$LMM_DBG" >/run/documented
same "files without an entry in debugfs-docs" "$(comm -23 /run/made /run/documented)" ""
same "an entry stands twice" "$(uniq -d /run/documented)" ""
same "entries in debugfs-docs without a file" "$(comm -13 /run/made /run/documented)" ""
find "$LMM_PARAMS" -type f | sort >/run/made
documented "$LMM_PARAMS" >/run/documented
same "parameters without an entry in debugfs-docs" "$(comm -23 /run/made /run/documented)" ""
same "entries in debugfs-docs without a parameter" "$(comm -13 /run/made /run/documented)" ""

check "version" grep -Eq '^livemm [0-9]+\.[0-9]+\.[0-9]+ abi [0-9]+$' version
for policy in $policies; do
	mode=$(defaults_of "$policy" | sed -n 's/^mode=\([a-z_]*\).*/\1/p')
	mode=${mode:--}
	if [ "$policy" = cma ]; then
		why="this kernel was built without CMA (CONFIG_CMA)"
		[ "$LMM_KERNEL" != 7.2 ] ||
			why="no memory is reserved for CMA; cma=SIZE on the kernel command line does that"
		check "status says why not cma" grep -Eq "^cma +unsupported +$mode +$(printf %s "$why" | sed 's/[()]/\\&/g')$" status
		same "and so does its file" "$(cat "$policy/supported")" "no: $why"
		refuses "$LMM_DBG/cma/enabled" 1 "Operation not supported" "$why"
	else
		check "status has a row for $policy" grep -Eq "^$policy +off +$mode +-$" status
		same "$policy is supported" "$(cat "$policy/supported")" yes
	fi
	same "the defaults of $policy" "$(cat "$policy/config")" "enabled=0 $(defaults_of "$policy")"
done
same "hooks has seven columns" "$(awk 'NF < 7' hooks)" ""
check "hooks names its states" awk '$4 !~ /^(armed|idle|unavailable)$/ { exit 1 }' hooks

for knob in */*; do
	case ${knob#*/} in
	enabled | supported | config | counters | state | census) continue ;;
	esac
	check "$knob takes what it shows" write_to "$knob" "$(cat "$knob")"
done
for policy in $policies; do
	same "and nothing has changed of $policy" "$(cat "$policy/config")" \
		"enabled=0 $(defaults_of "$policy")"
done

# Some knobs of each kind: a unit test of tools/ compares every range with the page of the policy.
inval="Invalid argument" range="Numerical result out of range"
for text in 2 yes "1 1" " 1" "1\\n\\n" "01" "-1" "1\\0"; do
	refuses "$LMM_DBG/pcp/enabled" "$text" "$inval" "pcp/enabled"
done
refuses "$LMM_DBG/pcp/high_max_pct" 250 "$range" "pcp/high_max_pct: 250: not in 1..50"
refuses "$LMM_DBG/pcp/high_max_pct" 12.55 "$inval" "pcp/high_max_pct"
refuses "$LMM_DBG/pcp/decay_ms" 499 "$range" "pcp/decay_ms: 499: not in 500..60000"
refuses "$LMM_DBG/pcp/decay_ms" 99999999999999999999999 "$range" "pcp/decay_ms"
refuses "$LMM_DBG/pcp/decay_ms" 0x1000 "$inval" "pcp/decay_ms"
refuses "$LMM_DBG/pcp/mode" fast "$inval" "pcp/mode: fast: not one of depth event"
refuses "$LMM_DBG/zonelock/max_pages_pct" 50.1 "$range" "zonelock/max_pages_pct: 50.1: not in 0.1..50"
refuses "$LMM_DBG/cma/mode" lend "$inval" "cma/mode: lend: not one of keep ratio"
refuses "$LMM_DBG/cma/keep_ms" 600001 "$range" "cma/keep_ms: 600001: not in 0..600000"
refuses "$LMM_DBG/cma/move_pages_per_s" 1048577 "$range" "cma/move_pages_per_s: 1048577: not in 0..1048576"
refuses "$LMM_DBG/pageblock/reserve_blocks" 4097 "$range" "pageblock/reserve_blocks: 4097: not in 0..4096"
refuses "$LMM_DBG/numa/enabled" 2 "$inval" "numa/enabled"
refuses "$LMM_DBG/numa/mode" task "$inval" "numa/mode: task: not one of quiet period promote"
refuses "$LMM_DBG/numa/promote_rate_mb" 65537 "$range" "numa/promote_rate_mb: 65537: not in 2..65536"
refuses "$LMM_DBG/numa/cgroups" relative "$inval" "numa/cgroups: relative: not a path"
refuses "$LMM_DBG/numa/cgroups" "/:/a/" "$inval" "numa/cgroups: /a/: not a path"
refuses "$LMM_DBG/numa/cgroups" //a "$inval" "numa/cgroups: //a: not a path"
refuses "$LMM_DBG/numa/cgroups" /a: "$inval" "numa/cgroups: /a: not a path"
refuses "$LMM_DBG/numa/cgroups" "/a b" "$inval" "numa/cgroups"
refuses "$LMM_DBG/numa/cgroups" "/$(printf %0600d 0)" "$range" "numa/cgroups"
refuses "$LMM_DBG/pcp/config" "decay_ms=500 nonsense=1" "$inval" nonsense
refuses "$LMM_DBG/pcp/config" "decay_ms=500 high_max_pct=99" "$range" high_max_pct
refuses "$LMM_DBG/pcp/config" "decay_ms=500 decay_ms=600" "$inval" decay_ms
refuses "$LMM_DBG/pcp/config" "decay_ms" "$inval" decay_ms
refuses "$LMM_DBG/pcp/config" "enabled=2" "$inval" enabled
refuses "$LMM_DBG/policies" "pcp:decay_ms=600;numa:mode=task" "$inval" "numa/mode: task: not one of"
refuses "$LMM_DBG/policies" "lists:enabled=1" "$inval" "lists: no such policy"
refuses "$LMM_PARAMS/policies" "pcp:decay_ms=499" "$range" "pcp/decay_ms: 499: not in 500..60000"
for file in pcp/decay_ms lease policies; do
	dd if=/dev/zero of="$LMM_DBG/$file" bs=5000 count=1 conv=notrunc 2>/dev/null
	check "a text of $file that is too long is refused in words" grep -q "$file: more than" last_error
done
refuses "$LMM_DBG/record" 2 "$inval" "record: 2"
refuses "$LMM_DBG/lease" 604801 "$range" lease
refuses "$LMM_DBG/lease" soon "$inval" lease

check "config sets several" write_to pcp/config "decay_ms=500,high_max_pct=20\\n"
same "and they stand" "$(cat pcp/config)" "enabled=0 $(echo "$pcp_defaults" |
	sed 's/decay_ms=3000/decay_ms=500/; s/high_max_pct=12.5/high_max_pct=20/')"
same "knob files agree" "$(cat pcp/decay_ms pcp/high_max_pct pcp/mode | tr '\n' ' ')" "500 20 event "
check "config switches on" write_to pcp/config "enabled=1 decay_ms=700"
same "and it is on" "$(cat pcp/enabled)" 1
check "status says on" grep -Eq '^pcp +on +event' status
check "on again is no change" write_to pcp/enabled 1
recreates pcp/config "what config shows recreates it" "the same again"
need wait_for 30 counted periods 1
check "state has a row a list" grep -q DMA32 pcp/state
check "and says what the mode stands on" grep -q '^# event: ' pcp/state
check "another mode while on" write_to pcp/mode depth
check "is another policy" grep -Eq '^pcp +on +depth +depth: every page' status
check "with its own hooks" grep -Eq '^page_alloc .* armed' hooks
check "and back" write_to pcp/mode event
check "without them" grep -Eq '^page_alloc .* idle' hooks
awk '{ print $1 }' pcp/counters >/run/names
check "counters are name and value" awk 'NF != 2 || $2 !~ /^[0-9]+$/ { exit 1 }' pcp/counters
check "off" write_to pcp/enabled "0\\n"
same "counters keep their names when off" "$(awk '{ print $1 }' pcp/counters)" "$(cat /run/names)"
check "counters are not reset" test "$(counter periods)" -gt 0

check "numa: several at once, and on" write_to numa/config "enabled=1,promote_rate_mb=512,cgroups=/a:/b=c"
same "they stand" "$(cat numa/config)" "enabled=1 $(echo "$numa_defaults" |
	sed 's/promote_rate_mb=256/promote_rate_mb=512/; s|cgroups=|cgroups=/a:/b=c|')"
check "status says on" grep -Eq '^numa +on +quiet' status
recreates numa/config "what config shows recreates it" "the same again"
recreates "$LMM_PARAMS/policies" "so does what policies shows" "all the same again"
same "the file shows what the parameter shows" "$(cat policies)" "$(cat "$LMM_PARAMS/policies")"
recreates policies "and recreates it, too" "still the same"
check "an empty list of cgroups" write_to numa/cgroups "\\n"
same "is empty" "$(cat numa/cgroups)" ""
check "counters of numa are name and value" awk 'NF != 2 || $2 !~ /^[0-9]+$/ { exit 1 }' numa/counters
check "state counts address spaces" grep -Eq '^# [0-9]+ address spaces$' numa/state
check "another mode while on" write_to numa/mode period
check "off" write_to numa/enabled 0
same "state is empty then" "$(cat numa/state)" ""
check "unloads" lmm_unload
