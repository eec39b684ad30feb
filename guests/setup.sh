#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Have what the build, the guests and the checks need, on a bare Debian 12.
# Installs only missing packages, and no kernel on the host.  Arguments name the kernel series
# to fetch.
set -eu

packages="ansible-core apt-utils bc binutils bison bpftrace bsdextrautils build-essential busybox-static
	ca-certificates clang-14 cpio debhelper debootstrap dh-dkms dh-python dkms dmsetup dpkg-dev
	dwarves e2fsprogs file flex gcc-12 git groff-base iproute2 kmod libcap-dev libclang-rt-14-dev
	libelf-dev libnuma-dev libssl-dev linux-perf linux-source-6.1 llvm-14 make openssh-client openssl
	procps prometheus prometheus-alertmanager prometheus-node-exporter
	python3 python3-click python3-hypothesis python3-jinja2 python3-matplotlib
	python3-prometheus-client python3-pytest python3-rich python3-scipy
	python3-statsmodels python3-venv qemu-system-x86 rsync shellcheck sparse spin stress-ng
	systemd udev util-linux xz-utils zsh zstd"
daemons="prometheus prometheus-alertmanager prometheus-node-exporter"
policy=/usr/sbin/policy-rc.d
cache=${LIVEMM_CACHE:-${HOME:-/root}/.cache/livemm}
here=$(cd "$(dirname "$0")/.." && pwd)

say() {
	echo "setup: $*"
}

die() {
	echo "error: $*" >&2
	exit 2
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The tarball and the image must be of one age, hence one update for both.
apt_update() {
	[ -n "${updated:-}" ] && return
	say "apt-get update"
	apt-get -qq update || say "apt-get update failed; going on with the lists there are"
	updated=yes
}

install_missing() {
	missing=
	for package in $packages; do
		installed "$package" || missing="$missing $package"
	done
	[ -z "$missing" ] && return
	apt_update
	say "installing$missing"
	keep_services_off
	# shellcheck disable=SC2086 # a list of words
	DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
		install $missing >"$cache/apt.log" 2>&1 ||
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

make_venv() {
	key=$(cat "$here/guests/requirements.txt" /etc/debian_version | sha256sum | cut -c1-16)
	[ "$(cat "$cache/venv/.key" 2>/dev/null)" = "$key" ] && return
	say "making the Python environment"
	rm -rf "$cache/venv"
	/usr/bin/python3 -m venv "$cache/venv" >"$cache/pip.log" 2>&1 ||
		die "python3 -m venv failed: $(tail -n 3 "$cache/pip.log")"
	"$cache/venv/bin/pip" -q --disable-pip-version-check install \
		-r "$here/guests/requirements.txt" >"$cache/pip.log" 2>&1 ||
		die "pip install failed: $(tail -n 3 "$cache/pip.log")"
	echo "$key" >"$cache/venv/.key"
}

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
[ -n "$(apt-cache policy linux-image-amd64)" ] || apt_update
make_venv
cd "$here"
/usr/bin/python3 -m guests.kernels fetch "$@"
/usr/bin/python3 -m guests.emulator fetch
say "done; kernels and tools are in $cache"
