# SPDX-License-Identifier: GPL-2.0-only
#
# Sourced by scenarios that compare the kernel's count of free pages with the free lists.
#
#   miscounted               pages that the zones count as free, without those that are on free lists
#   all_counted              is that none, or nearly?

miscounted() {
	write_to /proc/sys/vm/stat_refresh 1 || return 1
	{ cat /proc/buddyinfo; echo; cat /proc/zoneinfo; } | awk '
		/^Node.*zone/ && NF > 6 {
			for (i = NF; i > 4; i--)
				sum = 2 * sum + $i
			listed += sum
			sum = 0
		}
		$1 == "nr_free_pages" { counted += $2 }
		END { print counted - listed }'
}

all_counted() { near "$(miscounted)" 0 400; }
