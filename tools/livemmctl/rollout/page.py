# SPDX-License-Identifier: GPL-2.0-only
"""Where a rollout is, as one page: the ramp and the guards above the report they come from."""

from datetime import UTC, datetime

from markupsafe import Markup

from livemmctl.ab import plots
from livemmctl.ab.analyse import Report
from livemmctl.ab.html import report_html
from livemmctl.rollout.decide import HARMFUL, OK, Verdict


def page_of(report: Report, verdict: Verdict) -> str:
    """The page as HTML."""
    decision = verdict.decision
    whose = f"the hosts of kernel {decision.kernel}" if decision.kernel else "the fleet"
    since = datetime.fromtimestamp(decision.since_s, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return report_html(report, {
        "what": verdict.what, "reason": verdict.reason, "halted": decision.halt,
        "where": "every host goes to stock" if decision.halt else
                 f"{decision.percent:g} % of {whose} takes part, since {since}",
        "guards": [(guard.metric, f"{guard.arm}, {guard.kernel}" if guard.kernel else guard.arm,
                    guard.state, {OK: "ok", HARMFUL: "fail"}.get(guard.state, ""), guard.words)
                   for guard in verdict.guards],
        "ramp": Markup(plots.ramp(report, decision.kernel, decision.percent)),
    })
