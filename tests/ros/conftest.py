"""Fixtures for tests over real DDS on this machine. Without rclpy these tests fail; none is
skipped."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import NodeProcess, Peer
from own_domain import ros_context, stay_on_this_machine

stay_on_this_machine()

collect_ignore = [] if importlib.util.find_spec("launch_ros") else ["test_real_launch.py"]
"""Tests under ROS 2's own `launch`, which only a ROS installation has."""

LONGEST = (
    "faults_process",
    "colcon",
    "faults_state",
    "policy",
    "handing_on",
    "torques",
    "changes_while_enabled",
    "lifecycle",
)
"""Files that come first, so that parallel workers, each of which runs whole files, end together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).with_name(f"test_{x}.py"): k for k, x in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


@pytest.fixture(scope="session")
def context() -> Iterator[Any]:
    with ros_context() as context:
        yield context


@pytest.fixture(scope="module")
def long_lived_peer(context: Any) -> Iterator[Peer]:
    peer = Peer(context, "shared")
    yield peer
    peer.close()


@pytest.fixture
def peer(long_lived_peer: Peer) -> Peer:
    """A peer of `panda_node`. It is matched once for all tests of a module, and its earlier
    messages are discarded."""
    long_lived_peer.begin()
    return long_lived_peer


@pytest.fixture(autouse=True)
def peers_of_one_test() -> Iterator[None]:
    """Close the peers that a failed test has left open. They would hear the nodes of the next
    tests."""
    before = list(Peer.peers)
    yield
    for peer in [peer for peer in Peer.peers if peer not in before]:
        peer.close()


@pytest.fixture(scope="module")
def panda_node() -> Iterator[NodeProcess]:
    """A node with the bundled panda for all tests of a module, in its own namespace."""
    parameters = {"robot_description_file": "panda", "ramp_time": 0.05}
    parameters["allow_several_publishers"] = True  # tests have drivers in addition to the peer
    with NodeProcess(parameters, ["-r", "__ns:=/shared"]) as node:
        node.wait_for("ready: panda")
        yield node
