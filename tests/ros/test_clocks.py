"""Jumps of /clock while the robot is enabled, over DDS."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import numpy as np
import pytest
from harness import NodeProcess, Peer
from rosgraph_msgs.msg import Clock

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
TICK = 0.01
"""Step of a simulated clock [s]."""


class World:
    """A simulation of a panda that stands still, with its /clock."""

    def __init__(self, peer: Peer) -> None:
        self.peer, self.time, self.q = peer, 1000.0, Q.copy()
        self.clock = peer.node.create_publisher(Clock, "/clock", 10)

    def tick(self, ahead: float = 0.0) -> None:
        """Send the time, or that of another clock."""
        self.time += TICK
        message = Clock()
        message.clock.sec, message.clock.nanosec = self._stamp(self.time + ahead)
        self.clock.publish(message)

    def run(self) -> None:
        self.tick()
        self.send_state()

    def send_state(self) -> None:
        self.peer.send(NAMES, self.q, stamp=self._stamp(self.time))

    def _stamp(self, seconds: float) -> tuple[int, int]:
        return divmod(round(1e9 * seconds), 1_000_000_000)


@pytest.fixture
def world(context) -> Iterator[World]:
    """A world with an enabled robot in mode computed_torque, without velocities in its states."""
    parameters = {
        "robot_description_file": "panda",
        "use_sim_time": True,
        "mode": "computed_torque",
        "velocity_source": "finite_difference",
        "ramp_time": 0.05,
        "state_timeout": 1.0,
        "max_state_age": 0.0,
    }
    with NodeProcess(parameters, ["-r", "__ns:=/clocks"]) as node:
        node.wait_for("ready: panda")
        peer = Peer(context, "clocks")
        world = World(peer)
        peer.wait(lambda: world.clock.get_subscription_count(), "the clock", each=world.run)
        peer.wait(lambda: peer.torques, "torques", each=world.run)
        assert peer.enable(each=world.run).success
        yield world
        peer.close()


def test_two_clocks_in_turn_do_not_hide_a_dead_driver(world):
    """A bag publishes /clock as well, so that each message of /clock is a jump. The robot stays
    enabled while its states come, and stops after its driver has ended."""
    peer, calls = world.peer, itertools.count()

    def tick_in_turn():
        """Send one of the two times every 25 calls, which is every 0.1 s."""
        turn, rest = divmod(next(calls), 25)
        if rest == 0:
            world.tick(-400.0 * (turn % 2))

    def run_in_turn():
        tick_in_turn()
        world.send_state()

    before = int(peer.values.get("noticed.clock_jump", "0"))
    peer.wait_for_value("noticed.clock_jump", lambda n: int(n) > before + 10, each=run_in_turn)
    assert peer.values["enabled"] == "true"
    ended = time.monotonic()
    peer.wait(lambda: "state lost" in peer.message, "a stop", each=tick_in_turn)
    assert time.monotonic() - ended < 6.0


def test_a_world_that_is_reset_to_time_zero_keeps_the_robot_enabled(world):
    """The robot stands elsewhere afterwards."""
    peer = world.peer
    assert peer.set_parameter("max_tracking_error", 0.0, each=world.run).successful
    before = int(peer.values.get("noticed.clock_jump", "0"))
    world.time, world.q = -TICK, Q + 0.6 * (np.arange(8) == 0)
    peer.wait_for_value("noticed.clock_jump", lambda n: int(n) > before, each=world.run)
    seen = len(peer.commands)
    peer.wait(lambda: len(peer.commands) > seen + 20, "commands go on", each=world.run)
    assert peer.values["enabled"] == "true"
