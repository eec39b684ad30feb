# SPDX-License-Identifier: GPL-2.0-only
"""How zone->lock scales to many CPUs: a queueing model, and how far it was off."""
