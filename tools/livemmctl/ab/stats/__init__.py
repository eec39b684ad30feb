# SPDX-License-Identifier: GPL-2.0-only
"""Statistics: scipy and statsmodels compute, what is here arranges for them."""
