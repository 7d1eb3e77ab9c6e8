"""The quadruped's task: what is observed and earned, and where it begins and ends."""

from __future__ import annotations

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

import warpdyn as wd

TASK = rl.make("quadruped_velocity")


@pytest.fixture(scope="module")
def env() -> object:
    made = rl.VecEnv(TASK, 64, seed=1)
    made.reset()
    return made


def test_it_begins_on_its_feet_with_a_command(env: object) -> None:
    """The lowest foot touches; some are to stand still; friction is an environment's own."""
    state = env.carried  # type: ignore[attr-defined]
    wanted, friction = state["wanted"], state["friction"]
    assert wanted.abs().max() <= 1.0 and wanted[:, 0].std() > 0.3
    assert friction.min() >= 0.4 and friction.max() <= 1.0
    heights = wd.point_heights(TASK.model, state["q"].double(), points=TASK.points)
    assert heights.min(1).values.abs().max() < 1e-6 and heights.max() < 0.15


def test_commands_go_towards_what_is_wanted_at_their_rate(env: object) -> None:
    """By 0.04 m/s and 0.08 rad/s a step of 20 ms, until they are there."""
    env.reset()  # type: ignore[attr-defined]
    state = env.carried  # type: ignore[attr-defined]
    assert not state["command"].any()
    wanted = state["wanted"].clone()
    most = torch.tensor([0.04, 0.04, 0.08])
    for k in range(1, 4):
        env.step(torch.zeros(64, 12))  # type: ignore[attr-defined]
        assert torch.allclose(state["command"], wanted.clamp(-k * most, k * most), atol=1e-6)
    state["age"].fill_(499)
    env.step(torch.zeros(64, 12))  # type: ignore[attr-defined]
    assert (state["wanted"] != wanted).any(1).float().mean() > 0.8  # each ten seconds another
    env.reset()  # type: ignore[attr-defined]


def test_it_sees_what_a_robot_can_measure(env: object) -> None:
    """Velocities of its base, gravity in its axes, the command, joints, the last action; the critic
    sees them without noise, its feet and the friction."""
    groups, state = env.observations, env.carried  # type: ignore[attr-defined]
    seen, known = groups["policy"], groups["critic"]
    assert seen.shape == (64, 48) and known.shape == (64, 53)
    assert torch.allclose(known[:, :6], state["v"][:, :6])
    assert known[:, 6:9].norm(dim=1).numpy() == pytest.approx(np.ones(64), abs=1e-5)
    assert torch.equal(seen[:, 9:12], state["command"])
    stance = torch.tensor(TASK.stance, dtype=torch.float32)
    assert torch.allclose(known[:, 12:24], state["q"][:, 7:] - stance, atol=1e-6)
    assert torch.equal(known[:, 48:52], state["touched"])
    assert torch.equal(known[:, 52], state["friction"])
    off = (seen - known[:, :48]).abs().max(0).values
    bounds = [0.05] * 3 + [0.1] * 3 + [0.025] * 3 + [0.0] * 3 + [0.01] * 12 + [0.025] * 12
    assert (off[:36] <= torch.tensor(bounds) + 1e-5).all() and (off[:9] > 0.01).all()


def test_standing_earns_and_falling_ends(env: object) -> None:
    """With no action most stand for a second, and none of them is counted as fallen."""
    for _ in range(50):
        _, reward, fallen, late, info = env.step(torch.zeros(64, 12))  # type: ignore[attr-defined]
    assert torch.isfinite(reward).all() and not late.any() and not info["failed"].any()
    up = env.carried["q"][:, 2] > 0.2  # type: ignore[attr-defined]
    assert up.float().mean() > 0.5
    found = env.measures()  # type: ignore[attr-defined]
    off = (env.carried["command"] - env.carried["v"][:, [0, 1, 5]]).numpy()  # type: ignore[attr-defined]
    assert found["speed_error"].numpy() == pytest.approx(np.hypot(off[:, 0], off[:, 1]), abs=1e-5)
    assert found["turning_error"].numpy() == pytest.approx(np.abs(off[:, 2]), abs=1e-5)
    state = env.carried  # type: ignore[attr-defined]
    state["q"][:8, 3:7] = torch.tensor([1.0, 0.0, 0.0, 0.0])  # on their backs
    fallen = env.step(torch.zeros(64, 12))[2]  # type: ignore[attr-defined]
    assert fallen[:8].all()
