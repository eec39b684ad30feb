# SPDX-License-Identifier: GPL-2.0-only
"""Which arm a host is in, worked out on the host alone.

The host's id is the machine-id under a key of ours, as sd_id128_get_machine(3) describes
for application-specific ids: the machine-id itself never leaves the host, and another
application's id of the same host cannot be matched with ours.

The bucket is the hash that GrowthBook publishes for its SDKs as version 2
(docs.growthbook.io/lib/build-your-own): any of them, or five lines of any language,
can check an assignment.  Buckets go to arms by weight.  Taking part at all is decided by
a second, independent bucket, so that a ramp only ever adds hosts, and none changes arms.
"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from livemmctl.ab.model import Experiment
from livemmctl.errors import CtlError, Exit, UsageError
from livemmctl.host import Host

#: Made once with `systemd-id128 new`, for this program; changing it reshuffles every fleet.
APP_ID = "374694ee19874d739a3f658591b4e0e1"
BUCKETS = 10000
MACHINE_ID = "/etc/machine-id"

_ID = re.compile(r"[0-9a-f]{32}\Z")


def app_specific_id(machine_id: str, app_id: str = APP_ID) -> str:
    """The id that an application may show; both are 32 hexadecimal digits, as is the result.

    HMAC-SHA256 of the application's id keyed by the machine's, cut to 128 bits and
    marked as a version 4 UUID.  Raises ValueError.
    """
    for text in (machine_id, app_id):
        if not _ID.match(text):
            raise ValueError("not 32 hexadecimal digits")
    digest = hmac.digest(bytes.fromhex(machine_id), bytes.fromhex(app_id), hashlib.sha256)
    uuid = bytearray(digest[:16])
    uuid[6] = uuid[6] & 0x0F | 0x40
    uuid[8] = uuid[8] & 0x3F | 0x80
    return uuid.hex()


def host_id(host: Host) -> str:
    """This host's id in experiments.  Raises CtlError."""
    text = host.read(MACHINE_ID).strip().lower()
    try:
        return app_specific_id(text)
    except ValueError:
        raise CtlError(f"{MACHINE_ID} holds no machine id", Exit.FAILED,
                       "systemd-machine-id-setup") from None


def checked_id(text: str, where: str) -> str:
    """`text`, if it is a host's id in experiments: any other text would be drawn to an arm too.

    Raises CtlError, USAGE, naming `where`.
    """
    if not _ID.match(text):
        raise UsageError(f"{where}: {text[:40]!r}: not a host's id of 32 hexadecimal digits",
                         "livemmctl ab check shows a host's id")
    return text


def fnv32a(text: str) -> int:
    """The 32-bit FNV-1a hash of a text's UTF-8 bytes."""
    value = 0x811C9DC5
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value


def bucket(seed: str, value: str) -> int:
    """0..9999: GrowthBook's hash, version 2, times 10,000."""
    return fnv32a(str(fnv32a(seed + value))) % BUCKETS


def _counts(weights: Sequence[float]) -> list[int]:
    """Buckets an arm, by weight; edges are rounded, so that all add up."""
    total = sum(weights)
    edges = [0, *(round(upto / total * BUCKETS) for upto in accumulate(weights))]
    return [after - before for before, after in pairwise(edges)]


def layout(history: Sequence[Sequence[float]]) -> list[int]:
    """Which arm, by its number, has each bucket, after a history of weights, oldest first.

    The first weights give each arm one run of buckets, as GrowthBook does.  Each change
    takes from arms that shrink just what the growing ones need: no other bucket moves.
    With two arms the history makes no difference.
    """
    owners = [arm for arm, count in enumerate(_counts(history[0])) for _ in range(count)]
    for weights in history[1:]:
        have = [owners.count(arm) for arm in range(len(weights))]
        spare = [now - want for now, want in zip(have, _counts(weights), strict=True)]
        for taker, short in enumerate(-count for count in spare):
            for giver in range(len(spare)):
                moved = min(short, spare[giver])
                if moved <= 0:
                    continue
                own = [index for index, arm in enumerate(owners) if arm == giver]
                # The end next to the taker, so that runs stay whole.
                for index in own[:moved] if taker < giver else own[-moved:]:
                    owners[index] = taker
                spare[giver] -= moved
                short -= moved
    return owners


def experiment_layout(experiment: Experiment) -> list[str]:
    names = [arm.name for arm in experiment.arms]
    history = [[old.get(name, 0.0) for name in names] for old in experiment.previous_weights]
    history.append([arm.weight for arm in experiment.arms])
    return [names[arm] for arm in layout(history)]


def seed_of(experiment: Experiment, strata: Mapping[str, str]) -> str:
    """What the host's id is hashed with: each stratum is drawn by itself."""
    parts = [experiment.salt, *(f"{key}={strata[key]}" for key in experiment.strata)]
    return "/".join(parts) + "/"


def arm_of(experiment: Experiment, host: str, strata: Mapping[str, str]) -> str:
    """The arm that a host is in whenever it takes part."""
    return experiment_layout(experiment)[bucket(seed_of(experiment, strata), host)]


def entry_pct(experiment: Experiment, host: str) -> float:
    """The host takes part once more than so many percent of the fleet do, 0..99.99."""
    return bucket(f"{experiment.salt}/takes-part/", host) * 100 / BUCKETS


def joins_after_s(experiment: Experiment, host: str) -> float | None:
    """When a host begins to take part, in seconds after the start; None: it never does."""
    entry = entry_pct(experiment, host)
    for step, percent in enumerate(experiment.ramp.percents):
        if entry < percent:
            return step * experiment.ramp.every_s
    return None
