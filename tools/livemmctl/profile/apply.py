# SPDX-License-Identifier: GPL-2.0-only
"""Bring a host to what a profile says, all or nothing."""

from __future__ import annotations

from livemmctl.control import ModuleControl
from livemmctl.errors import CtlError, Exit
from livemmctl.profile.model import same_value
from livemmctl.profile.plan import Change, Every, settings_of


def differences(now: Every, wanted: Every) -> list[str]:
    """Names of what is in `wanted` and is not so."""
    return [
        f"{policy}/{key}"
        for policy, knobs in wanted.items() for key, value in knobs.items()
        if not same_value(now.get(policy, {}).get(key, "\0"), value)
    ]


def put_back(control: ModuleControl, before: Every, cause: CtlError) -> CtlError:
    """After a refusal have everything as before; returns what to tell."""
    try:
        left = differences(control.settings(), before)
        if left:
            control.apply({policy: dict(knobs) for policy, knobs in before.items()})
            left = differences(control.settings(), before)
    except CtlError as error:
        return CtlError(f"{cause.message}; and what was set before could not be put back: "
                        f"{error.message}", Exit.PARTIAL, "livemmctl status")
    if left:
        return CtlError(f"{cause.message}; not put back: {', '.join(left)}", Exit.PARTIAL,
                        "livemmctl status")
    return CtlError(f"{cause.message}; nothing was changed", cause.status, cause.hint)


def apply_changes(control: ModuleControl, changes: list[Change]) -> None:
    """Make the changes, in one write, and see that they stand.

    Raises CtlError: the kernel's refusal, with everything as before; PARTIAL where that
    could not be had.
    """
    if not changes:
        return
    before = control.settings()
    wanted = settings_of(changes)
    try:
        control.apply(wanted)
        wrong = differences(control.settings(), wanted)
        if wrong:
            raise CtlError(f"the kernel took it, but does not show it: {', '.join(wrong)}",
                           Exit.REFUSED)
    except CtlError as error:
        raise put_back(control, before, error) from None
