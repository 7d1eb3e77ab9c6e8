"""The task of lifting a cube: its beginning, its rewards, and the shipped policy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
import torch
from task_rewards import rewards_on_numbers

from benchmarks.rl.objects import judge
from warpdyn.rl.tasks.lift_tasks import CUBE, FIRM, REACHED, SIDE
from warpdyn.rl.tasks.panda_hand import FINGERS, HAND, JOINTS

TASK = rl.make("panda_lift")


@pytest.fixture(scope="module")
def env() -> Any:
    made = rl.VecEnv(TASK, 256, seed=2)
    made.reset()
    return made


def rewards_of(cube: np.ndarray, goal: np.ndarray, forces: Any = (0.0, 0.0)) -> dict[str, float]:
    """Rewards and measures with the hand at "ready", on numbers. forces: of the fingers [N]."""
    pressed = np.zeros((len(TASK.pairs), 3))
    for finger, force in zip(FINGERS, forces, strict=True):
        (k,) = TASK.pairs.between(finger, CUBE)
        pressed[k, 1] = force
    q = np.array([*TASK.ready, 0.04, 0.04, *cube, 0.0, 0.0, 0.0, 1.0])
    return rewards_on_numbers(TASK, q, goal=goal, pair_forces=pressed)


def test_the_cube_of_the_model_lies_on_the_table() -> None:
    """Its pose in the configuration "home", which pictures of the model show."""
    assert TASK.model.configurations["home"][-7:-4] == pytest.approx([0.5, 0.0, SIDE / 2])


def test_cubes_begin_at_random_places_on_the_table(env: Any) -> None:
    """Each has its own mass, friction and goal. The hand is open above it."""
    q, goal = env.carried["q"].numpy(), env.carried["goal"].numpy()
    low, high = TASK.numbers["cube_range"]
    place, heading = q[:, JOINTS : JOINTS + 2], 2 * np.arctan2(q[:, -2], q[:, -1])
    for found, lower, upper in (
        (place, low[:2], high[:2]),
        (heading, low[2], high[2]),
        (goal, *TASK.numbers["goal_range"]),
        (env.carried["mass"].numpy(), 0.05, 0.2),
        (env.carried["pair_friction"].numpy(), 0.6, 1.2),
    ):
        lower, upper = np.asarray(lower, np.float32), np.asarray(upper, np.float32)
        assert (found >= lower - 1e-6).all() and (found <= upper + 1e-6).all()
        assert (np.ptp(found, axis=0) > 0.9 * (upper - lower)).all()
    assert (q[:, JOINTS + 2] == np.float32(SIDE / 2)).all() and (
        q[:, 7:JOINTS] == np.float32(0.04)
    ).all()
    assert np.array_equal(env.carried["wanted"].numpy(), q[:, :JOINTS])


def test_the_reward_is_largest_at_the_goal() -> None:
    goal = np.array([0.5, 0.0, 0.25])
    there = rewards_of(goal, goal, (FIRM, FIRM))
    assert there["lift"] == there["grip"] == 1.0 and there["jerk"] == 0.0
    assert [there["carry"], there["there"]] == pytest.approx([1.0, 1.0], abs=1e-6)
    assert there["measured_distance"] == 0.0 and there["measured_height"] == 0.25
    before = there
    for away in (0.01, 0.03, 0.1, 0.2):
        now = rewards_of(goal - [0.0, 0.0, away], goal)
        assert all(now[n] < before[n] for n in ("carry", "there"))
        assert now["measured_reached"] == (away < REACHED)
        before = now
    lying = rewards_of(np.array([0.5, 0.0, SIDE / 2]), goal)
    assert lying["lift"] == lying["carry"] == lying["there"] == 0.0


def test_the_reach_reward_depends_on_the_distance_from_the_hand() -> None:
    hand = wd.oracle(wd.fk, TASK.model, np.array([[*TASK.ready, *np.zeros(9)]]), frame=HAND)[0][
        :3, 3
    ]
    goal = np.zeros(3)
    assert rewards_of(hand, goal)["reach"] == pytest.approx(1.0, abs=1e-6)
    away = rewards_of(hand + np.array([0.0, 0.06, 0.08]), goal)["reach"]
    assert away == pytest.approx(1.0 - np.tanh(1.0), abs=1e-6)


def test_the_grip_reward_needs_forces_of_both_fingers() -> None:
    cube, goal = np.array([0.5, 0.0, SIDE / 2]), np.zeros(3)
    for forces, grip in (((8.0, 0.0), 0.0), ((2.0, -8.0), 0.4), ((9.0, -9.0), 1.0)):
        assert rewards_of(cube, goal, forces)["grip"] == pytest.approx(grip, abs=1e-6)


def test_the_critic_observes_forces_and_the_policy_does_not(env: Any) -> None:
    seen = env.observations
    assert seen["policy"].shape == (256, 46) and seen["critic"].shape == (256, 50)
    assert torch.equal(seen["critic"][:, :46], seen["policy"])
    numbers = torch.stack([10.0 * env.carried["mass"][:, 0], env.carried["pair_friction"]], 1)
    assert torch.allclose(seen["critic"][:, 48:], numbers)
    assert rl.DeployedPolicy(TASK, rl.Policy(rl.bundled_policy("panda_lift"))).joints == JOINTS


def test_a_launch_equals_the_functions_on_plain_numbers(env: Any) -> None:
    """The numbers agree to the rounding of float32."""
    env.reset(seed=9)
    action = torch.rand(256, 5, generator=torch.manual_seed(0)) * 2 - 1
    wanted = rl.plain_step(env, action[3].numpy(), environment=3)
    _, reward, *_ = env.step(action)
    assert float(reward[3]) == pytest.approx(float(wanted["reward"]), abs=1e-4)
    for group in ("policy", "critic"):
        assert env.observations[group][3].numpy() == pytest.approx(wanted[group], abs=5e-3)
    for name in ("q", "wanted", "goal"):
        assert env.carried[name][3].numpy() == pytest.approx(wanted[name], abs=1e-4)


def test_the_shipped_policy_lifts_cubes() -> None:
    """The test has 100 starts. The results of 1,000 starts are in benchmarks/rl/results."""
    found = judge(rl.VecEnv(TASK, 100, seed=7), rl.Policy(rl.bundled_policy("panda_lift")))
    assert found["reached"] >= 0.95 and found["millimetres"]["50 %"] < 5.0


def test_the_shipped_policy_lifts_cubes_in_mujoco() -> None:
    """The starts are the same in both simulators. The return is at least nine tenths."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")
    seen = rl.sim2sim("panda_lift", envs=8, seed=7, seconds=3.96)
    assert seen.return_ratio >= 0.9 and seen.there.last["reached"] >= 0.8
