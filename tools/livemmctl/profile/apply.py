# SPDX-License-Identifier: GPL-2.0-only
"""Bring a host to what a profile says, all or nothing."""

from livemmctl.control import ModuleControl, Settings
from livemmctl.errors import CtlError, Exit
from livemmctl.profile.model import differing, names_of
from livemmctl.profile.plan import Change, settings_of


def put_back(control: ModuleControl, before: Settings, cause: CtlError) -> CtlError:
    """After a refusal have everything as before; returns what to tell."""
    try:
        left = differing(control.settings(), before)
        if left:
            control.apply(before)
            left = differing(control.settings(), before)
    except CtlError as error:
        return CtlError(f"{cause.message}; and what was set before could not be put back: "
                        f"{error.message}", Exit.PARTIAL, "livemmctl status")
    if left:
        return CtlError(f"{cause.message}; not put back: {names_of(left)}", Exit.PARTIAL,
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
        wrong = differing(control.settings(), wanted)
        if wrong:
            raise CtlError(f"the kernel took it, but does not show it: {names_of(wrong)}",
                           Exit.REFUSED)
    except CtlError as error:
        raise put_back(control, before, error) from None
