# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced after lib.sh by scenarios in which large blocks are scarce.
#
#   half_free          load livemm where few blocks are free in one piece: of all but 220 MiB every
#                      second page is free.  The kernel leaves it so, unless it is asked to compact
#   frame NAME         a parameter of lmm_frames.ko
#   frames_go NAME     have its interrupt ask, on CPU 1, which has loaded it; a check: all is asked

half_free() {
	need insmod "$LMM_MODDIR/lmm_holes.ko" pages=$((($(meminfo MemFree) - 220 * 1024) / 4))
	need lmm_load
	need write_to /proc/sys/vm/compaction_proactiveness 0
	echo 1 >/proc/sys/vm/drop_caches
}

frames=/sys/module/lmm_frames/parameters
frame() { cat $frames/"$1"; }
frames_asked() { [ "$(frame made)" = "$(frame requests)" ]; }
frames_go() {
	need taskset -c 1 sh -c "echo 1 >$frames/go"
	check "$1: all requests are made" wait_for 120 frames_asked
}
