# SPDX-License-Identifier: GPL-2.0-only
"""Switching a host between arms, and back to how it was found."""

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from livemmctl import awaiting
from livemmctl.ab.journal import Past
from livemmctl.control import Knobs, ModuleControl, Settings, on_in, unknown_knob
from livemmctl.errors import CtlError, Exit
from livemmctl.profile.defaults import default_of
from livemmctl.profile.model import differing, names_of


def found_on(control: ModuleControl) -> Knobs:
    """Every knob of every policy as it is now; policies that cannot be had are left out."""
    missing = {row.name for row in control.policies() if row.state == "unsupported"}
    return {name: knobs for name, knobs in control.settings().items() if name not in missing}


def found_before(past: Past | None, now: Knobs) -> Knobs:
    """What an earlier runner found, rather than what it made of it; without one, `now`."""
    found = None if past is None else past.start.get("found")
    if not isinstance(found, dict) or found.keys() != now.keys():
        return now
    if not all(isinstance(values, dict) for values in found.values()):
        return now
    return {policy: {key: str(found[policy].get(key, value)) for key, value in values.items()}
            for policy, values in now.items()}


def settings_for(base: Settings, wanted: Settings) -> Knobs:
    """All knobs as an arm wants them: nothing of another arm is left behind.

    What the arm does not name is as in `base`, and off.  Raises CtlError, UNSUPPORTED or
    USAGE, for a policy or knob that this host does not have.
    """
    settings = {policy: {**values, "enabled": "0"} for policy, values in base.items()}
    for policy, values in wanted.items():
        if policy not in settings:
            raise CtlError(f"{policy}: this host cannot have this policy", Exit.UNSUPPORTED,
                           "see: livemmctl status")
        for key in values:
            if key not in settings[policy]:
                raise unknown_knob(policy, key, settings[policy])
        settings[policy].update(values)
    return settings


def with_defaults(found: Settings, defaults: Knobs) -> Knobs:
    """The module's defaults where they are known, so that all hosts of an arm are alike."""
    return {
        policy: {key: value if (known := default_of(defaults, policy, key)) is None else known
                 for key, value in values.items()}
        for policy, values in found.items()
    }


@dataclass
class Switch:
    """A host's policies in the hands of an experiment."""

    control: ModuleControl
    #: What the host had before the experiment, as found_on() gives it.
    found: Settings
    lease_s: int
    #: What the knobs are that an arm does not name.
    base: Settings
    #: Is there still a module?
    is_loaded: Callable[[], bool] = lambda: True
    #: Seconds of a clock that runs on through suspend, as a lease does.
    elapsed: Callable[[], float] = partial(time.clock_gettime, time.CLOCK_BOOTTIME)

    def __post_init__(self) -> None:
        #: What we last wrote.
        self._written: Knobs = settings_for(self.found, {})
        self._renewed_s = -math.inf

    def renew(self) -> None:
        self.control.set_lease(self.lease_s)
        self._renewed_s = self.elapsed()

    def to_arm(self, wanted: Settings) -> None:
        settings = settings_for(self.base, wanted)
        # First: should we die right after, the kernel already knows when to go back.
        self.renew()
        self._bring_to(settings)
        self._written = settings
        # A livepatch transition may have taken most of the lease.
        self.renew()

    def _bring_to(self, settings: Settings) -> None:
        changes = differing(self.control.settings(), settings)
        if changes:
            awaiting.apply(
                self.control,
                {policy: {key: settings[policy][key] for key in keys}
                 for policy, keys in changes.items()}
            )

    def drift(self) -> Knobs:
        """Knobs that are no longer as we wrote them, with their value now."""
        return differing(self.control.settings(), self._written)

    def not_in_force(self) -> str:
        """The policies that we have switched on and that are not on, in words; or empty."""
        wanted = on_in(self._written)
        try:
            rows = self.control.policies() if wanted else []
        except CtlError:
            # Only debugfs tells; settings are looked at elsewhere.
            rows = []
        return "; ".join(row.words() for row in rows if row.name in wanted and row.state != "on")

    def lease_ran_out(self, changed: Settings) -> bool:
        """Is what changed just what the kernel does when the lease runs out?

        Before a lease is due, an admin has switched all policies off, and ended the lease.
        """
        expected = {policy: {"enabled": "0"} for policy in on_in(self._written)}
        is_due = self.elapsed() - self._renewed_s >= self.lease_s - 1
        return is_due and changed == expected and self.control.lease() == 0

    def to_stock(self, leave: Mapping[str, object] | None = None) -> None:
        """Every policy off and its knobs as found, but for those in `leave`; ends the lease.

        Where that cannot be had in one, each policy is switched off and put back by itself, and
        what then is still on is left to a lease of one second.  Raises CtlError; PARTIAL where
        every policy is off, and a knob is not as found.
        """
        if not self.is_loaded():
            # Unloading switches everything off.
            return
        stock = {
            policy: {**values, "enabled": "0"}
            for policy, values in self.found.items() if policy not in (leave or {})
        }
        left: CtlError | None = None
        try:
            # Off comes first and alone: a write that only switches off takes effect at once.
            on = set(on_in(self.control.settings()))
            if off := {policy: {"enabled": "0"} for policy in stock if policy in on}:
                self.control.apply(off)
            self._bring_to(stock)
        except CtlError as error:
            left = self._by_force(stock, error)
        self._written = {**self._written, **stock}
        self.control.set_lease(0)
        if left is not None:
            raise left

    def _by_force(self, stock: Knobs, why: CtlError) -> CtlError | None:
        """Each policy by itself; returns what to tell of knobs that are not as found."""
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
                " itself in a second", why.status, "livemmctl status"
            )
        for policy, values in stock.items():
            with contextlib.suppress(CtlError):
                self._bring_to({policy: values})
        if left := differing(self.control.settings(), stock):
            return CtlError(f"every policy is off, but not put back: {names_of(left)}"
                            f" ({why.message})", Exit.PARTIAL, "livemmctl status")
        return None
