# SPDX-License-Identifier: GPL-2.0-only
"""What has to change for a host to be as a profile says, and the change, all or nothing."""

from dataclasses import dataclass

from livemmctl import awaiting
from livemmctl.control import Knobs, ModuleControl, Settings, unknown_knob
from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.profile.defaults import default_of
from livemmctl.profile.model import Profile, differing, names_of, same_value


@dataclass(frozen=True)
class Change:
    """One knob that is not as it shall be."""

    policy: str
    knob: str
    now: str
    wanted: str
    #: profile: it says so; default: it does not name the knob; absent: nor the policy;
    #: stop: the service stops.
    why: str

    @property
    def reason(self) -> str:
        return {
            "profile": "the profile says so",
            "default": "not named in the profile: the default",
            "absent": "the profile does not name the policy: off, the default",
            "stop": "the service stops, and at_stop is off",
        }[self.why]

    def text(self) -> str:
        return (f"{self.policy}/{self.knob}: {self.now or '(empty)'} -> "
                f"{self.wanted or '(empty)'}  ({self.reason})")


def check_names(profile: Profile, now: Settings, where: str) -> None:
    """Raise CtlError, USAGE, for a policy or knob that the module does not have."""
    for policy, knobs in profile.policies.items():
        if policy not in now:
            raise UsageError(f"{where}: {policy}: no such policy; there are: {', '.join(now)}")
        for key in knobs:
            if key not in now[policy]:
                raise unknown_knob(policy, key, now[policy], where)


def plan(profile: Profile, now: Settings, defaults: Knobs, where: str) -> list[Change]:
    """What has to change, in the module's order; nothing when all is as it shall be.

    Raises CtlError, USAGE, for a name that the module does not have, and for a knob that
    the profile leaves to a default that nobody knows.
    """
    check_names(profile, now, where)
    changes = []
    for policy, knobs in now.items():
        named = profile.policies.get(policy)
        for key, value in knobs.items():
            if named is not None and key in named:
                wanted, why = named[key], "profile"
            else:
                default = default_of(defaults, policy, key)
                if default is None:
                    raise UsageError(
                        f"{where}: {policy}/{key}: its default is not known",
                        f"name it under [policy.{policy}], or unload the module and use"
                        " livemmctl load"
                    )
                wanted, why = default, "absent" if named is None else "default"
            if not same_value(value, wanted):
                changes.append(Change(policy, key, value, wanted, why))
    return changes


def settings_of(changes: list[Change]) -> Knobs:
    found: Knobs = {}
    for change in changes:
        found.setdefault(change.policy, {})[change.knob] = change.wanted
    return found


def put_back(control: ModuleControl, before: Settings, wanted: Knobs, had_lease: bool,
             cause: CtlError) -> CtlError:
    """After a refusal have what was to be changed as before; returns what to tell.

    What somebody else has switched off meanwhile, or the end of a lease, stays off.
    """
    outcome = "nothing was changed"
    ours: Knobs = {policy: {key: before[policy][key] for key in knobs if key in before[policy]}
                   for policy, knobs in wanted.items() if policy in before}
    try:
        if had_lease and control.lease() == 0:
            outcome = "the lease has ended, so every policy is off"
            for knobs in ours.values():
                knobs.pop("enabled", None)
        left = differing(control.settings(), ours)
        if left:
            awaiting.apply(control, ours)
            left = differing(control.settings(), ours)
    except CtlError as error:
        return CtlError(f"{cause.message}; and what was set before could not be put back: "
                        f"{error.message}", Exit.PARTIAL, "livemmctl status")
    if left:
        return CtlError(f"{cause.message}; not put back: {names_of(left)}", Exit.PARTIAL,
                        "livemmctl status")
    return CtlError(f"{cause.message}; {outcome}", cause.status, cause.hint)


def apply_changes(control: ModuleControl, changes: list[Change]) -> None:
    """Make the changes, in one write, and see that they stand.

    Raises CtlError: the kernel's refusal, with everything as before; PARTIAL where that
    could not be had.
    """
    if not changes:
        return
    before, had_lease = control.settings(), control.lease() > 0
    wanted = settings_of(changes)
    try:
        awaiting.apply(control, wanted)
        wrong = differing(control.settings(), wanted)
        if wrong:
            raise CtlError(f"the kernel accepted the settings, but does not show:"
                           f" {names_of(wrong)}", Exit.REFUSED)
    except CtlError as error:
        raise put_back(control, before, wanted, had_lease, error) from None
