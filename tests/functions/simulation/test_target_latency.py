"""Latencies of targets: whole steps per environment, and the targets that drives of a simulation
use.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.target_latency import late_targets, latencies

MODEL = wd.load_robot("double_pendulum")
OPTIONS: dict[str, Any] = {"points": [], "control": wd.PD(20.0, 1.0), "substeps": 2}


def test_latencies_are_whole_steps_per_environment() -> None:
    steps, launches = latencies(3, None, 4, 2)
    assert steps.tolist() == [3.0] * 4 and launches == 2
    steps, launches = latencies([0, 5, 2], 9, 3, 4)
    assert steps.tolist() == [0.0, 5.0, 2.0] and launches == 3
    for latency, longest in ((1, None), (1, 1), (0, 1)):  # the smallest longest latency
        steps, launches = latencies(latency, longest, 2, 1)
        assert steps.tolist() == [latency] * 2 and launches == 1


@pytest.mark.parametrize(
    ("latency", "longest", "text"),
    [
        (-1, None, "whole steps of 0 or more, got -1"),
        (1.5, None, "whole steps of 0 or more, got 1.5"),
        (float("nan"), None, "whole steps of 0 or more, got nan"),
        ([1, 2], None, "latency must be a number or (3,), got (2,)"),
        (3, 2, "longest_latency must be at least 1 and at least the latency, 3; got 2"),
        (0, 0, "longest_latency must be at least 1 and at least the latency, 0; got 0"),
        (0, None, "give the largest value that it may take, longest_latency="),
    ],
)
def test_invalid_latencies_are_refused(latency: Any, longest: Any, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        latencies(latency, longest, 3, 2)


def test_drives_of_a_simulation_use_delayed_targets() -> None:
    """Each environment has the bits of one whose targets were set later by its latency.

    Also after a reset, after a checkpoint, and if the latency is written between steps.
    """
    rng = np.random.default_rng(0)
    wanted = rng.uniform(-1, 1, (40, 2)).astype(np.float32)  # one for each step of 5 ms
    late = wd.Simulation(MODEL, 3, latency=[0, 2, 4], **OPTIONS)
    assert late.latency.tolist() == [0, 2, 4] and late.earlier_targets.shape == (3, 2, 2)
    plain = wd.Simulation(MODEL, 3, **OPTIONS)

    def run(launches: range, reach: list[int]) -> None:
        """Steps both. The plain one gets the targets of `reach` launches earlier."""
        for k in launches:
            late.step(wanted[k])
            plain.step(np.array([wanted[max(k - n, launches.start)] for n in reach]))
            assert np.array_equal(late.q, plain.q) and np.array_equal(late.v, plain.v)

    run(range(8), [0, 1, 2])
    late.latency[:] = 4, 0, 2
    for each in (late, plain):
        each.reset()
    run(range(8, 12), [2, 0, 1])
    saved, on = late.state(), plain.state()
    run(range(12, 12), [2, 0, 1])
    late.step(wanted[12])
    end = late.q.copy()
    late.restore(saved)
    plain.restore(on)
    late.step(wanted[12])
    assert np.array_equal(late.q, end) and set(saved) >= {"latency", "earlier_targets"}


def test_a_latency_within_a_launch_delays_some_of_its_substeps() -> None:
    """The first of two substeps uses the last targets, and the second one uses the new ones."""
    late = wd.Simulation(MODEL, 2, latency=1, longest_latency=4, **OPTIONS)
    single = wd.Simulation(MODEL, 2, **{**OPTIONS, "substeps": 1})
    before = [0.0, 0.0]
    for target in ([0.3, -0.2], [0.9, 0.4], [-1.0, 0.1]):
        late.step(target)
        for each in (before if single.time[0] else target, target):
            single.step(each)
        before = target
        assert np.allclose(late.q, single.q, atol=1e-6), target


def test_a_latency_needs_drives() -> None:
    with pytest.raises(ValueError, match="latency= needs drives with targets"):
        wd.Simulation(MODEL, 3, points=[], latency=2)
    with pytest.raises(ValueError, match="longest_latency= needs latency="):
        wd.Simulation(MODEL, 3, longest_latency=2, **OPTIONS)


def test_a_step_accepts_earlier_targets() -> None:
    """The targets of the last two calls, with an odd latency."""
    q, v = np.array([[0.3, -0.2]]), np.zeros((1, 2))
    now, earlier = np.array([[0.5, 0.5]]), np.array([[[0.1, 0.2], [-0.3, 0.4]]])
    drives = {"dt": 0.005, "control": wd.PD(20.0, 1.0)}
    late = {"latency": np.array([[3.0]]), "earlier_targets": earlier}
    end = wd.step(MODEL, q, v, 0 * v, substeps=2, targets=now, **late, **drives)
    half = wd.step(MODEL, q, v, 0 * v, targets=earlier[:, 1], **drives)
    half = wd.step(MODEL, half.q, half.v, 0 * v, targets=earlier[:, 0], **drives)
    assert np.allclose(end.q, half.q, atol=1e-14) and np.allclose(end.v, half.v, atol=1e-13)


def test_earlier_targets_can_be_those_of_one_launch() -> None:
    late = late_targets(np.ones((1, 1)), np.zeros((1, 1, 2)), np.zeros((1, 2)), 2)
    assert late["earlier_targets"][1] == (1, 2)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"latency": np.ones((1, 1))}, "late targets need latency= (B, 1), earlier_targets="),
        (
            {"latency": np.ones((1, 1)), "earlier_targets": np.zeros(2)},
            "earlier_targets must be (B, n, joints) with n of at least 1, got (2,)",
        ),
        (
            {"latency": np.ones((1, 1)), "earlier_targets": np.zeros((1, 0, 2))},
            "earlier_targets must be (B, n, joints) with n of at least 1, got (1, 0, 2)",
        ),
    ],
)
def test_latency_and_earlier_targets_must_be_given_together(
    given: dict[str, Any], error: str
) -> None:
    q = np.zeros((1, 2))
    with pytest.raises(ValueError, match=re.escape(error)):
        wd.step(MODEL, q, q, q, control=wd.PD(1.0, 1.0), targets=q, **given)
