"""The guards in C++, compared with the node's on random sequences of events."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from compiled_gate import EVENTS, PHASES, Sequence6, compiled_gate

from ros2_node.control.settings.node_settings import Settings

pytestmark = pytest.mark.filterwarnings("ignore:overflow")

SAME = 1e-12
"""Largest difference of a command [N m]."""

SANITIZED = ("-O1", "-g", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
"""Options under which undefined behaviour ends the process."""

CHOICES = [
    Settings.of(
        {
            "mode": "gravity",
            "ramp_time": ramp,
            "stale_action": action,
            "effort_limits": efforts,
            "effort_limit_scale": scale,
            "max_torque_rate": rate,
            "torque_scale": (1.0, 0.9, 1.1, 0.5, 1.0, 1.0),
            "joint_limit_repulsion": repulsion,
            "joint_limit_margin": margin,
            "state_timeout": timeout,
            "collision_reaction": "gravity",
        }
    )
    for ramp, action, efforts, scale, rate, repulsion, margin, timeout in (
        (1.0, "ramp_down", 0.0, 1.0, -1.0, "always", 0.1, 0.1),
        (0.0, "zero", 40.0, 1.0, -1.0, "always", 0.5, 0.1),
        (0.1, "hold", 0.0, 0.5, 0.0, "never", 0.1, 0.05),
        (0.3, "ramp_down", (150.0, 100.0, 90.0, 20.0, 10.0, 5.0), 0.8, 500.0, "always", 0.0, 0.5),
        (2.0, "hold", 0.0, 0.0, 1e4, "always", 0.2, 1.0),
    )
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory):
    return compiled_gate(tmp_path_factory.mktemp("gate"))


def compare(library, seed: int, sequences: int, events: int = 60) -> Counter[str]:
    """Run the same events through both. Returns how often each phase occurred."""
    random, seen = np.random.default_rng(seed), Counter()
    for _ in range(sequences):
        each = Sequence6(random, events, CHOICES)
        header, node = each.by_header(library), each.by_node()
        assert np.isfinite(header).all() and np.isfinite(node).all()
        told = header[:, :2] != node[:, :2]
        assert not told.any(), (EVENTS[each.kinds[np.argmax(told.any(axis=1))]], header, node)
        far = np.abs(header[:, 2:] - node[:, 2:]).max(axis=1) > SAME
        k = int(np.argmax(far))
        assert not far.any(), (k, EVENTS[each.kinds[k]], header[: k + 1], node[: k + 1])
        seen.update(PHASES[k].name for k in node[:, 0].astype(int))
    return seen


def test_header_and_node_agree(library):
    """Phases, sent commands and their torques are the same, and every phase occurs."""
    assert len(compare(library, 0, 150)) == len(PHASES)


@pytest.mark.slow
def test_header_and_node_agree_on_many_sequences(library):
    """There are 100,000 random sequences."""
    assert len(compare(library, 1, 100_000, 40)) == len(PHASES)


@pytest.mark.parametrize("which", [0, 1], ids=["g++", "clang++"])
def test_the_gate_has_no_undefined_behaviour(which: int, tmp_path: Path):
    """Neither compiler warns, and their sanitizers do not stop the program."""
    compare(compiled_gate(tmp_path, which, SANITIZED), 2, 10)
