"""The humanoid's tasks: their beginnings, what standing and walking earn, and what ends them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

import warpdyn as wd

STAND, WALK = rl.make("humanoid_stand"), rl.make("humanoid_velocity")
ENVS = 16


@pytest.fixture(scope="module")
def stand() -> object:
    """Environments without pushes, level and at rest in "home"."""
    made = rl.VecEnv(STAND, ENVS, seed=1)
    made.reset()
    return made


@pytest.fixture(scope="module")
def walk() -> object:
    made = rl.VecEnv(WALK, ENVS, seed=1)
    made.reset()
    return made


def test_episodes_begin_on_both_feet_with_any_heading(stand: object, walk: object) -> None:
    """Soles are within some centimetres of the floor, bases level, and joints near "home"."""
    for env, task in ((stand, STAND), (walk, WALK)):
        q = env.reset(seed=1) and env.carried["q"].double()
        heights = wd.point_heights(task.model, q, points=task.points)
        assert heights.min() > -0.03 and heights.max() < 0.06
        assert (q[:, 3:5] == 0).all() and q[:, 5].std() > 0.3
        assert (q[:, 7:] - torch.tensor(task.home)).abs().max() <= 0.05
        v = env.carried["v"]
        assert v[:, :6].abs().max() <= 0.4 and v[:, :6].std() > 0.1 and (v[:, 6:] == 0).all()


@pytest.mark.parametrize("task", [STAND, WALK], ids=["stand", "walk"])
def test_wear_and_risk_have_negative_scales(task: object) -> None:
    """Tilt, slip, torques, accelerations and jerk, for instance."""
    costs = {name for name, scale in task.scales.items() if scale < 0.0}
    assert costs >= {"tilt", "roll", "slip", "apart", "torque", "acceleration", "jerk"}


def test_the_forward_reward_uses_both_horizontal_speed_errors(walk: object) -> None:
    """It is exp(-|error|² / 0.4²), times its scale and the time of a step."""
    walk.reset(seed=5)
    walk.step(torch.zeros(ENVS, rl.tasks.humanoid_tasks.LEGS))
    state = walk.carried
    error = state["command"][:, :2] - state["v"][:, :2]
    wanted = (
        torch.exp(-(error**2).sum(1) / 0.4**2) * WALK.scales["forward"] * WALK.dt * WALK.substeps
    )
    assert error.std(0).min() > 0.05
    assert torch.allclose(state["sums"][:, list(WALK.scales).index("forward")], wanted, rtol=1e-4)


def test_commands_are_within_their_range_and_some_are_zero(walk: object) -> None:
    """Another range applies from the next episode on. No other kernel is compiled."""
    command = torch.cat([walk.reset(seed=k) and walk.carried["command"].clone() for k in range(20)])
    assert (command.amin(0) >= walk.numbers["slowest"]).all()
    assert (command.amax(0) <= walk.numbers["fastest"]).all()
    still = (command == 0).all(dim=1).float().mean()
    assert 0.03 < still < 0.25
    assert command[:, 0].max() > 0.5


def test_a_walker_also_observes_its_command_and_the_clock(walk: object) -> None:
    """The clock is zero if the command is to stand."""
    walk.reset(seed=3)
    seen, state = walk.observations["policy"], walk.carried
    assert seen.shape == (ENVS, 50) and torch.equal(seen[:, 45:48], state["command"])
    assert torch.allclose(seen[:, :6], state["v"][:, :6])
    assert seen[:, 6:9].norm(dim=1).numpy() == pytest.approx(np.ones(ENVS), abs=1e-5)
    moving = (state["command"] != 0).any(dim=1)
    angle = 2 * np.pi * state["phase"]
    clock = torch.stack([angle.sin(), angle.cos()], dim=1) * moving[:, None]
    assert torch.allclose(seen[:, 48:], clock, atol=1e-5)


def test_a_robot_at_rest_in_home_earns_nearly_the_largest_reward(stand: object) -> None:
    """Rewards after 0.4 s at rest are near their largest values, and penalties are small."""
    _at_home(stand)
    for _ in range(20):
        _, reward, fallen, late, info = stand.step(torch.zeros(ENVS, rl.tasks.humanoid_tasks.LEGS))
    assert not fallen.any() and not late.any() and not info["failed"].any()
    best = sum(x for x in STAND.scales.values() if x > 0) * STAND.step_seconds
    assert (reward > 0.9 * best).all() and (reward <= best).all()
    found = stand.measures()
    assert (found["height"] - STAND.height).abs().max() < 0.02 and found["speed"].max() < 0.1


def test_a_pushed_robot_moves_faster_and_earns_less(stand: object) -> None:
    """Half of them are set to 0.5 m/s. They earn less in the next step than the others."""
    _at_home(stand)
    stand.carried["v"][: ENVS // 2, 0] = 0.5
    _, reward, _, _, _ = stand.step(torch.zeros(ENVS, rl.tasks.humanoid_tasks.LEGS))
    assert reward[: ENVS // 2].max() < reward[ENVS // 2 :].min()


def test_a_fall_ends_the_episode(stand: object, walk: object) -> None:
    """A robot that lies and an upright one on its knees count as fallen.

    Standing robots continue.
    """
    for env in (stand, walk):
        _at_home(env)
        env.carried["q"][0, 3:7] = torch.tensor([0.0, np.sin(np.pi / 4), 0.0, np.cos(np.pi / 4)])
        env.carried["q"][1, 2] = 0.4
        _, _, fallen, _, _ = env.step(torch.zeros(ENVS, rl.tasks.humanoid_tasks.LEGS))
        assert fallen[:2].all() and not fallen[2:].any()


def test_the_clock_bends_the_legs_in_turn(walk: object) -> None:
    """The left foot rises after a quarter of the period, the right one after three quarters.

    With a command to stand neither does.
    """
    _at_home(walk)
    walk.carried["command"][:] = torch.tensor([0.5, 0.0, 0.0])
    walk.carried["command"][8:] = 0.0
    walk.carried["phase"][:] = torch.tensor([0.25, 0.75]).repeat(ENVS // 2)
    for _ in range(6):
        walk.step(torch.zeros(ENVS, rl.tasks.humanoid_tasks.LEGS))
    knees = walk.carried["q"][:, [7 + 3, 7 + 9]] - WALK.home[3]
    assert (knees[0:8:2, 0] > knees[0:8:2, 1] + 0.1).all()
    assert (knees[1:8:2, 1] > knees[1:8:2, 0] + 0.1).all()
    assert knees[8:].abs().max() < 0.1


def test_the_shipped_policy_recovers_from_a_push(stand: object) -> None:
    """A robot pushed to 0.4 m/s in any direction stands after three seconds.

    Drives without a policy let it fall.
    """
    policy = _load_policy("humanoid_stand")
    for acting, least, most in ((True, 0.9, 1.0), (False, 0.0, 0.6)):
        _at_home(stand)
        angle = torch.arange(ENVS) * 2 * np.pi / ENVS
        stand.carried["v"][:, 0], stand.carried["v"][:, 1] = 0.4 * angle.cos(), 0.4 * angle.sin()
        up = torch.ones(ENVS, dtype=torch.bool)
        for _ in range(145):
            action = policy(stand.observations["policy"]) if acting else np.zeros((ENVS, 12))
            up &= ~stand.step(action)[2]
        assert least <= up.float().mean() <= most
        if acting:
            assert stand.measures()["speed"][up].max() < 0.2


def test_the_shipped_policy_walks_half_a_metre_per_second(walk: object) -> None:
    """Each robot that stays up moves 1.2 m or more in four seconds from standing.

    Most robots stay up.
    """
    policy = _load_policy("humanoid_velocity")
    _at_home(walk)
    begun, up = walk.carried["q"][:, :2].clone(), torch.ones(ENVS, dtype=torch.bool)
    for _ in range(200):
        walk.carried["command"][:] = torch.tensor([0.5, 0.0, 0.0])
        up &= ~walk.step(policy(walk.observations["policy"]))[2]
    moved = (walk.carried["q"][:, :2] - begun).norm(dim=1)
    assert up.float().mean() >= 0.8
    assert (moved[up] > 1.2).all() and (moved[up] < 2.6).all()


def _load_policy(name: str) -> object:
    return rl.Policy(Path(rl.__file__).parent / "policies" / f"{name}.onnx")


def _at_home(env: object) -> None:
    """All environments at rest in "home", one step after their beginning."""
    env.reset(seed=1)
    state = env.carried
    home = torch.tensor(env.task.model.configurations["home"], dtype=torch.float32)
    state["q"][:], state["v"][:], state["last_v"][:] = home, 0.0, 0.0
    if "command" in state:
        state["command"][:] = 0.0
