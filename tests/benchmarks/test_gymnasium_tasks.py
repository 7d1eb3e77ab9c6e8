"""Gymnasium's MuJoCo environments as tasks, with the same observations, rewards and ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("gymnasium")
pytest.importorskip("warpdyn.rl")

import gymnasium
import torch

import warpdyn as wd
from benchmarks.rl.gymnasium.swimmer_task import fluid_wrench
from benchmarks.rl.gymnasium.task_list import TASKS
from benchmarks.rl.gymnasium.transfer import figures, kept_share, random_actions
from warpdyn import rl

ENVS, STEPS = 2, 2


EQUAL = 1e-12
"""Rounding of float64."""


class Nearness(NamedTuple):
    """Largest differences of observations and of a step's reward after two steps of random actions.
    Rewards of Gymnasium use the body positions of the last stage of a step, not those after it."""

    seen: float
    reward: float


NEAR = {
    "inverted_pendulum": Nearness(EQUAL, EQUAL),
    "inverted_double_pendulum": Nearness(EQUAL, 5e-5),
    "reacher": Nearness(1e-5, 5e-6),
    "hopper": Nearness(EQUAL, EQUAL),
    "half_cheetah": Nearness(5e-3, 5e-5),
    "walker2d": Nearness(2e-5, 2e-6),
    "ant": Nearness(1e-3, 5e-3),
    "pusher": Nearness(EQUAL, EQUAL),
    "humanoid": Nearness(0.03, 2e-4),
    "swimmer": Nearness(0.1, 5e-3),
}
"""Fluid forces of the swimmer are constant during a control step. Sweeps have not
converged where half_cheetah and walker2d touch the ground."""


def test_all_tasks_are_compared() -> None:
    assert set(NEAR) == set(TASKS)


COMPILES_LONG = "humanoid"
"""A task whose step takes half a minute to compile."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=pytest.mark.slow) if x == COMPILES_LONG else x for x in NEAR],
)
def test_a_task_agrees_with_gymnasiums_environment(name: str) -> None:
    """The first observations from the same states are equal. Observations and rewards after the
    same actions are near each other.
    """
    task, near = TASKS[name](), NEAR[name]
    env = rl.VecEnv(task, ENVS, seed=3, dtype="float64")
    seen, _ = env.reset()
    q, v = (env.carried[n].numpy() for n in ("q", "v"))
    theirs: list[Any] = []
    for k in range(ENVS):
        robot = gymnasium.make(task.environment).unwrapped
        robot.reset(seed=k)
        robot.set_state(*task.mujoco_state(q[k], v[k]))
        theirs.append(robot)
    assert task.step_seconds == pytest.approx(theirs[0].dt)
    spec = gymnasium.spec(task.environment)
    assert env.kernels.length == spec.max_episode_steps
    box = theirs[0].action_space
    assert box.shape == (task.actions,) and (box.high == np.float32(task.largest_action)).all()
    first = np.stack([robot._get_obs() for robot in theirs])
    np.testing.assert_allclose(seen.numpy(), first, atol=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(STEPS):
        actions = rng.uniform(-task.largest_action, task.largest_action, (ENVS, task.actions))
        seen, reward, failed, _, _ = env.step(torch.tensor(actions))
        stepped = [robot.step(x) for robot, x in zip(theirs, actions, strict=True)]
        assert not failed.any() and not any(x[2] for x in stepped)
        off = np.abs(seen.numpy() - np.stack([x[0] for x in stepped]))
        assert off.max() < near.seen
        assert np.abs(reward.numpy() - [x[1] for x in stepped]).max() < near.reward


def test_fluid_forces_agree_with_mujoco() -> None:
    """They act on the three links of the swimmer. Their sums on the joints are compared."""
    mujoco = pytest.importorskip("mujoco")
    task: Any = TASKS["swimmer"]()
    robot: Any = gymnasium.make(task.environment).unwrapped
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, v = rng.normal(0.0, 1.0, 5), rng.normal(0.0, 2.0, 5)
        robot.reset()
        robot.set_state(q, v)
        mujoco.mj_forward(robot.model, robot.data)
        pushed = np.zeros(5)
        for link in task.wet:
            local: dict[str, Any] = {"frame": link.name, "reference": "local"}
            velocity = wd.oracle(wd.frame_velocity, task.model, q, v, **local)
            J = wd.oracle(wd.jacobian, task.model, q, **local)
            pushed += J.T @ fluid_wrench(link, velocity)
        np.testing.assert_allclose(pushed, robot.data.qfrc_passive, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "state"),
    [("hopper", {1: 0.6}), ("hopper", {2: 0.25}), ("walker2d", {1: 0.7}), ("ant", {2: 1.3})],
)
def test_an_episode_ends_where_gymnasiums_does(name: str, state: dict[int, float]) -> None:
    """It ends at these coordinates, without the reward for being alive."""
    task = TASKS[name]()
    env = rl.VecEnv(task, 1, dtype="float64")
    env.reset()
    for k, x in state.items():
        env.carried["q"][0, k] = x
    q, v = (env.carried[n][0].numpy() for n in ("q", "v"))
    robot: Any = gymnasium.make(task.environment).unwrapped
    robot.reset()
    robot.set_state(*task.mujoco_state(q, v))
    _, reward, failed, _, _ = env.step(torch.zeros((1, task.actions)))
    _, there, ended, _, _ = robot.step(np.zeros(task.actions))
    assert bool(failed[0]) and ended
    assert abs(float(reward[0]) - there) < 0.5


def test_kept_share_compares_returns() -> None:
    """Negative returns are costs, and their share is the inverse."""
    assert kept_share(100.0, 95.0) == 0.95 and kept_share(-4.0, -5.0) == 0.8
    assert figures(np.array([1.0, 3.0])) == {"mean": 2.0, "deviation": 1.0, "least": 1.0}
    act = random_actions(TASKS["hopper"](), 0)
    assert act(np.zeros((5, 11))).shape == (5, 3) and np.abs(act(np.zeros((9, 11)))).max() <= 1.0
