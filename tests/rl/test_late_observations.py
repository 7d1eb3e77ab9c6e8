"""Encoders with an offset, and delayed observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.environment_step import EnvironmentStep

ENVS = 6


class MeasuredJoints(Hold):
    """A task that observes joints and speeds, which are measured, and its last action, which is
    not.
    """

    seconds, noise = 5.0, {}
    vary = {}  # noqa: RUF012
    numbers = {"reach": np.array([100.0])}  # noqa: RUF012
    groups = {"policy": ("joints", "speed", "last"), "critic": ("joints", "speed")}  # noqa: RUF012
    sensed = ("joints", "speed")

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"joints": s.q, "speed": s.v, "last": s.last_action}


def run(task: rl.Task, steps: int) -> list[dict[str, np.ndarray]]:
    """States of environments from their beginning, with their actions."""
    text, random = EnvironmentStep(task, 4), np.random.default_rng(1)
    given = list(text.shared_arrays.values())
    state = text.start(task.model, np.zeros(ENVS), *given)._asdict() | {"ticks": np.zeros(ENVS)}
    states = [state]
    for _ in range(steps):
        states[-1]["action"] = random.uniform(-0.5, 0.5, (ENVS, task.actions))
        arrays = [states[-1][n] for n in text.carried]
        states.append(text.step(task.model, *arrays, states[-1]["action"], *given)._asdict())
    return states


def test_an_encoder_offset_shifts_measured_positions_and_drive_targets() -> None:
    """The robot moves as one without offset to targets that are lower by the offset."""
    task = MeasuredJoints()
    task.vary = {"encoder_bias": rl.Vary(-0.1, 0.1, how="add")}
    before, after = run(task, 1)
    bias = before["encoder_bias"]
    assert bias.shape == (ENVS, 2) and len({*bias.ravel()}) == 2 * ENVS
    assert np.allclose(before["policy"][:, :2], before["q"] + bias)
    end = wd.step(
        *(task.model, before["q"], before["v"], 0.0 * before["v"]),
        dt=task.dt,
        substeps=task.substeps,
        control=task.drives,
        targets=before["place"] + before["action"] - bias,
    )
    assert np.allclose(after["q"], end.q, atol=1e-12)
    assert np.allclose(after["policy"][:, :2], end.q + bias, atol=1e-12)


def test_delayed_observations_interpolate_between_steps() -> None:
    """Linearly between two steps. The critic and terms that are not measured have no delay."""
    task = MeasuredJoints()
    task.vary = {"observation_latency": rl.Vary(0.0, 2.5 * task.step_seconds)}
    states = run(task, 5)
    steps = states[0]["observation_latency"] / task.step_seconds
    assert np.ptp(steps) > 1.0
    rows = [np.concatenate([x["q"], x["v"]], axis=1) for x in states]
    for k, state in enumerate(states):
        for env in range(ENVS):
            low = int(steps[env])
            share = steps[env] - low
            newer, older = (rows[max(k - i, 0)][env] for i in (low, low + 1))
            wanted = (1.0 - share) * newer + share * older
            assert np.allclose(state["policy"][env, :4], wanted, atol=1e-12), (k, env)
        assert np.allclose(state["critic"], rows[k])
        if k:
            assert np.array_equal(state["policy"][:, 4:], states[k - 1]["action"])


def test_quadratic_friction_slows_a_robot() -> None:
    """The friction equals viscous friction with c |v| at the beginning of the step."""
    task = MeasuredJoints()
    task.vary = {"quadratic_friction": rl.Vary(0.5, 1.0)}
    *_, before, after = run(task, 3)
    c, joints = before["quadratic_friction"], [j.name for j in task.model.moving_joints]
    viscous = {name: c[:, k] * np.abs(before["v"][:, k]) for k, name in enumerate(joints)}
    end = wd.step(
        *(task.model, before["q"], before["v"], 0.0 * before["v"]),
        dt=task.dt,
        substeps=task.substeps,
        control=task.drives,
        targets=before["place"] + before["action"],
        params=task.model.params(viscous=viscous),
    )
    assert np.abs(before["v"]).max() > 0.1 and np.allclose(after["q"], end.q, atol=1e-12)


LATE = {"observation_latency": rl.Vary(0.0, 0.01)}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"vary": {"observation_latency": rl.Vary(-0.1, 0.1)}}, r"must have how=\"abs\", in sec"),
        (
            {"vary": LATE, "sensed": ("height",)},
            "sensed names height; the terms of group policy are joints, speed, last",
        ),
    ],
)
def test_invalid_sensor_errors_are_refused(change: dict[str, Any], error: str) -> None:
    task = MeasuredJoints()
    task.__dict__.update(change)
    with pytest.raises(rl.TaskError, match=error):
        EnvironmentStep(task, 0)
