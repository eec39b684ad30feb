# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# kernels: 6.1 6.12 debug
# cpus: 2
# memory: 1G
# timeout: 600
#
# Load and unload 20 times under allocation load.
. "$LMM_ROOT/tests/scenarios/lib.sh"

stress-ng --quiet --vm 2 --vm-bytes 64M --vm-keep --timeout 0 &
load=$!

round=0
while [ "$round" -lt 20 ]; do
	need lmm_load
	need test -r "$LMM_DBG/version"
	need lmm_unload
	need test ! -e "$LMM_DBG"
	round=$((round + 1))
done
kill "$load"
wait "$load"
same "loaded and unloaded under load" "$round" 20
