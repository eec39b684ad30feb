#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: hands over to the guest's half of the bench.
set -eu

cd "$LMM_ROOT"
# The checkout is read-only here.
export PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 -m "$@"
