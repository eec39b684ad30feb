#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Have what a make target needs, on a bare Debian 12: setup.sh [--kernels "SERIES..."] GROUP...
#
# Installs only missing packages of the groups (packages.sh), and no kernel on the host.  The group
# build fetches kernels: all of the matrix, or those that --kernels names.  all: every group.
set -eu

daemons="prometheus prometheus-alertmanager prometheus-node-exporter"
everything="build guests counting roots kernel scenarios cores fuzz model lint tools deb"
policy=/usr/sbin/policy-rc.d
cache=${LIVEMM_CACHE:-${HOME:-/root}/.cache/livemm}
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=guests/packages.sh
. "$here/guests/packages.sh"

say() {
	echo "setup: $*"
}

die() {
	echo "error: $*" >&3
	exit 2
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wants() {
	case " $groups " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# The tarball and the image must be of one age, hence one update for both.
apt_update() {
	[ -n "${updated:-}" ] && return
	say "apt-get update"
	apt-get -qq update || say "apt-get update failed; going on with the lists there are"
	updated=yes
}

# apt takes a name that it does not know for a pattern, and installs whatever matches.
refuse_unknown() {
	apt-cache pkgnames >"$cache/pkgnames"
	unknown=
	for package in $missing; do
		grep -qx "$package" "$cache/pkgnames" || unknown="$unknown $package"
	done
	rm -f "$cache/pkgnames"
	[ -z "$unknown" ] || die "this Debian ($(cat /etc/debian_version)) has no$unknown;" \
		"livemm is developed on Debian 12"
}

install_missing() {
	missing=
	for group in $groups; do
		names=$(packages_of "$group") || die "$group: no group of guests/packages.sh"
		for package in $names; do
			case "$missing " in
			*" $package "*) ;;
			*) installed "$package" || missing="$missing $package" ;;
			esac
		done
	done
	[ -z "$missing" ] && return
	apt_update
	refuse_unknown
	say "installing$missing"
	keep_services_off
	# shellcheck disable=SC2086 # a list of words
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		-o DPkg::Lock::Timeout=600 install $missing >"$cache/apt.log" 2>&1 ||
		die "apt-get install failed: $(tail -n 3 "$cache/apt.log")"
	disable_services
	allow_services
}

# Some packages bring daemons, and tests start their own. Debian would start them now and at
# each boot: neither, but what was installed before we came stays as it is.
keep_services_off() {
	[ -e "$policy" ] && return
	trap allow_services EXIT
	trap 'exit 2' HUP INT TERM
	made_policy=yes
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
}

allow_services() {
	[ -z "${made_policy:-}" ] || rm -f "$policy"
	made_policy=
}

disable_services() {
	for package in $daemons; do
		case " $missing " in
		*" $package "*) systemctl --quiet disable "$package.service" >>"$cache/apt.log" 2>&1 ||
			say "cannot disable $package.service; see $cache/apt.log" ;;
		esac
	done
}

# pip_install FILE: have what the file lists in the Python environment.
pip_install() {
	venv=$cache/venv
	key=$(cat "$here/$1" /etc/debian_version | sha256sum | cut -c1-16)
	stamp=$venv/.$(echo "$1" | tr / -)
	[ "$(cat "$stamp" 2>/dev/null)" = "$key" ] && return
	say "installing $(grep -v '^#' "$here/$1" | tr '\n' ' ')for Python into the cache"
	[ -x "$venv/bin/pip" ] || /usr/bin/python3 -m venv "$venv" >"$cache/pip.log" 2>&1 ||
		die "python3 -m venv failed: $(tail -n 3 "$cache/pip.log")"
	"$venv/bin/pip" -q --disable-pip-version-check install -r "$here/$1" \
		>"$cache/pip.log" 2>&1 || die "pip install failed: $(tail -n 3 "$cache/pip.log")"
	echo "$key" >"$stamp"
}

exec 3>&2
series=
if [ "${1:-}" = --kernels ]; then
	series=${2:-}
	shift 2
fi
groups="$*"
[ "$groups" != all ] || groups=$everything
[ -n "$groups" ] || die "usage: setup.sh [--kernels \"SERIES...\"] GROUP... | all"
[ "$(id -u)" = 0 ] || die "must be root: packages, guests and DKMS need it"
command -v apt-get >/dev/null || die "this is not a Debian machine"
for folder in "$here" "$cache"; do
	case $folder in
	/dev/* | /proc/* | /run/* | /sys/*) die "$folder: a guest cannot see this folder" ;;
	/*) ;;
	*) die "LIVEMM_CACHE=$folder: must be an absolute path" ;;
	esac
done
mkdir -p "$cache"

# Two setups at once would fight over apt and the cache.
exec 9>"$cache/.lock"
if command -v flock >/dev/null; then
	flock 9
fi
install_missing
! wants guests || pip_install guests/requirements.txt
if wants lint || wants tools; then
	pip_install tests/requirements.txt
fi
cd "$here"
if wants build; then
	[ -n "$(apt-cache policy linux-image-amd64)" ] || apt_update
	# shellcheck disable=SC2086 # a list of words
	/usr/bin/python3 -m guests.kernels fetch $series
fi
! wants guests || /usr/bin/python3 -m guests.emulator fetch
