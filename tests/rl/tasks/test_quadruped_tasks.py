"""The quadruped's task: observations, rewards, and where episodes begin and end."""

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


def test_episodes_begin_on_the_feet_with_a_wanted_velocity(env: object) -> None:
    """The lowest foot touches.

    Commands begin at zero, some robots shall stand still, and friction is drawn for each
    environment.
    """
    state = env.carried  # type: ignore[attr-defined]
    wanted, friction = state["wanted"], state["friction"]
    assert wanted.abs().max() <= 1.0 and wanted[:, 0].std() > 0.3
    assert friction.min() >= 0.4 and friction.max() <= 1.0
    assert not state["command"].any() and (wanted == 0).all(1).any()
    heights = wd.point_heights(TASK.model, state["q"].double(), points=TASK.points)
    assert heights.min(1).values.abs().max() < 1e-6 and heights.max() < 0.15


def test_commands_approach_the_wanted_velocity_at_their_rate(env: object) -> None:
    """The command changes by at most 0.04 m/s and 0.08 rad/s per step of 20 ms.

    The wanted velocity changes after 10 s.
    """
    env.reset(seed=env.kernels.seed)  # type: ignore[attr-defined]
    state = env.carried  # type: ignore[attr-defined]
    most = torch.tensor([0.04, 0.04, 0.08])
    env.step(torch.zeros(64, 12))  # type: ignore[attr-defined]
    assert torch.allclose(state["command"], state["wanted"].clamp(-most, most), atol=1e-6)
    state["command"].copy_(state["wanted"])
    before = state["wanted"].clone()
    state["age"].fill_(499)
    for k in range(1, 4):
        env.step(torch.zeros(64, 12))  # type: ignore[attr-defined]
        there = state["age"] > 499  # the others have fallen and begun anew
        off = (state["wanted"] - before)[there]
        there_now = (state["command"] - before)[there]
        assert torch.allclose(there_now, off.clamp(-k * most, k * most), atol=1e-6)
    assert there.float().mean() > 0.9 and (off != 0).any(1).float().mean() > 0.9
    env.reset(seed=env.kernels.seed)  # type: ignore[attr-defined]


def test_the_policy_observes_only_measurable_quantities(env: object) -> None:
    """Base velocities, gravity in the base's axes, the command, joints, the last action, the clock.

    The clock is zero if the robot shall stand.
    """
    env.reset(seed=env.kernels.seed)  # type: ignore[attr-defined]
    env.step(torch.zeros(64, 12))  # type: ignore[attr-defined]
    seen, state = env.observations["policy"], env.carried  # type: ignore[attr-defined]
    assert seen.shape == (64, 50)
    assert torch.allclose(seen[:, :6], state["v"][:, :6])
    assert seen[:, 6:9].norm(dim=1).numpy() == pytest.approx(np.ones(64), abs=1e-5)
    assert torch.equal(seen[:, 9:12], state["command"])
    stance = torch.tensor(TASK.stance, dtype=torch.float32)
    assert torch.allclose(seen[:, 12:24], state["q"][:, 7:] - stance, atol=1e-6)
    told = (state["command"] != 0).any(1)
    assert 0 < told.sum() < 64 and not seen[~told, 48:].any()
    angle = 2 * np.pi * state["phase"][told]
    clock = torch.stack([torch.sin(angle), torch.cos(angle)], 1)
    assert torch.allclose(seen[told, 48:], clock, atol=1e-5)


def feet(phase: float, command: tuple[float, float, float]) -> np.ndarray:
    """Positions of the feet at the drives' targets of a zero action, in the base's frame (4, 3)."""
    s = rl.Episode({"action": np.zeros(12), "command": np.array(command), "phase": phase})
    q = np.concatenate([np.zeros(6), [1.0], TASK.control(None, s)["targets"]])
    return np.asarray(wd.oracle(wd.point_positions, TASK.model, q, points=TASK.points))


def test_the_clock_makes_the_feet_trot() -> None:
    """Diagonal feet rise in turn.

    During stance a foot moves back as the robot shall move forward or turn. With a command to stand
    all feet stay.
    """
    rise = 0.2 * TASK.height
    for phase, up in ((0.25, [0, 3]), (0.75, [1, 2])):
        off = feet(phase, (0.5, 0.0, 0.0)) - TASK.feet
        down = [k for k in range(4) if k not in up]
        assert off[up, 2] == pytest.approx(rise, abs=0.2 * rise)
        assert off[down] == pytest.approx(np.zeros((2, 3)), abs=1e-9)
    for command in ((0.4, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 1.0)):
        ahead, aside, turn = command
        gone = feet(1.0, command) - feet(0.5, command)
        x, y = TASK.feet[[0, 3], :2].T
        speed = np.stack([ahead - turn * y, aside + turn * x], 1)
        assert gone[[0, 3], :2] == pytest.approx(-0.5 * TASK.period * speed, abs=0.01)
    assert feet(0.25, (0.0, 0.0, 0.0)) == pytest.approx(TASK.feet, abs=1e-9)


def test_the_shipped_policy_walks(env: object) -> None:
    """Speed errors in 5 s with commands within 1 are small, and none of 64 robots falls."""
    policy = rl.Policy(rl.bundled_policy("quadruped_velocity"))
    policy.check(TASK, 50)
    env.reset(seed=env.kernels.seed)  # type: ignore[attr-defined]
    errors, falls = [], 0
    for _ in range(250):
        seen = env.observations["policy"]  # type: ignore[attr-defined]
        _, _, fallen, _, info = env.step(torch.from_numpy(policy(seen)))  # type: ignore[attr-defined]
        falls += int(fallen.sum())
        assert not info["failed"].any()
        found = env.measures()  # type: ignore[attr-defined]
        errors.append([float(found[n].mean()) for n in ("speed_error", "turning_error")])
    speed, turning = np.mean(errors, axis=0)
    assert falls == 0 and speed < 0.12 and turning < 0.1
    moved = env.carried["q"][:, :2].norm(dim=1)  # type: ignore[attr-defined]
    assert moved.mean() > 1.0


def test_standing_earns_a_reward_and_a_fall_ends_the_episode(env: object) -> None:
    """Most robots stand for a second without an action. These do not count as fallen."""
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


def test_only_speeds_and_steps_have_positive_scales() -> None:
    """All other terms are costs."""
    earns = {name for name, scale in TASK.scales.items() if scale > 0.0}
    assert earns == {"forward", "turn", "steps"} and 0.0 not in TASK.scales.values()


def test_measures_compare_speeds_with_the_wanted_velocity(env: object) -> None:
    """Not with the command, which approaches the wanted velocity at its rate."""
    env.reset(seed=env.kernels.seed)  # type: ignore[attr-defined]
    state = env.carried  # type: ignore[attr-defined]
    draw = torch.Generator().manual_seed(0)
    state["wanted"].copy_(torch.rand(state["wanted"].shape, generator=draw))
    state["v"].copy_(torch.rand(state["v"].shape, generator=draw))
    behind = (state["wanted"] - state["v"][:, [0, 1, 5]]).numpy()
    found = env.measures()  # type: ignore[attr-defined]
    assert found["speed_behind"].numpy() == pytest.approx(np.hypot(*behind.T[:2]), abs=1e-5)
    assert found["turning_behind"].numpy() == pytest.approx(np.abs(behind[:, 2]), abs=1e-5)
