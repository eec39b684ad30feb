# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The script of a guest in which allocations fail: the cases of the group LMM_GROUP.
cd "$LMM_ROOT" || exit 1
mountpoint -q /dev/shm || mount -t tmpfs none /dev/shm
exec env PYTHONDONTWRITEBYTECODE=1 python3 -m tests.inject.guest "$LMM_GROUP"
