#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A load of bench.whatif: a file in memory comes and goes, in pieces of 1 MiB.  whatif_load.sh ROUNDS
set -eu

rounds=$1
while [ "$rounds" -gt 0 ]; do
	rounds=$((rounds - 1))
	dd if=/dev/zero of=/run/whatif bs=1M count=48 2>/dev/null
	rm /run/whatif
done
