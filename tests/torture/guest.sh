# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The script of a torture guest: the program of steps is the file LMM_PROGRAM.
cd "$LMM_ROOT" || exit 1
mountpoint -q /dev/shm || mount -t tmpfs none /dev/shm
mkdir -p /run/lmm_cgroup
mount -t cgroup2 none /run/lmm_cgroup &&
	echo +memory >/run/lmm_cgroup/cgroup.subtree_control &&
	mkdir /run/lmm_cgroup/lmm_torture &&
	echo +memory >/run/lmm_cgroup/lmm_torture/cgroup.subtree_control || exit 1
exec env PYTHONDONTWRITEBYTECODE=1 python3 -m tests.torture.guest "$LMM_PROGRAM"
