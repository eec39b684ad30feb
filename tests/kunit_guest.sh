#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run the suites in the debug kernel; their KTAP is what the kernel logs.
set -eu

dmesg -C
modprobe livemm_kunit
dmesg -t
