#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The package as DKMS installed it: found, loaded, and out again.
. "$LMM_ROOT/tests/scenarios/lib.sh"

same "modprobe finds the packaged version" "$(modinfo -F version livemm)" "$1"
check "it is DKMS's own file" sh -c 'modinfo -n livemm | grep -q updates/dkms'
check "modprobe livemm" lmm_load
check "debugfs appears" test -r "$LMM_DBG/version"
check "rmmod" lmm_unload
