#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The first of ours to run in a guest: opens the verdict channel on fd 3 and a
# channel for what the script prints, makes sure that this is the machine which
# was asked for, puts the modules and the commands in their place, and runs the
# script.  Its environment comes from guests/boot.py.
set -u

script=$1
shift

for port in /sys/class/virtio-ports/*; do
	case $(cat "$port/name" 2>/dev/null) in
	"$LMM_PORT") exec 3>"/dev/${port##*/}" ;;
	"$LMM_OUTPUT_PORT") exec >"/dev/${port##*/}" 2>&1 ;;
	esac
done
if ! { true >&3; } 2>/dev/null; then
	echo "guest.sh: no verdict channel"
	exit 1
fi
# A part without a name says that the kernel came this far: see guests/boot.py.
echo part >&3

stop() {
	echo "guest.sh: $*"
	echo "note $*" >&3
	echo "end 1" >&3
	exit 1
}

cpus=$(getconf _NPROCESSORS_ONLN)
[ "$cpus" = "$LMM_CPUS" ] || stop "asked for $LMM_CPUS CPUs, got $cpus"
if [ "$LMM_NODES" -gt 1 ]; then
	nodes=$(find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' | wc -l)
	[ "$nodes" = "$LMM_NODES" ] || stop "asked for $LMM_NODES nodes, got $nodes"
fi
[ "$(uname -r)" = "$LMM_RELEASE" ] || stop "asked for $LMM_RELEASE, got $(uname -r)"

IFS=:
for place in $LMM_READONLY; do
	mount -o remount,bind,ro "$place" || stop "cannot make $place read only"
done
unset IFS

mountpoint -q /lib/modules || mount -t tmpfs none /lib/modules || stop "no tmpfs for /lib/modules"
mkdir -p "/lib/modules"
ln -sfn "$LMM_MODROOT" "/lib/modules/$LMM_RELEASE" || stop "cannot link the modules"
mountpoint -q /sys/kernel/debug || mount -t debugfs none /sys/kernel/debug
mountpoint -q /sys/kernel/tracing || mount -t tracefs none /sys/kernel/tracing

# To start a command of the host's takes 90 ms under emulation, most of it to find
# and read its libraries over 9p; a static one in memory takes 8.
fast=/run/livemm-commands
if ! { mkdir "$fast" && mount -t tmpfs none "$fast" && cp /usr/bin/busybox "$fast/"; }; then
	stop "no commands in memory"
fi
for name in awk cat comm cp cut dirname expr find grep head id ln mkdir mv rm sed seq \
	sleep sort stat tail touch tr true uniq wc; do
	"$fast/busybox" ln "$fast/busybox" "$fast/$name"
done

export PATH="$fast:/usr/sbin:/usr/bin:/sbin:/bin"
sh "$script" "$@"
status=$?
echo "end $status" >&3
exit "$status"
