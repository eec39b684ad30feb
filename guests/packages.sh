# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Debian packages, by what needs them: packages_of GROUP prints one line of names.

packages_of() {
	case $1 in
	# The modules, for kernels of the host's own suite, and programs for guests.
	build) echo bc build-essential dwarves gcc-12 kmod libelf1 libssl3 rsync ;;
	# Guests on the emulator of the cache.
	guests) echo busybox-static file iproute2 kmod lz4 procps python3-venv udev util-linux \
		xz-utils zstd ;;
	# Guests that count instructions run on the host's own emulator.
	counting) echo qemu-system-x86 ;;
	# A folder of another suite.
	roots) echo debootstrap ;;
	# A kernel from Debian's source, and the scripts of that source.
	kernel) echo bison cpio flex libelf-dev libssl-dev linux-source-6.1 xz-utils ;;
	# What scenarios, the torture and the tests of commands run in guests.
	scenarios) echo bpftrace bsdextrautils cpio dmsetup e2fsprogs file libcap-dev \
		libnuma-dev linux-perf openssl python3-click python3-prometheus-client python3-rich \
		prometheus stress-ng ;;
	cores) echo build-essential gcc-12 ;;
	fuzz) echo build-essential clang-14 gcc-12 libclang-rt-14-dev llvm-14 ;;
	model) echo build-essential spin ;;
	lint) echo python3-venv shellcheck sparse ;;
	tools) echo ansible-core build-essential curl groff-base openssh-client openssl prometheus \
		prometheus-alertmanager prometheus-node-exporter python3-click python3-dev \
		python3-hypothesis python3-jinja2 python3-matplotlib python3-prometheus-client \
		python3-pytest python3-rich python3-scipy python3-statsmodels python3-venv zsh ;;
	deb) echo apt-utils debhelper debootstrap dh-dkms dh-python dkms dpkg-dev e2fsprogs \
		file systemd ;;
	ansible) echo ansible-core debhelper debootstrap dh-dkms dh-python dpkg-dev \
		openssh-client ;;
	*) return 1 ;;
	esac
}
