# SPDX-License-Identifier: GPL-2.0-only
"""All hosts, by name."""

from __future__ import annotations

from collections.abc import Mapping

from bench.hosts import cache
from bench.hosts.host import Host

HOSTS: Mapping[str, Host] = {host.name: host for host in (cache.CACHE,)}
# What nobody has measured yet, in the words of the page.
NOT_YET: Mapping[str, str] = {}
