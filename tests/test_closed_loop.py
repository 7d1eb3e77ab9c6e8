"""Evaluation of the plant's trace by the experiment.

The benchmarks and the demo run the experiment itself.
"""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn
from examples.demo.closed_loop import Run, _read, start
from examples.demo.live_arm import verdict

NAMES = ["arm", "slide", "wrist"]
HINGES = [0, 2]


@pytest.fixture
def trace(tmp_path):
    """Ten seconds at 100 Hz: joint 0 falls by 0.5 rad in the first three, then moves by 0.001
    rad."""
    times = np.arange(0.0, 10.0, 0.01)
    n = len(NAMES)
    position, torque, bias = (np.zeros((len(times), n)) for _ in range(3))
    position[:, 0] = np.where(times < 3.0, times / 6.0, 0.001 * np.clip(times - 5.0, 0.0, 1.0))
    position[:, 1] = times  # a slide's metres are not degrees
    torque[:], bias[:] = 2.0, 2.0
    torque[:, 2] += 0.25
    braked = (times > 3.0) & (times < 5.0)
    file = tmp_path / "trace.npz"
    np.savez(
        file,
        trace=np.column_stack([times + 100.0, braked, position, torque, bias]),
        names=NAMES,
        hinges=HINGES,
    )
    return file


def test_each_phase_has_the_largest_turn_of_each_hinge(trace):
    """The turn is measured in degrees from the start of the phase. Slides are left out."""
    run = _read(trace, [100.0, 102.9, 105.0, 109.0])
    assert run.names == ["arm", "wrist"]
    np.testing.assert_allclose(run.fall, np.degrees([2.9 / 6.0, 0.0]), rtol=1e-3)
    np.testing.assert_allclose(run.hold, np.degrees([0.001, 0.0]), rtol=1e-3)


def test_the_last_command_is_compared_with_the_plants_bias(trace):
    """The torque error is the largest difference over the hinges."""
    assert _read(trace, [100.0, 103.0, 105.0, 109.0]).torque_error == pytest.approx(0.25)


def test_the_recording_begins_shortly_before_the_fall(trace):
    run = _read(trace, [101.0, 103.0, 105.0, 109.0])
    assert run.times[0] == pytest.approx(-0.2) and run.times[-1] == pytest.approx(7.99)
    assert len(run.times) == len(run.position) == len(run.torque) == len(run.braked)


@pytest.mark.parametrize("robot", ["quadruped", "double_pendulum", "cartpole", "ur5e", "humanoid"])
def test_a_robot_starts_within_its_limits_and_out_of_balance(robot: str) -> None:
    """Each hinge has room to move, and gravity needs a torque at some joint."""
    model = warpdyn.load_robot(robot, floating_base=False)
    given = start(robot)
    pose = dict(zip(given["pose_joints"], given["pose"], strict=True))
    q = model.neutral.copy()
    for name, value in pose.items():
        q[model.coordinates[name].q] = value
    hinges = [model.coordinates[name].q.start for name in pose]
    assert (model.position_lower[hinges] < q[hinges]).all()
    assert (q[hinges] < model.position_upper[hinges]).all()
    assert np.abs(warpdyn.gravity_torques(model, q)).max() > 1e-3
    assert start("panda") == {}  # its ready pose is the plant's


@pytest.mark.parametrize(
    ("fall", "hold", "said"),
    [
        ([90.0, 3.0], [0.01, 0.0], (True, True)),
        ([0.0], [0.0], (False, True)),
        ([60.0], [48.0], (True, False)),
        ([90.0], [0.6], (True, False)),
    ],
)
def test_the_verdict_reports_falls_and_failed_holds(
    fall: list[float], hold: list[float], said: tuple[bool, bool]
) -> None:
    """A robot that moves in the hold phase, or does not move in the fall phase, gets a bad
    verdict."""
    nothing = np.zeros((1, 1))
    run = Run([], nothing, nothing, nothing, nothing, np.array(fall), np.array(hold), 0.0)
    assert verdict(run) == said
