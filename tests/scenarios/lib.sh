# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by every scenario.  A check is one line on the verdict channel (fd 3);
# a scenario that makes no check has failed.
#
#   ok NAME                  count a passed check
#   fail NAME [NOTE]         count a failed check
#   check NAME CMD...        passes when CMD succeeds
#   refute NAME CMD...       passes when CMD fails; a CMD that cannot be run, or cannot read its file
#                            (status 2 of grep and test), has not failed
#   same NAME GOT WANT       passes when both are equal
#   need CMD...              end the scenario as failed unless CMD succeeds
#   note TEXT                a line for the reader of the results
#   lmm_load [PARAM=...]     modprobe livemm, and wait for the policies that come on with it
#   lmm_unload               take livepatches of ours, and livemm, out again
#   lmm_wait                 wait until no policy waits for a livepatch any more
#   lmm_klp_unload           switch livepatches of ours off by sysfs, wait, rmmod
#   unloaded MODULE          is it not loaded?  If it is, rmmod tries
#   livepatch_off NAME       switch a livepatch off by sysfs; livepatch_gone: has the livepatch left?
#   any_klp_loaded           is there one?  klp_loaded prints their names
#   wait_for SECONDS CMD...  poll until CMD succeeds; guest seconds, not wall time
#   klp_wait CMD...          wait_for, as long as a livepatch may take to come or go
#   grown N CMD...           is the number that CMD prints above N?
#   gives TEXT CMD...        does CMD print TEXT?
#   near A B MARGIN          do the numbers differ by MARGIN at the most?
#   vmstat NAME...           sum of these rows of /proc/vmstat
#   meminfo NAME             a number of /proc/meminfo, in KiB
#   memory_offline AFTER     take a block of memory that the kernel lets go of offline, and print its
#                            folder: a later one than AFTER, any if AFTER is empty
#   memory_goes              take any block offline, and have it come back
#   soaked FEW MANY          how often to do it: MANY in `make soak`, else FEW
#
# Set for scenarios: LMM_KERNEL (6.1, 6.12, 7.2, debug), LMM_RELEASE, LMM_DEBUG (0, 1),
# LMM_SOAK (0, 1), LMM_CPUS, LMM_NODES, LMM_MODDIR (built modules), LMM_ROOT (the checkout,
# read only).

# shellcheck disable=SC2034 # used by scenarios
LMM_DBG=/sys/kernel/debug/livemm LMM_PARAMS=/sys/module/livemm/parameters

ok() {
	printf 'ok %s\n' "$*" >&3
	printf 'ok %s\n' "$*"
}

fail() {
	_name=$1
	shift
	printf 'not ok %s # %s\n' "$_name" "$(printf '%s' "$*" | tr '\n' ' ')" >&3
	printf 'not ok %s # %s\n' "$_name" "$*"
}

note() {
	printf 'note %s\n' "$*" >&3
	printf 'note %s\n' "$*"
}

check() {
	_name=$1
	shift
	if _out=$("$@" 2>&1); then
		ok "$_name"
	else
		fail "$_name" "status $? of: $*: $(echo "$_out" | tail -n 3)"
	fi
}

refute() {
	_name=$1
	shift
	_out=$("$@" 2>&1)
	case $? in
	0) fail "$_name" "succeeded: $*: $(echo "$_out" | tail -n 3)" ;;
	2 | 126 | 127) fail "$_name" "cannot be run: $*: $(echo "$_out" | tail -n 3)" ;;
	*) ok "$_name" ;;
	esac
}

same() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		fail "$1" "got '$2', want '$3'"
	fi
}

need() {
	"$@" && return
	fail "needed: $*"
	exit 1
}

_but_first() { shift && "$@"; }
# A program that waits by itself may be waited for: $1 counts, which is a function's own.
wait_for() {
	_left=$(($1 * 5))
	shift
	set -- "$_left" "$@"
	while ! _but_first "$@"; do
		_left=$(($1 - 1))
		shift
		set -- "$_left" "$@"
		[ "$1" -gt 0 ] || return 1
		# Each look costs two processes, under emulation up to 0.2 s of a CPU.
		sleep 0.2
	done
}

# 6.12 patches thousands of calls for each livepatch, and every CPU takes part each time: on a busy
# host over two minutes.
klp_wait() {
	if [ "$LMM_KERNEL" = 6.12 ]; then
		wait_for 600 "$@"
	else
		wait_for 90 "$@"
	fi
}

grown() {
	_least=$1
	shift
	[ "$("$@")" -gt "$_least" ]
}

gives() {
	_want=$1
	shift
	[ "$("$@")" = "$_want" ]
}

near() { [ $(($1 - $2)) -le "$3" ] && [ $(($2 - $1)) -le "$3" ]; }

loaded() { [ -d "/sys/module/$1" ]; }
unloaded() { ! loaded "$1" || rmmod "$1" 2>/dev/null; }

# No policy of these, by default of all, waits for a livepatch or is being switched on, or is on without
# a livepatch that is on its way.
none_waits() {
	! tells status "^${1:-[a-z]+} +((waiting|loading)( |\$)|on .*livemm_klp_[a-z]* is (being|in tr))"
}
lmm_wait() { klp_wait none_waits; }
lmm_load() { modprobe livemm "$@" && lmm_wait; }

klp_loaded() {
	for _module in /sys/module/livemm_klp*; do
		[ ! -d "$_module" ] || echo "${_module##*/}"
	done
}

any_klp_loaded() { [ -n "$(klp_loaded)" ]; }
livepatch_gone() { [ ! -e "/sys/kernel/livepatch/$1" ]; }

# Refused while another transition is under way.
livepatch_off() {
	livepatch_gone "$1" || gives 0 cat "/sys/kernel/livepatch/$1/enabled" 2>/dev/null ||
		echo 0 >"/sys/kernel/livepatch/$1/enabled"
}

lmm_klp_unload() {
	for _patch in $(klp_loaded); do
		klp_wait livepatch_off "$_patch" 2>/dev/null || return 1
		klp_wait livepatch_gone "$_patch" || return 1
		# The kernel lets go of the module a moment later; the helper may unload the module first.
		wait_for 10 unloaded "$_patch" || return 1
	done
}

# The recorder and the livepatches of livemm use livemm, so livemm goes last.
lmm_unload() {
	loaded livemm || return 0
	# By parameter: lockdown closes debugfs.
	for _policy in "$LMM_DBG"/*/enabled; do
		_policy=${_policy%/enabled}
		echo "${_policy##*/}:enabled=0" >"$LMM_PARAMS/policies" || return 1
	done
	wait_for 10 unloaded livemm_record && lmm_klp_unload && rmmod livemm
}

vmstat() { awk -v names=" $* " 'index(names, " " $1 " ") { sum += $2 } END { print sum + 0 }' /proc/vmstat; }
# Wholly free blocks of zone DMA32, by the kernel.
kernels_blocks() { awk '$4 == "DMA32" { print $14 + 2 * $15 }' /proc/buddyinfo; }
meminfo() { awk -v name="$1:" '$1 == name { print $2 }' /proc/meminfo; }

memory_offline() {
	_after=$1
	for _block in /sys/devices/system/memory/memory[0-9]*; do
		if [ -n "$_after" ]; then
			[ "$_block" != "$_after" ] || _after=
			continue
		fi
		[ "$(cat "$_block/removable" 2>/dev/null)" = 1 ] || continue
		timeout 60 sh -c "echo offline >$_block/state" 2>/dev/null || continue
		echo "$_block"
		return
	done
	return 1
}

memory_goes() { _gone=$(memory_offline "") && echo online >"$_gone/state"; }
soaked() { [ "${LMM_SOAK:-0}" = 1 ] && echo "$2" || echo "$1"; }

# What follows is about page lists and the control files.
#
#   load_start, load_stop    LOAD_PROCS processes (LOAD_ROUNDS: their options) that map, touch and unmap; default one a CPU on 6.1
#   lists_bounds             node, zone, CPU, bound, default; a line a list
#   lists_changed            those of them that do not have their default
#   tunes                    does the kernel move bounds of lists itself (from 6.7 on)?
#   raised_by [ZONE [NODE]]  pages by which the policy has raised lists of node 0, or "any", in all zones or in one
#   lists_raised             has the policy raised a list?
#   lists_idle               has it raised none?
#   zone_raised ZONE         has it raised one of that zone of node 0?
#   zone_pages NAME [ZONE]   a number of node 0, in pages: `free`, `high` (the watermark), `count` (in lists); summed over the zones that programs' memory comes from, or of one
#   pages_unaccounted        managed pages that no counter of the kernel explains
#   pages_before POLICY      load livemm, switch the policy on and off, and have $pages: pages_unaccounted
#   all_back                 checks at the end: pages_unaccounted is about $pages, livemm unloads
#   pcp_before               pages_before pcp, and have $bounds, which is to be there in the end, too
#   pcp_after PREFIX         switch pcp off; two checks, with names that begin so: what is left of it
#   work_start MIB           one process on CPU 0 that maps, touches and unmaps, resting in between; load_stop ends it
#   hog_start MIB [CMD...]   a process $hog (lmm_hog), run by CMD, that takes memory and keeps it; $hog_options: more of its options
#   victim_start MIB [CGROUP]   a hog that the OOM killer takes first, in a cgroup if one is named
#   hog_settled              wait until the last hog has touched all of that, or is killed; hog_hold: start one and wait
#   hog_end                  end every hog
#   lives NAME               is there a process of that name that has not ended?
#   cgroup_make NAME FILE VALUE   the cgroup $cgroup/NAME, with VALUE in the file of its controller
#   counter NAME [POLICY]     a counter, by default of pcp
#   counted NAME N           is a counter of pcp above N?
#   tells FILE REGEX         has a line of the control file a match?
#   policy_is NAME WORD      is WORD its state in `status`?
#   hook_is NAME WORD        is WORD its state in `hooks`?
#   hook_hits NAME           how often the hook ran
#   armed                    rows of `hooks` that are armed
#   none_armed [PREFIX]      a check: no hook is armed
#   hooks_armed NAME...      checks: each of these hooks is armed
#   state_rows               the rows of its `state`
#   write_to FILE TEXT       write TEXT as it is, without a newline; a policy that waits for a livepatch
#                            then is waited for
#   write_only FILE TEXT     the same, without waiting
#   refuses FILE TEXT ERRNO WORDS   a write must fail so, with WORDS in last_error
#   uptime_ms                time since boot, in ms
#   bad_profile              a profile for livemmctl: of its values the kernel refuses the last one
#   census_pages FILE COLUMNS ROW   pages of these columns of a census, summed over the zones
#   census_take FILE         read a census; status 1 if it is not whole

load_start() {
	# Emulated CPUs take turns of 0.1 s, and each patched instruction waits for a
	# turn of every busy one.  6.12 patches every cond_resched() for a livepatch
	# transition, one by one, and the debug kernel is slow as it is: so one process
	# there, that rests between rounds.
	_procs=${LOAD_PROCS:-1} _rounds=${LOAD_ROUNDS:--w 16 -F 60}
	if [ "$LMM_KERNEL" = 6.1 ]; then
		_procs=${LOAD_PROCS:-$LMM_CPUS} _rounds=${LOAD_ROUNDS:--w 48}
	fi
	# shellcheck disable=SC2086 # words
	"$LMM_ROOT/build/bench/pagetouch" $_rounds -r 1000000 -p "$_procs" >/dev/null &
	load=$!
}

load_stop() {
	# By number, too: what was just started may have the name of the shell still.
	kill "$load" 2>/dev/null
	pkill pagetouch
	wait "$load" 2>/dev/null
	return 0
}

# Bounds that cannot be read would equal each other.  Whoever reads the pipe may have seen enough
# before the end, and would make cat fail.
lists_bounds() {
	loaded lmm_lists || insmod "$LMM_MODDIR/lmm_lists.ko"
	bounds_read=$(cat /sys/module/lmm_lists/parameters/bounds) || fail "bounds of lists are read"
	printf '%s\n' "$bounds_read"
}

# Lists whose bound is not their zone's default; none when all is restored.
lists_changed() { lists_bounds | awk '$4 != $5'; }

tunes() { lists_bounds | awk '{ split($5, b, /\.\./); if (b[1] != b[2]) found = 1 } END { exit !found }'; }

# Where the kernel tunes, it raises lists as well: the policy's are those with a reason.
raised_by() {
	awk -v node="${2:-0}" -v zone="${1:-}" '($1 == node || node == "any" && $1 ~ /^[0-9]+$/) &&
		(zone == "" || $2 == zone) && $5 > $6 && $10 !~ /^(default|idle)$/ {
		sum += $5 - $6 } END { print sum + 0 }' "$LMM_DBG/pcp/state"
}

lists_raised() { [ "$(raised_by "" any)" -gt 0 ]; }
lists_idle() { ! lists_raised; }
zone_raised() { grown 0 raised_by "$1"; }

zone_pages() {
	awk -v name="$1" -v only="${2:-}" '
		/^Node/ { ours = $2 == "0," && (only == "" ? $4 != "DMA" : $4 == only) }
		!ours { next }
		$1 == "pages" && $2 == name { sum += $3 }
		name ~ /^(min|low|high|managed)$/ && $1 == name && NF == 2 { sum += $2 }
		name == "count" && $1 == "count:" { sum += $2 }
		END { print sum + 0 }' /proc/zoneinfo
}

# Drained of what comes and goes by itself, so that two readings compare.
pages_unaccounted() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	echo 1 >/proc/sys/vm/compact_memory
	sleep 1
	_pages=$(awk '$1 == "managed" { sum += $2 }
		$1 == "count:" || $1 == "nr_free_pages" || $1 == "nr_zone_unevictable" ||
		$1 ~ /^nr_zone_(in)?active_(anon|file)$/ { sum -= $2 }
		END { print sum }' /proc/zoneinfo)
	_kib=$(($(vmstat nr_kernel_stack) + $(meminfo Percpu) + $(meminfo VmallocUsed)))
	echo $((_pages - _kib / 4 -
		$(vmstat nr_slab_reclaimable nr_slab_unreclaimable nr_page_table_pages)))
}

all_back() {
	_lost=$(($(pages_unaccounted) - pages))
	note "pages unaccounted for, after less before: $_lost"
	check "no page is missing" test "$_lost" -lt 1024
	check "no page is too many" test "$_lost" -gt -1024
	check "unloads" lmm_unload
}

# Livepatches load at the first switch, so that both readings contain their memory.
pages_before() {
	loaded livemm || need lmm_load
	need write_to "$LMM_DBG/$1/enabled" 1
	need write_to "$LMM_DBG/$1/enabled" 0
	pages=$(pages_unaccounted)
}

pcp_before() {
	bounds=$(lists_bounds)
	pages_before pcp
}

pcp_after() {
	need write_to "$LMM_DBG/pcp/enabled" 0
	same "$1list bounds are as before" "$(lists_bounds)" "$bounds"
	none_armed "$1"
}

work_start() {
	taskset -c 0 "$LMM_ROOT/build/bench/pagetouch" -w "$1" -r 1000000 -p 1 -F 60 >/dev/null &
	load=$!
}

# A name of its own, so that load_stop leaves it alone and the kernel's log tells it.
hog=lmm_hog hogs=0 hog_options=
hog_start() {
	_mib=$1
	shift
	hogs=$((hogs + 1))
	hog_says=/run/$hog.$hogs
	: >"$hog_says"
	ln -sf "$LMM_ROOT/build/bench/pagetouch" "/run/$hog"
	# shellcheck disable=SC2086 # words
	"$@" "/run/$hog" -a $hog_options -w "$_mib" -r 1 -p 1 -H 600000 >"$hog_says" 2>&1 &
	hog_pid=$!
}

victim_start() {
	hog_start "$1" sh -c "echo 1000 >/proc/self/oom_score_adj
		[ -z '${2:-}' ] || echo 0 >'${2:-}'/cgroup.procs
		exec \"\$@\"" sh
}

hog_hold() {
	hog_start "$@"
	hog_settled
}

# By its state, a hog that is still a shell looks like one that is done, and one that was killed,
# and that nobody has waited for, like one that has begun.  So the hog says that it has touched its
# memory.
hog_holds() { grep -qx held "$hog_says"; }
hog_answered() { hog_holds || ! kill -0 "$hog_pid" 2>/dev/null; }
hog_settled() {
	wait_for 600 hog_answered || fail "the hog has touched its memory"
	hog_holds || note "no hog has memory: $(tail -n 1 "$hog_says")"
}

# A process that was killed keeps its name until somebody waits for the process.
lives() { pgrep -r R,S,D "$1" >/dev/null; }
hog_gone() { ! lives "$hog"; }
hog_end() {
	# What was just started may have the name of the shell still.
	case $(readlink "/proc/${hog_pid:-none}/exe") in
	"" | */pagetouch) ;;
	*) kill "$hog_pid" 2>/dev/null ;;
	esac
	pkill "$hog"
	wait_for 30 hog_gone
}

cgroup=/run/lmm_cgroup
cgroup_make() {
	need mkdir -p $cgroup
	need mount -t cgroup2 none $cgroup
	need write_to $cgroup/cgroup.subtree_control "+${2%%.*}"
	need mkdir "$cgroup/$1"
	need write_to "$cgroup/$1/$2" "$3"
}

counter() { awk -v name="$1" '$1 == name { print $2 }' "$LMM_DBG/${2:-pcp}/counters"; }
counted() { grown "$2" counter "$1"; }
state_rows() { grep '^[0-9]' "$LMM_DBG/pcp/state"; }
tells() { grep -Eq -e "$2" "$LMM_DBG/$1"; }
policy_is() { tells status "^$1 +$2( |\$)"; }
hook_is() { tells hooks "^$1 +[a-z]+ +[^ ]+ +$2 "; }
hook_hits() { awk -v name="$1" '$1 == name { print $5 }' "$LMM_DBG/hooks"; }
armed() {
	armed_read=$(awk '$4 == "armed"' "$LMM_DBG/hooks") || fail "hooks are read"
	[ -z "$armed_read" ] || printf '%s\n' "$armed_read"
}
hooks_armed() {
	for _hook in "$@"; do
		check "hook $_hook is armed" hook_is "$_hook" armed
	done
}
none_armed() { same "${1:-}no hook is left armed" "$(armed)" ""; }

bad_profile() {
	cat <<-'END'
		[policy.numa]
		enabled = true
		promote_rate_mb = 512

		[policy.pcp]
		enabled = true
		decay_ms = 499
	END
}

uptime_ms() { awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime; }

census_take() {
	cat "$LMM_DBG/pageblock/census" >"$1" && ! grep -q '^# [a-mo-z]' "$1"
}

census_pages() {
	awk -v columns=" $2 " -v row="$3" '
		NR == 1 { for (i = 2; i <= NF; i++) if (index(columns, " " $i " ")) at[i - 1] }
		/^[0-9]/ && $3 == row { for (i in at) sum += $i }
		END { print sum + 0 }' "$1"
}

# Not the shell's own printf, which does not say why a write has failed.  A guest in memory alone has
# the program elsewhere.
_printf=/usr/bin/printf
[ -x "$_printf" ] || _printf="env printf"
# shellcheck disable=SC2086 # two words
# Status 1 also where the file cannot be opened.
write_only() { LC_ALL=C $_printf '%b' "$2" >"$1" || return 1; }
write_to() {
	write_only "$@" || return 1
	_of=${1%/*}
	case $1 in
	"$LMM_PARAMS/policies") lmm_wait ;;
	*/enabled | */config | */mode)
		[ ! -e "$LMM_DBG/${_of##*/}/config" ] || klp_wait none_waits "${_of##*/}"
		;;
	esac
}

refuses() {
	_what="${1#"$LMM_DBG"/} refuses '$2'"
	_before=$(cat "$LMM_DBG"/*/config)
	if _said=$(write_only "$1" "$2" 2>&1); then
		fail "$_what" "accepted"
	elif ! echo "$_said" | grep -qF -e "$3"; then
		fail "$_what" "said $_said, want $3"
	elif ! grep -qF -e "$4" "$LMM_DBG/last_error"; then
		fail "$_what" "last_error: $(cat "$LMM_DBG/last_error")"
	else
		same "$_what" "$(cat "$LMM_DBG"/*/config)" "$_before"
	fi
}
