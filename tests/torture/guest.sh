# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The script of a torture guest: the program of steps is the file LMM_PROGRAM.
cd "$LMM_ROOT" || exit 1
mountpoint -q /sys/fs/cgroup || mount -t cgroup2 none /sys/fs/cgroup
mountpoint -q /dev/shm || mount -t tmpfs none /dev/shm
exec env PYTHONDONTWRITEBYTECODE=1 python3 -m tests.torture.guest "$LMM_PROGRAM"
