# SPDX-License-Identifier: GPL-2.0-only
"""Switching a host between arms, and back to how it was found."""

from __future__ import annotations

from collections.abc import Mapping

from livemmctl.control import Control, Settings
from livemmctl.errors import CtlError, Exit

Knobs = dict[str, dict[str, str]]


def found_on(control: Control) -> Knobs:
    """Every knob of every policy as it is now; policies that cannot be had are left out."""
    return {
        status.name: control.get(status.name)
        for status in control.policies()
        if status.state != "unsupported"
    }


def on_now(knobs: Settings) -> list[str]:
    """The policies that are on."""
    return [policy for policy, values in knobs.items() if values.get("enabled") == "1"]


def settings_for(found: Settings, wanted: Settings) -> Knobs:
    """All that has to be written for an arm: nothing of another arm is left behind.

    What the arm does not name is as it was found, and off.  Raises CtlError, UNSUPPORTED
    or USAGE, for a policy or knob that this host does not have.
    """
    settings = {policy: {**values, "enabled": "0"} for policy, values in found.items()}
    for policy, values in wanted.items():
        if policy not in settings:
            raise CtlError(f"{policy}: this host cannot have this policy", Exit.UNSUPPORTED,
                           "see: livemmctl status")
        for key in values:
            if key not in settings[policy]:
                raise CtlError(f"{policy}/{key}: no such knob", Exit.USAGE,
                               f"there are: {', '.join(settings[policy])}")
        settings[policy].update(values)
    return settings


class Switch:
    """A host's policies in the hands of an experiment."""

    def __init__(self, control: Control, found: Settings, lease_s: int) -> None:
        """`found` is what the host had before the experiment, as found_on() gives it."""
        self.control = control
        self.found = found
        self.lease_s = lease_s
        #: What we last wrote.
        self._written: Knobs = settings_for(found, {})

    def renew(self) -> None:
        """Renew the lease.  Raises CtlError."""
        self.control.set_lease(self.lease_s)

    def to_arm(self, wanted: Settings) -> None:
        """Switch to an arm, all or nothing.  Raises CtlError."""
        settings = settings_for(self.found, wanted)
        # First: should we die right after, the kernel already knows when to go back.
        self.renew()
        self.control.apply(settings)
        self._written = settings
        # A livepatch transition may have taken most of the lease.
        self.renew()

    def drift(self) -> Knobs:
        """Knobs that are no longer as we wrote them, with their value now."""
        changed: Knobs = {}
        for policy, values in self._written.items():
            now = self.control.get(policy)
            differing = {key: now.get(key, "") for key, value in values.items()
                         if now.get(key) != value}
            if differing:
                changed[policy] = differing
        return changed

    def lease_ran_out(self, changed: Settings) -> bool:
        """Is what changed just what the kernel does when the lease runs out?"""
        expected = {policy: {"enabled": "0"} for policy in on_now(self._written)}
        return changed == expected and self.control.lease() == 0

    def to_stock(self, leave: Mapping[str, object] | None = None) -> None:
        """Every policy off and its knobs as found, but for those in `leave`; ends the lease.

        Where that cannot be had in one, each policy is switched off by itself, and what
        then is still on is left to a lease of one second.  Raises CtlError.
        """
        stock = {
            policy: {**values, "enabled": "0"}
            for policy, values in self.found.items() if policy not in (leave or {})
        }
        try:
            self.control.apply(stock)
        except CtlError as error:
            if error.status == Exit.NOT_LOADED:
                return
            self._by_force(stock, error)
        self._written = {**self._written, **stock}
        self.control.set_lease(0)

    def _by_force(self, stock: Knobs, why: CtlError) -> None:
        stuck = []
        for policy in stock:
            try:
                self.control.apply({policy: {"enabled": "0"}})
            except CtlError:
                stuck.append(policy)
        if stuck:
            self.control.set_lease(1)
            raise CtlError(
                f"could not switch off {', '.join(stuck)} ({why.message}); the kernel does so"
                " itself in a second", why.status, "livemmctl status",
            )
