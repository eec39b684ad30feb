# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.1
# named: 6.12 debug
# cpus: 4
# nodes: 2
# memory: 2G
# emulation: both
#
# The harness itself: the guest is the machine that was asked for, modules are found, and nothing
# of the host can be written.
. "$LMM_ROOT/tests/scenarios/lib.sh"

same "kernel release" "$(uname -r)" "$LMM_RELEASE"
same "CPUs online" "$(getconf _NPROCESSORS_ONLN)" 4
same "node 0 has two CPUs" "$(cat /sys/devices/system/node/node0/cpulist)" 0-1
same "node 1 has two CPUs" "$(cat /sys/devices/system/node/node1/cpulist)" 2-3
check "panic_on_warn is set" grep -qw panic_on_warn=1 /proc/cmdline
check "debugfs is mounted" test -d /sys/kernel/debug/tracing
check "livepatch is there" test -d /sys/kernel/livepatch
check "kernel BTF is there" test -s /sys/kernel/btf/vmlinux
check "modprobe finds livemm" modinfo -F version livemm
refute "the checkout is read only" touch "$LMM_ROOT/kernels.toml"
