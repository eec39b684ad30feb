# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
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
# To start Python takes seconds under emulation, so ctl_judge reads all documents at once.
# A NAME with " --json" in it is of a run with that option.

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
}

ctl() {
	_ctl=$1 _want=$2
	shift 2
	_out="$SAID/$_ctl.out" _err="$SAID/$_ctl.err"
	/usr/bin/python3 "$CTL" "$@" >"$_out" 2>"$_err"
	_got=$?
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

said() {
	if grep -qF -e "$2" "$SAID/$1.out" "$SAID/$1.err"; then
		ok "$1: says '$2'"
	else
		fail "$1: says '$2'" "$(cat "$SAID/$1.out" "$SAID/$1.err" | head -n 3)"
	fi
}

holds() {
	printf '%s\t%s\n' "$1" "$2" >>/run/asked
}

shows() {
	printf '%s\t:%s\n' "$1" "$2" >>/run/asked
}

ctl_judge() {
	cat >/run/judge.py <<-'END'
		import json, pathlib, sys
		said, found = pathlib.Path(sys.argv[1]), {}
		def tell(name, good, note=""):
		    print(f"ok {name}" if good else f"not ok {name} # {note}"[:400])
		for path in sorted(said.iterdir()):
		    text = path.read_text()
		    if "Traceback" in text:
		        tell(f"{path.name}: no traceback", False, " ".join(text.split())[-300:])
		    if path.stem.endswith("--json") and text:
		        try:
		            found[path.stem] = json.loads(text)
		            good = found[path.stem]["output_version"] == 1
		        except (ValueError, TypeError, KeyError):
		            good = False
		        tell(f"{path.name} parses", good, text[:200])
		tell("nothing is a traceback", not any("Traceback" in p.read_text() for p in said.iterdir()))
		for line in pathlib.Path("/run/asked").read_text().splitlines():
		    name, _, expression = line.partition("\t")
		    d = found.get(name)
		    try:
		        value = eval(expression.lstrip(":"), {"d": d})
		        if expression.startswith(":"):
		            print(f"note {name}: {value}")
		            continue
		        good, note = bool(value), json.dumps(d)
		    except Exception as error:
		        good, note = False, repr(error)
		    tell(f"{name}: {expression}", good, note)
	END
	/usr/bin/python3 /run/judge.py "$SAID" >/run/judged || fail "the judge of what was said"
	cat /run/judged
	cat /run/judged >&3
}
