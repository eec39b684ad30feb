# SPDX-License-Identifier: GPL-2.0-only
"""Are the hosts of a step there, and do they report?  A gate without its metric stays shut."""

from livemmctl.ab.analyse import Comparison, Report
from livemmctl.ab.decision import Decision
from livemmctl.ab.effects import HOSTS_LEAST
from livemmctl.ab.gate import AHEAD_MOST_S
from livemmctl.ab.stats import checks

#: Hosts without a number for so long, and for so many points, have fallen silent.
SILENT_S, SILENT_POINTS = 600.0, 3
#: Of the hosts that a step adds, this part has to have joined.
JOINED_LEAST = 0.5


def silence(report: Report, item: Comparison, since_s: float, now_s: float) -> str:
    """Why a metric tells nothing of this step, or of now; empty: it does.

    `since_s` is when the step began.  Numbers of the steps before stay in the report, and look
    well for as long as nobody adds another.
    """
    last: dict[str, float] = {}
    for point in report.seen.points[item.metric.name]:
        if not point.before:
            last[point.host] = max(last.get(point.host, 0.0), point.at_s)
    quiet_s = max(SILENT_S, SILENT_POINTS * report.seen.step_s)
    reporting, silent = [], []
    for arm in (report.experiment.control, item.arm):
        times = [last.get(host, 0.0) for host, info in report.seen.hosts.items()
                 if info.arm == arm]
        of_step = sum(1 for at_s in times if at_s > since_s)
        if of_step < HOSTS_LEAST:
            return (f"{of_step} hosts of {arm} have a number of this step; {HOSTS_LEAST} are"
                    " wanted")
        reporting.append(sum(1 for at_s in times if at_s > now_s - quiet_s))
        silent.append(len(times) - reporting[-1])
    if (min(reporting) < HOSTS_LEAST
            or checks.attrition_p(reporting, silent) < checks.MISMATCH_P):
        return (f"no number for {quiet_s / 60:.0f} min from {silent[0]} of"
                f" {silent[0] + reporting[0]} hosts of {report.experiment.control}, and from"
                f" {silent[1]} of {silent[1] + reporting[1]} of {item.arm}")
    return ""


def absence(report: Report, before: Decision) -> str:
    """Why this step has not really been taken; empty: it was.

    Where hosts cannot read the decision, the step before would open all others, and the hosts
    of all steps would come at once.
    """
    earlier = max((step for step in report.experiment.ramp.percents if step < before.percent),
                  default=0.0)
    if not earlier:
        return ""
    # Hosts tell the time by their own clocks.
    new = sum(1 for host in report.seen.hosts.values()
              if host.joined_s > before.since_s - AHEAD_MOST_S)
    wanted = (len(report.seen.hosts) - new) * (before.percent / earlier - 1)
    if new < JOINED_LEAST * wanted:
        return f"{new} hosts have joined in this step, of some {wanted:.0f}"
    return ""
