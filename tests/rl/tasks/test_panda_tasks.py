"""The panda's tasks: reachable targets, rewards that are largest there, and spheres to avoid."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
import torch
from task_rewards import rewards_on_numbers

from benchmarks.rl.reach import measure
from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.tasks.keep_out import capsule_ends, clearance, height
from warpdyn.rl.tasks.panda_tasks import HAND, REACHED

REACH, AROUND = rl.make("panda_reach"), rl.make("panda_reach_obstacles")
POLICIES = Path(rl.__file__).with_name("policies")


class Beginnings:
    """Beginnings of `AROUND` by its functions on numbers, and joint positions of its targets."""

    def __init__(self, count: int):
        text = EnvironmentStep(AROUND, seed=4)
        self.numbers = [x.astype(float) for x in text.numbers.values()]
        ticks = np.arange(count, dtype=float)

        @wd.kernel
        def goals(robot: Any, ticks: ()) -> Any:
            key = wd.random.key(4.0, robot.env, ticks)
            return AROUND._draw_target(robot, key.at(40))

        begun = wd.oracle(text.start, AROUND.model, ticks, *self.numbers)._asdict()
        self.begun = {n: np.asarray(x) for n, x in begun.items()}
        self.goals = np.asarray(wd.oracle(goals, AROUND.model, ticks))


@pytest.fixture(scope="module")
def beginnings() -> Beginnings:
    return Beginnings(24)


@pytest.fixture(scope="module")
def env() -> Any:
    made = rl.VecEnv(REACH, 100, seed=2)
    made.reset()
    return made


def ends(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the arm's capsules at a configuration."""
    places = kernel_of_ends(AROUND.model, np.atleast_2d(q))[0]
    return places[0], places[1]


@wd.kernel
def kernel_of_ends(robot: Any, q: Any) -> Any:
    return np.stack(capsule_ends(robot, q, AROUND.parts))


def results_at(task: Any, q: np.ndarray, **fields: Any) -> dict[str, float]:
    """Rewards and measures of a task at a configuration, on numbers."""

    def more(robot: Any, s: Any) -> dict[str, Any]:
        return {"gap": np.min(task._gaps(robot, s)), "over": task.is_terminal(robot, s)}

    return rewards_on_numbers(task, q, more, wanted=q, **fields)


def test_targets_are_reachable(beginnings: Beginnings) -> None:
    """Joint positions within the limits reach each target.

    The arm is above the table and outside both spheres.
    """
    model, begun = AROUND.model, beginnings.begun
    assert (beginnings.goals > model.position_lower).all() and (
        beginnings.goals < model.position_upper
    ).all()
    for goal, target, spheres in zip(
        beginnings.goals, begun["target"], begun["spheres"], strict=True
    ):
        hand = wd.oracle(wd.fk, model, goal[None], frame=HAND)[0][:3, 3]
        assert target == pytest.approx(hand, abs=1e-12) and target[2] > 0.03
        first, last = ends(goal)
        assert height(first, last, AROUND.radii).min() > 0.03
        for x in spheres:
            assert clearance(first, last, AROUND.radii, x[:3], x[3]).min() >= AROUND.room - 1e-9
    assert np.std(begun["target"], axis=0).min() > 0.15  # all around
    assert len(np.unique(beginnings.goals, axis=0)) >= 23  # hardly any without a try that will do


def test_episodes_begin_near_ready_outside_the_spheres(beginnings: Beginnings) -> None:
    q = beginnings.begun["q"]
    assert np.abs(q - AROUND.home).max() <= 0.2
    assert np.array_equal(beginnings.begun["wanted"], q) and not beginnings.begun["v"].any()
    sizes = beginnings.begun["spheres"][..., 3]
    assert (sizes >= AROUND.least).all() and (sizes <= 0.1).all()
    above = beginnings.begun["spheres"][..., 2] > -0.9
    assert above.mean() > 0.7  # else there was no room
    for x, spheres in zip(q, beginnings.begun["spheres"], strict=True):
        first, last = ends(x)
        gaps = [clearance(first, last, AROUND.radii, y[:3], y[3]).min() for y in spheres]
        assert min(gaps) >= AROUND.room - 1e-9


def test_the_reward_is_largest_at_the_target(beginnings: Beginnings) -> None:
    """If the hand is there and at rest, each reward has its bound. It falls with the distance."""
    goal, target = beginnings.goals[0], beginnings.begun["target"][0]
    there = results_at(REACH, goal, target=target)
    assert [there[n] for n in ("distance", "near", "there")] == pytest.approx([1.0] * 3)
    assert there["speed"] == there["jerk"] == there["touch"] == there["over"] == 0.0
    assert there["measured_reached"] == 1.0 and there["measured_distance"] < 1e-9
    before = there
    for away in (0.01, 0.03, 0.1, 0.3):
        now = results_at(REACH, goal, target=target + np.array([0.0, 0.6, 0.8]) * away)
        assert all(now[n] < before[n] for n in ("distance", "near", "there"))
        assert now["measured_distance"] == pytest.approx(away)
        assert now["measured_reached"] == (away < REACHED)
        before = now


def test_spheres_cost_nothing_beyond_their_margin(beginnings: Beginnings) -> None:
    """The cost grows up to contact, which ends the episode."""
    q, target = beginnings.begun["q"][0], beginnings.begun["target"][0]
    first, last = ends(q)
    hand = (first[-3] + last[-3]) / 2
    away = np.array([0.6, 0.0, 0.8])
    found = []
    for gap in (0.06, 0.04, 0.01, -0.01):
        centre = hand + 5.0 * away
        room = clearance(first, last, AROUND.radii, centre, 0.0).min()
        sphere = np.array([*centre, room - gap])
        found.append(results_at(AROUND, q, target=target, spheres=np.stack([sphere, sphere])))
        assert found[-1]["gap"] == pytest.approx(gap, abs=1e-9)
    assert [x["margin"] for x in found] == pytest.approx([0.0, 0.04, 0.64, 1.44])
    assert [x["over"] for x in found] == [x["touch"] for x in found] == [0.0, 0.0, 0.0, 1.0]


def test_actions_move_the_targets_of_drives_within_the_joint_limits(env: Any) -> None:
    """The targets move by eight tenths of the joints' speed limits. The arm follows."""
    env.reset(seed=env.kernels.seed)
    before, ones = env.carried["q"].clone(), torch.ones(100, 7)
    for _ in range(5):
        env.step(torch.cat([ones[:50], -ones[50:]]))
    moved = (env.carried["wanted"] - before).numpy()
    most = 5 * 0.8 * REACH.model.velocity_limit * REACH.step_seconds
    free = np.abs(env.carried["wanted"].numpy() - REACH.middle) < REACH.half - 0.021
    assert np.abs(moved)[free] == pytest.approx(np.broadcast_to(most, (100, 7))[free], rel=1e-4)
    lag = (env.carried["wanted"] - env.carried["q"]).abs().max()
    assert lag < 0.15
    for _ in range(30):
        env.step(torch.cat([ones[:50], -ones[50:]]))
    beyond = np.abs(env.carried["wanted"].numpy() - REACH.middle) - REACH.half
    assert beyond.max() < -0.019


def test_the_arm_stands_still_without_an_action(env: Any) -> None:
    """The drives carry its weight: no joint moves by 1 mrad in a second."""
    env.reset(seed=env.kernels.seed)
    before = env.carried["q"].clone()
    for _ in range(25):
        env.step(torch.zeros(100, 7))
    assert (env.carried["q"] - before).abs().max() < 1e-3


@pytest.mark.parametrize("task", [REACH, AROUND], ids=lambda x: x.name)
def test_a_launch_equals_the_oracle(task: Any) -> None:
    """The numbers agree to the precision of float32.

    One of the environments begins a new episode.
    """
    env = rl.VecEnv(task, 100, seed=2)
    env.reset(seed=9)
    env.carried["age"][1] = env.kernels.length - 1
    before = [x[:2].double().numpy() for x in env.carried.values()]
    action = torch.rand(100, 7, generator=torch.manual_seed(0)) * 2 - 1
    numbers = [x.double().numpy() for x in env.numbers.values()]
    _, reward, _, late, _ = env.step(action)
    wanted = wd.oracle(
        env.kernels.step, task.model, *before, action[:2].double().numpy(), *numbers
    )._asdict()
    assert late[:2].tolist() == [False, True]
    assert reward[:2].numpy() == pytest.approx(wanted["reward"], abs=1e-4)
    assert env.observations["policy"][:2].numpy() == pytest.approx(wanted["policy"], abs=2e-3)
    for name in ("q", "wanted", "target"):
        assert env.carried[name][:2].numpy() == pytest.approx(wanted[name], abs=1e-4)


@pytest.mark.parametrize(("name", "least"), [("panda_reach", 0.9), ("panda_reach_obstacles", 0.85)])
def test_the_shipped_policy_reaches_its_targets(name: str, least: float) -> None:
    """100 targets of three seconds each. The results of 1,000 are in benchmarks/rl/results."""
    task = REACH if name == "panda_reach" else AROUND
    found = measure(task, rl.Policy(POLICIES / f"{name}.onnx"), targets=100, seed=7)
    assert found["reached"] >= least and found["millimetres"]["50 %"] < 10.0
    assert found["reached"] + found["missed"] + found["touched"] == pytest.approx(1.0)


def test_spheres_are_drawn_on_all_sides_of_the_path(beginnings: Beginnings) -> None:
    """Their centres are up to 0.1 m from the line from hand to target along each axis."""
    hands = np.stack(
        [
            wd.oracle(wd.fk, AROUND.model, q[None], frame=HAND)[0][:3, 3]
            for q in beginnings.begun["q"]
        ]
    )
    targets, spheres = beginnings.begun["target"], beginnings.begun["spheres"]
    along = targets - hands
    away = []
    for k in range(spheres.shape[1]):
        centre = spheres[:, k, :3] - hands
        share = np.clip(np.sum(centre * along, 1) / np.sum(along**2, 1), 0.3, 0.7)
        away.append((centre - share[:, None] * along)[spheres[:, k, 2] > -0.9])
    away = np.concatenate(away)
    assert (away.min(0) < -0.04).all() and (away.max(0) > 0.04).all()
    assert np.abs(away).max() <= np.sqrt(3) * 0.1
