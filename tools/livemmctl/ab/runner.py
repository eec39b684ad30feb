# SPDX-License-Identifier: GPL-2.0-only
"""`ab run`: one experiment on one host, tick by tick.

Each tick: read the numbers, look at the guardrails, renew the lease, and switch if
something else is due.  Whatever goes wrong, the host ends up at stock: by us if we can,
by the kernel's lease if we cannot.  By host, a host that could not be switched, or whose
guardrail was passed, stays in its arm and goes on being read at stock (intention to
treat); leaving it out would make the arm look better than it is.
"""

import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from livemmctl.ab import timeline
from livemmctl.ab.assign import arm_of, entry_pct, joins_after_s
from livemmctl.ab.clock import STOP_SIGNAL, Clock
from livemmctl.ab.gate import Gate
from livemmctl.ab.guard import Guard, Trip, unreadable
from livemmctl.ab.journal import TIME_OVER, Journal, Past, number
from livemmctl.ab.model import HOST, Experiment
from livemmctl.ab.sample import Health, Sampler
from livemmctl.ab.switch import Switch, found_before, found_on, with_defaults
from livemmctl.ab.timeline import BASELINE, DONE, RUN, Slot, Timeline, blocks_of
from livemmctl.control import Knobs, ModuleControl, on_in
from livemmctl.errors import CtlError, Exit
from livemmctl.profile.model import names_of

#: Of Health, what is counted from before the first arm on.
COUNTED = ("oom_kills", "taint")


@dataclass(frozen=True)
class Outcome:
    #: end: the experiment is over here; stop: it can be taken up again.
    kind: str
    reason: str
    status: Exit


@dataclass(frozen=True)
class Setting:
    host: str
    strata: Mapping[str, str]
    boot: str
    kernel: str
    module: str


@dataclass
class Runner:
    """A run; `run` may be called once."""

    experiment: Experiment
    setting: Setting
    #: None: nothing can be switched, and `missing` says why.
    control: ModuleControl | None
    sampler: Sampler
    journal: Journal
    clock: Clock
    #: Tells the exporter.
    show_arm: Callable[[str], None]
    #: The rollout's decisions; None: the ramp goes by the clock.
    gate: Gate | None = None
    #: What the journal says of runners before this one.
    past: Past | None = None
    missing: str = ""
    #: What knobs are that an arm does not name, if not as found.
    defaults: Knobs = field(default_factory=dict)
    #: Is called with what goes into the journal.
    tell: Callable[[str, Mapping[str, object]], None] = lambda kind, fields: None
    #: Is there still a module?
    is_loaded: Callable[[], bool] = lambda: True
    #: Why the host stays at stock; empty: its arm is applied.
    _held: str = ""
    _arm: str = ""
    _switch: Switch | None = None
    _leave: Knobs = field(default_factory=dict)
    _spoilt: str = ""
    #: Policies of the arm that the kernel has not on now, and why.
    _missing_now: str = ""
    #: When a decision let this host in; None: none has.
    _opened_s: float | None = None
    #: No news of the rollout for longer than its lease: at stock until there is.
    _quiet: bool = False

    @property
    def _is_host_mode(self) -> bool:
        return self.experiment.mode == HOST

    # The whole of it ------------------------------------------------------

    def run(self) -> Outcome:
        """Run to the end, or until something ends it.

        Raises CtlError for what prevents a start; then nothing was switched.
        """
        if self.past is not None and self.past.ended:
            return Outcome("end", f"already over here: {self.past.ended}", Exit.OK)
        health = self.sampler.health(self.clock.elapsed())
        self._refuse_blind(health)
        joins_s = joins_after_s(self.experiment, self.setting.host) if self._is_host_mode else 0.0
        if joins_s is None:
            self._write("end", reason="not taking part")
            return Outcome("end", "this host does not take part", Exit.OK)
        joined = self._joined(health)
        self._prepare(joined)
        guard = Guard(self.experiment.guardrails, joined)
        over = self._after_crash() or self._after_kill(guard, health)
        if over is not None:
            self._close(over, None, None)
            return over
        failure: CtlError | None = None
        try:
            outcome = self._loop(joins_s, guard)
        except CtlError as error:
            failure = error
            outcome = Outcome("stop", error.message, error.status)
        finally:
            # Before anything is written down: a full disk must not keep a policy on.
            restored = self._restore()
        self._close(outcome, restored, failure)
        return outcome

    def _close(self, outcome: Outcome, restored: CtlError | None,
               failure: CtlError | None) -> None:
        try:
            self._write(outcome.kind, reason=outcome.reason,
                        stock="yes" if restored is None else restored.message)
        except CtlError as error:
            failure = failure or error
        if restored is not None:
            raise restored
        if failure is not None:
            raise CtlError(f"{failure.message}; the host is back to stock", failure.status,
                           failure.hint)

    def _restore(self) -> CtlError | None:
        if self._switch is None:
            return None
        try:
            self._switch.to_stock(self._leave)
        except CtlError as error:
            return error
        return None

    # Before ---------------------------------------------------------------

    def _refuse_blind(self, health: Health) -> None:
        blind = unreadable(self.experiment.guardrails, health)
        if blind:
            raise CtlError(f"this kernel has no numbers for the guardrail {blind[0]}",
                           Exit.UNSUPPORTED, f"{blind[0]} = false in [guardrails] does without it")

    def _was_killed(self) -> bool:
        """Did a runner of this boot die while an arm was on?"""
        past = self.past
        return past is not None and bool(past.cut_arm) and past.boot == self.setting.boot

    def _joined(self, health: Health) -> Health:
        """How the host was before anything was switched on, which a runner that was killed knew.

        Else what it was killed by, and did not live to see, would count for nothing.
        """
        if self.past is None or not self._was_killed():
            return health
        before = {key: int(found) for key in COUNTED
                  if (found := number(self.past.joined.get(key))) is not None}
        return replace(health, **before)

    def _prepare(self, joined: Health) -> None:
        """Write the start, and put right what an earlier runner left."""
        found: Knobs = {}
        if self.control is not None:
            now = found_on(self.control)
            found = found_before(self.past, now)
            # On with a lease is what a runner that died leaves; the rest is an admin's.
            ours = (self.past is not None and self.past.boot == self.setting.boot
                    and self.control.lease() > 0
                    and (self.past.last["type"], self.past.last.get("stock")) != ("stop", "yes"))
            if on_in(now) and not ours:
                raise CtlError(
                    f"{', '.join(on_in(now))}: already on; an experiment begins at stock",
                    Exit.FAILED, f"livemmctl disable {' '.join(on_in(now))}"
                )
            self._switch = Switch(self.control, found, self.experiment.lease_s,
                                  with_defaults(found, self.defaults), self.is_loaded,
                                  self.clock.elapsed)
        elif not self._is_host_mode:
            raise CtlError(self.missing, Exit.NOT_LOADED, "livemmctl load")
        if self._is_host_mode:
            self._arm = arm_of(self.experiment, self.setting.host, self.setting.strata)
        if self.gate is not None and self.past is not None:
            self._opened_s = self.past.opened_s
        if self.past is not None and self.past.tripped:
            self._held = f"guardrail {self.past.tripped} was passed before"
        self._write(
            "start" if self.past is None else "resume",
            digest=self.experiment.digest, mode=self.experiment.mode,
            strata=dict(self.setting.strata), boot=self.setting.boot,
            kernel=self.setting.kernel, module=self.setting.module, found=found,
            joined={key: getattr(joined, key) for key in COUNTED},
            **({"arm": self._arm} if self._is_host_mode else {}),
        )
        if self.past is not None and self._switch is not None:
            self._switch.to_stock()

    def _after_crash(self) -> Outcome | None:
        """The host may have gone down because of its arm: not to be tried again."""
        past = self.past
        if past is None or not past.cut_arm or not self.experiment.guardrails.went_down:
            return None
        if not past.boot or past.boot == self.setting.boot:
            return None
        return self._after(past, Trip(
            "went_down", 1.0, 0.0, f"the host went down while arm {past.cut_arm} was on"))

    def _after_kill(self, guard: Guard, health: Health) -> Outcome | None:
        """The arm may be what the runner was killed by: not to be tried again either."""
        trip = guard.check(health) if self._was_killed() and not self._held else None
        return None if trip is None or self.past is None else self._after(self.past, trip)

    def _after(self, past: Past, trip: Trip) -> Outcome | None:
        return self._passed(trip, past.cut_arm, {} if past.block < 0 else {"block": past.block})

    def _timeline(self, joins_s: float) -> Timeline:
        if self._is_host_mode:
            first = self.clock.wall() if self.past is None else float(self.past.start["t"])
            if self.gate is not None:
                return timeline.gated_timeline(self.experiment, first, self._opened_s)
            return timeline.host_timeline(self.experiment, first, joins_s)
        blocks = blocks_of(self.experiment, self.setting.host)
        begun = -1 if self.past is None else self.past.block
        return timeline.SwitchbackTimeline(blocks[begun + 1:], self.clock.elapsed())

    # The loop ---------------------------------------------------------------

    def _loop(self, joins_s: float, guard: Guard) -> Outcome:
        plan = self._timeline(joins_s)
        slot = Slot(timeline.WAIT)
        while True:
            if self.gate is not None:
                opened_s = self._opened_s
                over = self._look_at_gate(self.gate)
                if over is not None:
                    return over
                if opened_s != self._opened_s:
                    plan = self._timeline(joins_s)
            due = plan.at(self.clock.wall(), self.clock.elapsed())
            if timeline.PHASES.index(due.phase) < timeline.PHASES.index(slot.phase):
                # The wall clock was set back: what has begun goes on.
                due = replace(slot, left_s=self.experiment.tick_s)
            if self.gate is not None and due.phase == RUN:
                # Before an arm begins: a runner that was away may have had no news for long.
                self._follow_news(self.gate, slot)
            if (due.phase, due.where) != (slot.phase, slot.where):
                self._finish(slot)
                if due.phase == DONE:
                    return Outcome("end", TIME_OVER, Exit.OK)
                self._begin(due, guard)
            slot = due
            over = self._tick(slot, guard)
            if over is not None:
                return over
            wait_s = max(min(self.experiment.tick_s, slot.left_s), 0.001)
            late_s = self._wait(wait_s)
            if late_s > self.experiment.tick_s:
                self._spoilt = self._spoilt or f"the runner was held up for {late_s:.0f} s"
            told = self.clock.told()
            if told is not None:
                self._finish(slot, "ended by a signal")
                return ended_by(told)

    def _wait(self, seconds: float) -> float:
        """Wait, and tell how much longer it took: we, or the whole host, may have slept."""
        until = self.clock.elapsed() + seconds
        self.clock.wait(seconds)
        return self.clock.elapsed() - until

    def _look_at_gate(self, gate: Gate) -> Outcome | None:
        """Follow the rollout's decisions: in, on as before, or halt."""
        said = gate.words
        decision = gate.look(self.clock.wall())
        if gate.words and gate.words != said:
            self._write("gate", serial=gate.serial, percent=gate.percent, words=gate.words)
        if decision is not None and decision.halt:
            # First the host, then the record of it.
            restored = self._restore()
            self._write("gate", serial=gate.serial, percent=gate.percent, halt=True,
                        words=decision.reason,
                        stock="yes" if restored is None else restored.message)
            return Outcome("end", f"halted: {decision.reason}", Exit.FAILED)
        opens = (self._opened_s is None
                 and entry_pct(self.experiment, self.setting.host) < gate.percent)
        if opens:
            self._opened_s = self.clock.wall()
        if decision is not None or opens:
            self._write("gate", serial=gate.serial, percent=gate.percent, opens=opens,
                        heard=gate.heard_s, words="" if decision is None else decision.reason,
                        **({"kernel": gate.kernel} if gate.kernel else {}))
        return None

    def _follow_news(self, gate: Gate, slot: Slot) -> None:
        """To stock for want of news, and back; `slot` is what was due until now."""
        quiet = gate.is_quiet(self.clock.wall())
        if quiet == self._quiet:
            return
        self._quiet = quiet
        begun = slot.phase == RUN and not self._held
        if begun and quiet and self._switch is not None:
            self._switch.to_stock()
        self._write("gate", serial=gate.serial, percent=gate.percent, quiet=quiet,
                    words="no news of the rollout" if quiet else "news again")
        if begun and not quiet:
            self._to_arm(slot)

    def _tick(self, slot: Slot, guard: Guard) -> Outcome | None:
        if (slot.phase == RUN and self._switch is not None and not self._held
                and not self._quiet):
            over = self._look_for_drift(slot, self._switch)
            if over is not None:
                return over
            if not self._held:
                self._look_for_off(self._switch)
                self._switch.renew()
        # Before the metrics, whose commands take their time.
        over = self._guard(slot, guard)
        if over is None and slot.phase in (RUN, BASELINE):
            self._sample(slot)
        return over

    def _begin(self, slot: Slot, guard: Guard) -> None:
        guard.begin(self.sampler.health(self.clock.elapsed()))
        self._spoilt = self._missing_now = ""
        if slot.block is not None:
            self._arm = slot.block.arm
        if slot.phase == RUN:
            self.show_arm(self._arm)
            self._to_arm(slot)

    def _to_arm(self, slot: Slot) -> None:
        if self._held or self._quiet:
            return
        reason = self.missing
        failure: CtlError | None = None
        if self._switch is not None:
            # First, as it may be what the host goes down by.
            self._write("switch", arm=self._arm, **slot.where)
            try:
                self._switch.to_arm(self.experiment.arm(self._arm).settings)
            except CtlError as error:
                failure, reason = error, error.message
        self._write("apply", arm=self._arm, ok=not reason, reason=reason, **slot.where)
        if not reason:
            return
        self._held = reason
        if self._switch is not None:
            self._switch.to_stock()
        if not self._is_host_mode:
            raise failure or CtlError(reason)

    def _finish(self, slot: Slot, cut: str = "") -> None:
        """Close what was due until now; where it is cut short nothing keeps us from stock."""
        if slot.phase in (RUN, BASELINE) and not cut:
            self._sample(slot)
        if slot.block is None:
            return
        reason = cut or self._spoilt
        self._write("block", block=slot.block.index, arm=self._arm, complete=not reason,
                    reason=reason)

    def _sample(self, slot: Slot) -> None:
        read_at = round(self.clock.elapsed(), 3)
        values = self.sampler.read(self.experiment.sources)
        self._write(
            "sample", phase=slot.phase, m=read_at,
            state="stock" if (self._held or self._missing_now or self._quiet
                              or slot.phase != RUN) else "arm",
            values=values,
            **({} if slot.phase == BASELINE and not self._arm else {"arm": self._arm}),
            **slot.where,
            **({} if slot.block is None else {"washed": slot.washed and not self._spoilt}),
        )

    # What may go wrong ------------------------------------------------------

    def _guard(self, slot: Slot, guard: Guard) -> Outcome | None:
        if slot.phase != RUN or self._held:
            return None
        trip = guard.check(self.sampler.health(self.clock.elapsed()))
        if trip is None:
            return None
        # First the host, then the record of it.
        return self._passed(trip, self._arm, slot.where, self._restore())

    def _passed(self, trip: Trip, arm: str, where: Mapping[str, int],
                failed: CtlError | None = None) -> Outcome | None:
        """The arm is over where a guardrail was passed; by time, the whole experiment is."""
        self._held = f"guardrail {trip.guard}: {trip.words}"
        self._write(
            "guard", guard=trip.guard, seen=round(trip.seen, 3), limit=trip.limit,
            arm=arm, words=trip.words, stock="yes" if failed is None else failed.message, **where,
        )
        if failed is not None:
            raise failed
        return None if self._is_host_mode else Outcome("end", self._held, Exit.FAILED)

    def _look_for_drift(self, slot: Slot, switch: Switch) -> Outcome | None:
        try:
            changed = switch.drift()
        except CtlError:
            if switch.is_loaded():
                raise
            changed, reason = {}, "the module was unloaded"
        else:
            if not changed:
                return None
            if switch.lease_ran_out(changed):
                self._after_lease(slot, switch)
                return None
            reason = f"changed by somebody else: {names_of(changed)}"
        self._write("drift", reason=reason, changed=changed)
        # What an admin switched by hand is the admin's: it stays as it is.
        self._leave = {policy: keys for policy, keys in changed.items() if "enabled" in keys}
        return Outcome("end", reason, Exit.DRIFT)

    def _look_for_off(self, switch: Switch) -> None:
        """Note a policy that waits: the host is at stock until the policy is on."""
        found = switch.not_in_force()
        if found and not self._missing_now:
            self._write("drift", reason=found, changed={})
        self._missing_now = found
        # Assigned by host, later readings still count for the arm.
        self._spoilt = self._spoilt or found

    def _after_lease(self, slot: Slot, switch: Switch) -> None:
        """The host slept, or we did: the kernel went back to stock, as it should."""
        reason = "the lease ran out while the runner was held up"
        self._write("drift", reason=reason, changed={})
        if self._is_host_mode:
            # A host that cannot be switched again stays in its arm, and is read at stock.
            self._to_arm(slot)
        else:
            # Nothing of this block can be used; the next one begins afresh.
            switch.to_stock()
            self._spoilt = reason

    def _write(self, kind: str, **fields: object) -> None:
        self.journal.write(self.clock.wall(), kind, **fields)
        self.tell(kind, fields)


def ended_by(number: int) -> Outcome:
    if number == STOP_SIGNAL:
        return Outcome("end", "ended by livemmctl ab stop", Exit.OK)
    name = signal.Signals(number).name
    status = Exit.INTERRUPTED if number == signal.SIGINT else Exit.PARTIAL
    return Outcome("stop", f"ended by {name}", status)
