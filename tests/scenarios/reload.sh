# SPDX-License-Identifier: GPL-2.0-only
# kernels: 6.12
# named: 6.1 7.2 debug
# cpus: 2
# memory: 1G
# emulation: parallel 6.12
#
# The module is loaded and unloaded many times under allocation load.
. "$LMM_ROOT/tests/scenarios/lib.sh"

load_start
rounds=$(soaked 8 20)
for round in $(seq "$rounds"); do
	need lmm_load
	need test -r "$LMM_DBG/version"
	need lmm_unload
	need test ! -e "$LMM_DBG"
done
check "the load still runs" lives pagetouch
load_stop
note "loaded and unloaded $round times under load"
