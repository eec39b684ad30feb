# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by scenarios that run the real command line, livemmctl.
#
#   ctl_setup                livemmctl in memory, an /etc of the guest's own
#   ctl NAME STATUS WORD...  run livemmctl; a check: its exit code, and at most one line of errors
#   said NAME TEXT           a check: what it printed, or its error, has TEXT
#   holds NAME EXPR          ask for a check: EXPR, in Python, of the document `d` of NAME
#   shows NAME EXPR          ask for a note of what EXPR is
#   ctl_judge                make those checks; every document parses, nothing is a traceback
#
# To start Python and import what the command needs takes seconds under emulation, so
# `ctl` has a process that has done both fork and run it, and ctl_judge reads all documents
# at once.  A NAME with " --json" in it is of a run with that option.

SAID=/run/said
CTL=/run/tools/bin/livemmctl

# The guest's root is the host's, read only.  From memory Python starts sooner, and what
# it has compiled is kept there.
ctl_setup() {
	mkdir -p "$SAID" /run/tools /run/etc /run/host-etc
	for _part in bin livemmctl profiles experiments; do
		need cp -r "$LMM_ROOT/tools/$_part" /run/tools/
	done
	need mount --rbind /etc /run/host-etc
	for _file in /run/host-etc/*; do
		ln -s "$_file" /run/etc/
	done
	# Some hosts have none.
	rm -f /run/etc/machine-id
	echo 4e7a918525b94da8ad4b4f264a130726 >/run/etc/machine-id
	need mount --bind /run/etc /etc
	: >/run/asked
	mkfifo /run/ctl_asked /run/ctl_answer
	# shellcheck disable=SC2094 # not files
	/usr/bin/python3 "$LMM_ROOT/tests/scenarios/lib_ctl.py" serve "$CTL" \
		</run/ctl_asked >/run/ctl_answer 3>&- &
	exec 8>/run/ctl_asked 9</run/ctl_answer
}

ctl() {
	_ctl=$1 _want=$2
	shift 2
	_out="$SAID/$_ctl.out" _err="$SAID/$_ctl.err"
	printf '%s%s\n' "$_out" "$(printf '\t%s' "$_err" "$@")" >&8
	read -r _got <&9 || _got="that of no answer"
	printf '$ livemmctl %s\n' "$*"
	cat "$_out" "$_err"
	if [ "$_got" != "$_want" ]; then
		fail "$_ctl" "exit code $_got, not $_want: $(tail -n 3 "$_err")"
	elif [ "$(wc -l <"$_err")" -gt 1 ]; then
		fail "$_ctl" "more than one line of errors: $(head -n 3 "$_err")"
	else
		ok "$_ctl: exit code $_want"
	fi
}

# Else print what was said, for the note of the failed check.
has_said() { grep -qF -e "$2" "$SAID/$1.out" "$SAID/$1.err" || ! cat "$SAID/$1.out" "$SAID/$1.err"; }
said() { check "$1: says '$2'" has_said "$1" "$2"; }

holds() { printf '%s\t%s\n' "$1" "$2" >>/run/asked; }
shows() { holds "$1" ":$2"; }

ctl_judge() {
	/usr/bin/python3 "$LMM_ROOT/tests/scenarios/lib_ctl.py" judge "$SAID" /run/asked \
		>/run/judged || fail "the judge of what was said"
	cat /run/judged
	cat /run/judged >&3
}
