#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loads livemm and runs a command line in livemm's folder; tests/look.py boots the guest.
. "$LMM_ROOT/tests/scenarios/lib.sh"

modprobe livemm || { dmesg | grep "livemm: "; exit 1; }
cd "$LMM_DBG" && eval "$1"
