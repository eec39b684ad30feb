# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# kernels: 6.1 6.12 debug
# cpus: 2
# memory: 1G
#
# Load and unload 20 times under allocation load.
. "$LMM_ROOT/tests/scenarios/lib.sh"

load_start
round=0
while [ "$round" -lt 20 ]; do
	need lmm_load
	need test -r "$LMM_DBG/version"
	need lmm_unload
	need test ! -e "$LMM_DBG"
	round=$((round + 1))
done
load_stop
same "loaded and unloaded under load" "$round" 20
