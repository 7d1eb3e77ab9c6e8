"""A quadruped that gets up: where episodes begin, which shapes touch, and when it stands."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

import warpdyn as wd
from warpdyn.model.assembly import rebuild
from warpdyn.rl.tasks.getup_tasks import QuadrupedGetup, leg_capsules
from warpdyn.rl.tasks.quadruped_tasks import BUNDLED

ENVS = 64


@pytest.fixture(scope="module")
def env() -> Any:
    return rl.VecEnv(QuadrupedGetup(), ENVS, seed=1)


def test_leg_capsules_reach_from_joint_to_joint() -> None:
    """One capsule reaches from knee to foot and one from hip to knee, at any pose."""
    model, radius = wd.load_robot("quadruped"), 0.02
    foot = wd.ContactPoints(model).only("RL_foot")[0]
    calf, thigh = leg_capsules(model, foot, radius)
    assert (calf.link, thigh.link) == ("RL_calf", "RL_thigh")
    q = np.concatenate([[0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5], np.linspace(-0.5, 0.5, 12)])
    ends = {}
    for capsule in (calf, thigh):
        T = wd.fk(model, q, frame=capsule.link)
        middle = T[:3, :3] @ capsule.position + T[:3, 3]
        along = T[:3, :3] @ np.array(capsule.rotation)[:, 2] * (capsule.size[1] + radius)
        ends[capsule.link] = middle - along, middle + along
    joints = [wd.fk(model, q, frame=link)[:3, 3] for link in ("RL_thigh", "RL_calf", "RL_foot")]
    np.testing.assert_allclose(ends["RL_thigh"], joints[:2], atol=1e-9)
    np.testing.assert_allclose(ends["RL_calf"], joints[1:], atol=1e-9)


def test_contact_pairs_are_legs_with_legs_and_calves_with_the_trunk() -> None:
    """Capsules of all legs are paired with each other. The whole robot touches the ground."""
    task = QuadrupedGetup()
    links = {frozenset((pair.first.link, pair.second.link)) for pair in task.pairs}
    legs = [(f"{leg}_thigh", f"{leg}_calf") for leg in ("FL", "FR", "RL", "RR")]
    between = {
        frozenset((a, b))
        for k, one in enumerate(legs)
        for two in legs[k + 1 :]
        for a in one
        for b in two
    }
    assert links == between | {frozenset(("base", calf)) for _, calf in legs}
    assert {point.link for point in task.points} >= {"base", "FL_foot", "RR_foot"}


def test_episodes_begin_above_the_ground_in_any_orientation(env: Any) -> None:
    env.reset(seed=1)
    task, q = env.task, env.carried["q"].double().numpy()
    lowest = wd.point_heights(task.model, q, points=task.points).min(axis=1)
    assert (lowest > -1e-5).all() and (lowest < task.drop + 1e-5).all() and np.ptp(lowest) > 0.02
    up = 1 - 2 * (q[:, 3] ** 2 + q[:, 4] ** 2)
    assert up.min() < -0.7 and up.max() > 0.7
    assert (q[:, 7:] >= task.lower - 1e-5).all() and (q[:, 7:] <= task.upper + 1e-5).all()


def test_a_limit_without_a_counterpart_costs_the_angle_beyond_it() -> None:
    """A joint with one limit of -1 rad cost 50,000 rad in every pose."""
    robot = wd.load_robot("quadruped")
    joints = list(robot.joints)
    first = next(k for k, joint in enumerate(joints) if joint.name == robot.joint_names[0])
    one_sided = replace(joints[first].limits, lower=-1.0, upper=np.inf)
    joints[first] = replace(joints[first], limits=one_sided)
    task = QuadrupedGetup(rebuild(robot, robot.links, joints), BUNDLED)
    rest = {"v": np.zeros(18), "last_v": np.zeros(18), "torques": np.zeros(12)}
    rest |= {"action": np.zeros(12), "last_action": np.zeros(12)}
    for angle, cost in ((0.1, 0.0), (40.0, 0.0), (-1.25, 0.25)):
        q = np.concatenate([[0, 0, 0.3, 0, 0, 0, 1], task.stance])
        q[7] = angle
        found = task.reward(None, rl.Episode({"q": q, **rest}, task))
        assert float(found["limits"]) == pytest.approx(cost, abs=1e-9)


def test_the_policy_observes_neither_velocity_nor_height_of_the_base(env: Any) -> None:
    """The critic observes both."""
    rows = env.observations
    assert rows["critic"].shape[1] - rows["policy"].shape[1] == 4


def test_zero_actions_raise_a_robot_from_its_belly_but_not_from_its_back(
    env: Any,
) -> None:
    env.reset(seed=2)
    q = env.carried["q"]
    q[:, 3:7] = torch.tensor([0.0, 0.0, 0.0, 1.0])
    q[: ENVS // 2, 3:7] = torch.tensor([1.0, 0.0, 0.0, 0.0])
    q[:, 2] = 0.25
    q[:, 7:] = torch.tensor(env.task.stance, dtype=torch.float32) * 1.2
    env.carried["v"].zero_()
    env.carried["q"][:] = q
    for _ in range(100):
        env.step(torch.zeros(ENVS, env.task.actions))
    stands = rl_stands(env)
    assert not stands[: ENVS // 2].any() and stands[ENVS // 2 :].all()


def rl_stands(env: Any) -> np.ndarray:
    """Which robots stand, computed without the task's own function."""
    q, v = env.carried["q"].numpy(), env.carried["v"].numpy()
    up = 1 - 2 * (q[:, 3] ** 2 + q[:, 4] ** 2)
    off = np.abs(q[:, 2] / env.task.height - 1)
    return (up > 0.95) & (off < 0.2) & (np.linalg.norm(v[:, :3], axis=1) < env.task.slow)
