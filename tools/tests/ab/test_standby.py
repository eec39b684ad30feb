# SPDX-License-Identifier: GPL-2.0-only
"""A run on a host whose policy the kernel takes away for a while, and back to stock at once."""

import signal

from ab.doubles import World, experiment, in_arm, is_stock
from livemmctl.ab.assign import host_id
from livemmctl.ab.schedule import blocks_of
from livemmctl.errors import Exit


def standby(world: World, state: str) -> None:
    """Set the state of pcp in `status`; empty: the state that `enabled` shows."""
    states = world.host.kernel.states
    if state:
        states["pcp"] = (state, "livepatch x holds y")
    else:
        states.pop("pcp", None)
    world.host.kernel.show()


def test_a_block_whose_policy_stood_by_does_not_count(world: World) -> None:
    made = experiment()
    first = next(block.index for block in blocks_of(made, host_id(world.host))
                 if block.arm == "on")
    world.later(60.0 * first + 30, lambda: standby(world, "standby"))
    world.later(60.0 * first + 40, lambda: standby(world, ""))
    outcome = world.run(made)
    assert outcome.status == Exit.OK
    cut = [record for record in world.records("block") if not record["complete"]]
    assert [record["block"] for record in cut] == [first]
    assert "pcp is standing by" in cut[0]["reason"]
    (drift,) = world.records("drift")
    assert "livepatch x holds y" in drift["reason"]
    states = [record["state"] for record in world.records("sample")
              if record["block"] == first]
    assert states.count("stock") == 2 and states[-1] == "arm"
    assert is_stock(world)


def test_by_host_a_policy_that_stands_by_is_read_on(world: World) -> None:
    world.later(60.0, lambda: standby(world, "standby"))
    world.later(120.0, lambda: standby(world, ""))
    assert world.run(in_arm(world, "on")).status == Exit.OK
    assert len(world.records("drift")) == 1
    states = {record["state"] for record in world.records("sample")
              if record["phase"] == "run"}
    assert states == {"arm", "stock"}
    assert world.records("sample")[-1]["state"] == "arm"
    assert is_stock(world)


def test_stock_is_first_off_and_then_knobs(world: World) -> None:
    arms = {"off": {}, "on": {"policy": {"pcp": {"enabled": True, "period_ms": 500}}}}
    world.later(30.0, lambda: world.clock.tell(signal.SIGTERM))
    world.run(in_arm(world, "on", arms=arms))
    assert [text.strip() for text in world.host.kernel.writes[-2:]] == [
        "pcp:enabled=0", "pcp:period_ms=1000"]
