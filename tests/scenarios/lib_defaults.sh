# SPDX-License-Identifier: GPL-2.0-only
# Policies and the defaults of their knobs; made by: python3 -m tests.tables --write
# shellcheck disable=SC2034 # scenarios read these
policies="zonelock cma pcp pageblock numa"
zonelock_defaults="max_pages_pct=4 max_age_ms=1000"
cma_defaults="mode=keep keep_ms=30000 move_pages_per_s=65536"
pcp_defaults="mode=event high_max_pct=12.5 decay_ms=3000"
pageblock_defaults="reserve_blocks=16 move_pages_per_s=1450"
numa_defaults="mode=quiet promote_rate_mb=256 cgroups="
