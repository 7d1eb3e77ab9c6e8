"""The task of turning a cube: its beginning, when a goal is reached, and the shipped policy."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
import torch
from task_rewards import rewards_on_numbers

from benchmarks.rl.reorient import goals_reached
from warpdyn.rl.tasks.allegro_hand import CURLED, JOINTS
from warpdyn.rl.tasks.reorient_tasks import LOOSEST, fourth_moments
from warpdyn.rl.training import training_task

TASK = rl.make("hand_reorient")


@pytest.fixture(scope="module")
def env() -> Any:
    made = rl.VecEnv(TASK, 256, seed=2)
    made.reset()
    return made


def angles(env: Any) -> np.ndarray:
    """Angles between cubes and their goals [rad]."""
    turn = Rotation.from_quat(env.carried["q"].numpy()[:, JOINTS + 3 :])
    found: np.ndarray = (Rotation.from_quat(env.carried["goal"].numpy()) * turn.inv()).magnitude()
    return found


@pytest.mark.parametrize("simulator", ["VecEnv", "MujocoEnv"])
def test_cubes_begin_at_rest_on_the_palm(simulator: str) -> None:
    """They stay there under an action of zero.

    A cube that overlapped a finger would be thrown out of the hand, in MuJoCo at half a metre per
    second.
    """
    if simulator == "MujocoEnv":
        pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")
    still = getattr(rl, simulator)(TASK, 32, seed=3)
    still.reset()
    for _ in range(20):
        _, _, terminated, *_ = still.step(torch.zeros(32, JOINTS))
        assert not terminated.any()
    moved = still.carried["q"].numpy()[:, JOINTS : JOINTS + 3] - TASK.centre
    assert np.abs(moved).max() < 0.03


def test_goals_are_random_rotations_from_the_cube(env: Any) -> None:
    """The rotation is about a random axis, by 0.6 to 3.1 rad."""
    found = angles(env)
    assert np.allclose(found, env.carried["error"].numpy(), atol=2e-3)
    assert found.min() > 0.6 - 1e-3 and found.max() < 3.1 + 1e-3 and np.ptp(found) > 2.3
    turn = Rotation.from_quat(env.carried["q"].numpy()[:, JOINTS + 3 :])
    between = (Rotation.from_quat(env.carried["goal"].numpy()) * turn.inv()).as_rotvec()
    axes = between / np.linalg.norm(between, axis=1)[:, None]
    assert np.abs(axes.mean(0)).max() < 0.15
    assert np.allclose(axes.T @ axes / len(axes), np.eye(3) / 3, atol=0.08)


def test_a_goal_within_the_tolerance_is_counted_and_replaced() -> None:
    """It is counted, and the next one is drawn."""
    env = rl.VecEnv(TASK, 64, seed=5)
    env.reset(seed=env.kernels.seed)
    for _ in range(20):  # the cube comes to rest
        env.step(torch.zeros(64, JOINTS))
    turn = Rotation.from_quat(env.carried["q"].numpy()[:, JOINTS + 3 :])
    off = np.linspace(0.0, 0.19, 64)
    goal = (Rotation.from_rotvec(off[:, None] * [0.0, 0.0, 1.0]) * turn).as_quat()
    env.carried["goal"][:] = torch.tensor(goal, dtype=torch.float32)
    env.step(torch.zeros(64, JOINTS))
    near, far = off < 0.05, off > 0.15
    count, reached = (env.carried[n].numpy() for n in ("count", "reached"))
    assert (count[near] == 1).all() and (reached[near] == 1).all() and not count[far].any()
    assert (angles(env)[near] > 0.55).all() and (angles(env)[far] < 0.25).all()
    env.step(torch.zeros(64, JOINTS))
    assert np.array_equal(env.carried["count"].numpy()[near], count[near])
    assert not env.carried["reached"].numpy()[near].any()


def test_turning_towards_the_goal_is_rewarded() -> None:
    q = np.array([*CURLED, *TASK.centre, *TASK.flat])
    fields = {"goal": TASK.flat, "error": 0.4, "turned": 0.1, "reached": 0.0, "count": 2.0}
    fields |= {"wanted": np.array(CURLED), "torques": np.zeros(TASK.model.nv)}
    found = rewards_on_numbers(TASK, q, **fields)
    assert found["turned"] == pytest.approx(0.1 / TASK.step_seconds)
    assert found["rotation"] == pytest.approx(1.0 - 0.4 / np.pi)
    assert found["place"] == found["posture"] == found["jerk"] == found["fall"] == 0.0
    assert found["measured_count"] == 2.0 and found["measured_error"] == pytest.approx(0.4)
    low = q.copy()
    low[JOINTS + 2] -= 0.07
    assert rewards_on_numbers(TASK, low, **fields)["fall"] == 1.0


def test_observed_moments_do_not_tell_apart_equal_orientations_of_a_cube() -> None:
    """They are equal for the 24 orientations of a cube that look the same, and differ for others."""
    alike = [
        np.eye(3)[list(order)] * np.array(signs)[:, None]
        for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3))
    ]
    alike = [R for R in alike if np.linalg.det(R) > 0]
    R = Rotation.random(30, random_state=0).as_matrix()
    known = np.array([fourth_moments(each) for each in R], dtype=float)
    assert len(alike) == 24
    for turn in alike:
        found = np.array([fourth_moments(each @ turn) for each in R], dtype=float)
        assert np.allclose(found, known, atol=1e-12)
    gaps = np.linalg.norm(known[:, None] - known[None], axis=2) + np.eye(30)
    assert gaps.min() > 0.05


def test_the_tolerance_of_a_training_shrinks_with_success() -> None:
    """The tolerance of an evaluation is TASK's own."""
    learned = training_task(TASK, TASK.recipe)

    def after(task: Any, within: float, count: float) -> float:
        @wd.kernel
        def promote(robot: Any, q: Any) -> Any:
            s = rl.Episode({"within": np.float64(within), "count": np.float64(count)}, task)
            return task.promote(robot, s)["within"]

        return float(wd.oracle(promote, task.model, np.zeros((1, task.model.nq)))[0])

    few, many = learned.promotion
    assert after(learned, 0.2, many) == pytest.approx(0.16)
    assert after(learned, 0.2, few) == pytest.approx(0.22)
    assert after(learned, 0.2, few + 1) == pytest.approx(0.2)
    assert after(learned, LOOSEST, 0.0) == LOOSEST
    assert after(learned, TASK.tolerance, 9.0) == TASK.tolerance
    assert after(TASK, LOOSEST, 2.0) == TASK.tolerance


def test_a_launch_equals_the_functions_on_plain_numbers(env: Any) -> None:
    """The numbers agree to the rounding of float32."""
    env.reset(seed=9)
    action = torch.rand(256, JOINTS, generator=torch.manual_seed(0)) * 2 - 1
    wanted = rl.plain_step(env, action[3].numpy(), environment=3)
    _, reward, *_ = env.step(action)
    assert float(reward[3]) == pytest.approx(float(wanted["reward"]), abs=1e-2)
    for group in ("policy", "critic"):
        assert env.observations[group][3].numpy() == pytest.approx(wanted[group], abs=2e-2)


def test_the_shipped_policy_reaches_goals() -> None:
    """Noise and varied masses are those of its training.

    The test lasts 20 s. The results of 1,000 episodes of 50 s are in benchmarks/rl/results.
    """
    learned = training_task(TASK, TASK.recipe)
    learned.loosest, learned.seconds = TASK.tolerance, 20.0
    policy = rl.Policy(rl.bundled_policy("hand_reorient"))
    found = goals_reached(rl.VecEnv(learned, 48, seed=7), policy)
    assert found["goals"] >= 1.4 and found["cube fell"] <= 0.2


def test_the_shipped_policy_turns_cubes_in_mujoco() -> None:
    """The simulation lasts 10 s."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")
    seen = rl.sim2sim("hand_reorient", envs=4, seed=7, seconds=10.0)
    assert seen.there.last["count"] >= 0.4
