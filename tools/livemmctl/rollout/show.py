# SPDX-License-Identifier: GPL-2.0-only
"""A rollout as Prometheus reads it, from a textfile."""

import math
from typing import TYPE_CHECKING

from livemmctl.ab.decision import Decision

if TYPE_CHECKING:
    from livemmctl.rollout.decide import Guarded, Verdict

Row = tuple[str, dict[str, str], float]
#: Of each guard: what its metric is called, and what it says.
GUARD = (
    ("effect", "Effect on a guard metric, in percent of control.", "effect_pct"),
    ("low", "Lower bound of the effect, of all looks together.", "low_pct"),
    ("high", "Upper bound of the effect, of all looks together.", "high_pct"),
    ("margin", "How much worse than control still counts as no harm at this step.", "margin_pct"),
)


def metrics_of(decision: Decision, verdict: "Verdict | None" = None) -> str:
    """A decision, and what was known when it was made."""
    about = {"experiment": decision.experiment}
    kernel = {"kernel": decision.kernel} if decision.kernel else {}
    held = int(verdict is not None and verdict.what == "hold")
    rows = [
        ("percent", "Part of the fleet that takes part.", about | kernel, decision.percent),
        ("halted", "1: every host goes to stock.", about, int(decision.halt)),
        ("held", "1: a guard keeps the next step from being taken.", about, held),
        ("step_timestamp_seconds", "When the step began.", about, decision.since_s),
        ("decided_timestamp_seconds", "When the last decision was made.", about, decision.at_s),
    ]
    text = "".join(_family(name, words, [(name, labels, value)])
                   for name, words, labels, value in rows)
    guards = [] if verdict is None else verdict.guards
    for name, words, key in GUARD:
        name = f"guard_{name}_percent"
        found = [(name, about | _labels(guard), float(getattr(guard, key))) for guard in guards]
        text += _family(name, words, [row for row in found if math.isfinite(row[2])])
    return text


def _labels(guard: "Guarded") -> dict[str, str]:
    kernel = {"kernel": guard.kernel} if guard.kernel else {}
    return {"metric": guard.metric, "arm": guard.arm, **kernel}


def _family(name: str, words: str, rows: list[Row]) -> str:
    if not rows:
        return ""
    lines = [f"# HELP livemm_rollout_{name} {words}", f"# TYPE livemm_rollout_{name} gauge"]
    for _, labels, value in rows:
        # Names of experiments, metrics, arms and kernels hold nothing that has to be quoted.
        inside = ",".join(f'{key}="{text}"' for key, text in labels.items())
        lines.append(f"livemm_rollout_{name}{{{inside}}} {value:.15g}")
    return "\n".join(lines) + "\n"
