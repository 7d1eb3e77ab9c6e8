"""A launch of environments compared with the same functions on plain numbers, and with its parts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.user_kernels import random_numbers

TASK = Hold()
TEXT = EnvironmentStep(TASK, seed=3)
NUMBERS = [x.astype(float) for x in TEXT.numbers.values()]


def begun(envs: int = 6) -> dict[str, np.ndarray]:
    """Environments at their beginning, by name."""
    first = TEXT.start(TASK.model, np.zeros(envs), *NUMBERS)._asdict()
    ticks = {"ticks": np.zeros(envs)}
    return {name: (ticks | first)[name] for name in TEXT.carried}


def step_environments(state: dict[str, np.ndarray], action: np.ndarray) -> dict[str, np.ndarray]:
    return TEXT.step(TASK.model, *state.values(), action, *NUMBERS)._asdict()  # type: ignore[no-any-return]


def actions(k: int, envs: int = 6) -> np.ndarray:
    return np.random.default_rng([k, 7]).uniform(-1.5, 1.5, (envs, 2))


@pytest.fixture(scope="module")
def history() -> list[tuple[dict[str, np.ndarray], np.ndarray, dict[str, np.ndarray]]]:
    """States, actions and next states, for longer than an episode."""
    state, seen = begun(), []
    for k in range(14):
        after = step_environments(state, 0.3 * actions(k))
        seen.append((state, 0.3 * actions(k), after))
        state = {name: after[name] for name in TEXT.carried}
    return seen


def test_arrays_that_the_tasks_functions_name_are_carried() -> None:
    """Every environment also carries state, warm starts, age, draws, and sums of rewards."""
    assert {"place", "passed", "kp", "q", "v", "age", "sums"} <= set(TEXT.carried)
    assert TEXT.carried["place"] == (2,) and TEXT.carried["kp"] == ()
    assert TEXT.observations == {"policy": (6,), "hidden": (7,)}
    assert TEXT.rewards == ("still", "near")


def test_a_launch_equals_the_oracle(history: Any) -> None:
    """Each environment, resets and draws included."""
    for state, action, after in history[::5]:
        wanted = wd.oracle(TEXT.step, TASK.model, *state.values(), action, *NUMBERS)._asdict()
        for name, x in after.items():
            assert np.allclose(x, np.reshape(wanted[name], x.shape), atol=1e-10), name


def test_the_robot_moves_as_by_wd_step(history: Any) -> None:
    """The drives are those that were drawn. Their targets are those that `control` returns."""
    state, action, after = history[0]
    end = wd.step(
        *(TASK.model, state["q"], state["v"], 0 * state["v"]),
        dt=TASK.dt,
        substeps=TASK.substeps,
        control=wd.PD(np.repeat(state["kp"][:, None], 2, 1), 2.0),
        targets=state["place"] + action,
    )
    alive = ~(after["terminated"] | after["truncated"])
    assert alive.any()
    assert np.allclose(after["q"][alive], end.q[alive], atol=1e-12)


def test_rewards_are_summed_by_name_until_the_episode_ends(history: Any) -> None:
    """Sums and length are returned at the end of the episode. The new sums begin at zero."""
    sums, ends = np.zeros((6, 2)), 0
    for state, _, after in history:
        over = after["terminated"] | after["truncated"]
        assert np.allclose(
            after["reward"],
            np.where(over, after["ended_sums"].sum(1), after["sums"].sum(1)) - state["sums"].sum(1),
        )
        assert np.allclose(after["sums"][over], 0.0) and np.allclose(after["age"][over], 0.0)
        assert np.array_equal(after["ended_age"][over], state["age"][over] + 1)
        assert not after["ended_sums"][~over].any()
        assert np.allclose(after["v"][over], 0.0) and np.allclose(
            after["q"][over], after["place"][over]
        )
        ends += int(over.sum())
        sums += after["ended_sums"]
    assert ends >= 6  # an episode lasts ten steps
    assert not (history[0][2]["truncated"]).any() and history[9][2]["ended_age"].max() == 10


def test_leaving_the_place_terminates_and_the_time_limit_truncates(history: Any) -> None:
    state = begun()
    state["q"] = state["q"] + np.array([1.0, 0.0])
    after = step_environments(state, np.zeros((6, 2)))
    assert after["terminated"].all() and not after["truncated"].any()
    late = begun() | {"age": np.full(6, 9.0)}
    after = step_environments(late, np.zeros((6, 2)))
    assert after["truncated"].all() and not after["terminated"].any()


class Finishing(Hold):
    """A task that is complete after two steps."""

    def is_complete(self, robot: Any, s: Any) -> Any:
        return s.passed > 1.5


def test_a_completed_episode_is_truncated() -> None:
    """A learner then assumes that it could have continued.

    A failure at the same time terminates it.
    """
    env = rl.VecEnv(Finishing(), 3, seed=1)
    env.reset()
    ends = [env.step(np.zeros((3, 2)))[2:4] for _ in range(2)]
    assert not ends[0][0].any() and not ends[0][1].any()
    assert ends[1][1].all() and not ends[1][0].any()
    env.numbers["reach"].zero_()
    env.step(np.zeros((3, 2)))
    _, _, fell, late, _ = env.step(np.zeros((3, 2)))
    assert fell.all() and not late.any()


def test_a_state_that_is_not_finite_ends_the_episode_without_a_reward() -> None:
    state = begun()
    state["v"][2] = np.nan
    after = step_environments(state, np.zeros((6, 2)))
    assert list(np.flatnonzero(after["failed"])) == [2] and after["terminated"][2]
    assert all(np.isfinite(x[2]).all() for n, x in after.items() if not n.startswith("final"))


def test_another_simulator_can_move_the_robot(history: Any) -> None:
    """It gets the commands of the drives.

    The rest of the step continues from the state it returns.
    """
    state, action, after = history[0]
    asked = TEXT.command(TASK.model, *state.values(), action, *NUMBERS)
    assert np.allclose(asked.targets, state["place"] + action)
    end = wd.step(
        *(TASK.model, state["q"], state["v"], 0 * state["v"]),
        dt=TASK.dt,
        substeps=TASK.substeps,
        control=wd.PD(np.repeat(state["kp"][:, None], 2, 1), 2.0),
        targets=asked.targets,
    )
    there = (end.q, end.v, end.forces, end.torques)
    settled = TEXT.settle(TASK.model, *state.values(), action, *there, *NUMBERS)._asdict()
    for name in ("q", "reward", "policy", "terminated"):
        assert np.allclose(settled[name], after[name], atol=1e-12), name


class Wrong(Hold):
    """A task with some functions or attributes replaced."""

    def __init__(self, **texts: Any):
        super().__init__()
        self.__dict__.update(texts)


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        ({"begin": lambda robot, s: {"q": np.zeros(2)}}, "begin must name q and v; it named q"),
        (
            {"begin": lambda robot, s: {"q": np.zeros(3), "v": np.zeros(2)}},
            r"begin: q must be \(2,\) for double_pendulum, got \(3,\)",
        ),
        (
            {"control": lambda robot, s: {"angles": s.q}},
            "control must return targets, tau, or both",
        ),
        (
            {
                "drives": None,
                "vary": {},
                "groups": {},
                "noise": {},
                "observe": lambda robot, s: s.q,
            },
            "control gives targets, but the task has no drives",
        ),
        ({"update": lambda robot, s: {"steps": 1.0}}, "update changes steps, which begin does not"),
        ({"reward": lambda robot, s: {"near": 1.0}}, "must name the same rewards; only one.*still"),
        (
            {"vary": {"color": rl.Vary(0, 1)}},
            "'color' is not a number that can vary; these can: gravity",
        ),
        ({"keep": {"place": 1.0}}, "begin names place, which keep has"),
        (
            {"promote": lambda robot, s: {"level": 1.0}},
            "promote changes level, which keep does not",
        ),
        ({"push": rl.Push(1.0)}, "push: double_pendulum has no free base"),
    ],
)
def test_a_task_that_does_not_fit_is_refused(texts: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        text = EnvironmentStep(Wrong(**texts), 0)
        state = text.start(TASK.model, np.zeros(1), *text.numbers.values())._asdict()
        arrays = [(state | {"ticks": np.zeros(1)})[n] for n in text.carried]
        text.step(TASK.model, *arrays, np.zeros((1, 2)), *text.numbers.values())


def test_two_arrays_with_one_name_are_refused() -> None:
    """One of the simulation, and one of the task's numbers or tables."""

    class Twice(Hold):
        numbers = {**Hold.numbers, "v": np.zeros(1)}  # noqa: RUF012
        tables = {"last_v": np.zeros((2, 2))}  # noqa: RUF012

    said = r"^Twice: last_v, v names more than one array, number or table$"
    with pytest.raises(rl.TaskError, match=said):
        EnvironmentStep(Twice(), 0)


def test_random_numbers_belong_to_a_seed_an_environment_and_a_tick() -> None:
    """The number of the first environment is added, so that processes draw other numbers."""
    fields = {"seed": (5.0, 100.0), "ticks": 3.0}
    robot: Any = SimpleNamespace(env=7.0)
    found = TEXT._key(robot, fields)
    assert found == random_numbers.key(5.0, 107.0, 3.0)


def test_control_receives_a_bounded_action_and_the_time() -> None:
    key = random_numbers.key(3, 1, 0)
    fields = {name: x[0] for name, x in begun(1).items()} | dict(
        zip(TEXT.numbers, NUMBERS, strict=True)
    )
    s = TEXT._acting(fields | {"age": 3.0, "action": np.array([9.0, -0.5])}, key)
    assert s.time == pytest.approx(3.0 * TASK.step_seconds)
    assert [*map(float, s.action)] == [TASK.largest_action, -0.5]


class TimeReader(Hold):
    """Each function reads the time of the episode."""

    scales = {"time": 1.0}  # noqa: RUF012
    groups = {"policy": ("time",)}  # noqa: RUF012
    noise = {}  # noqa: RUF012

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {**super().begin(robot, s), "updated": -1.0}

    def update(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"updated": s.time}

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"time": np.stack([s.time])}

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"time": s.time}

    def is_terminal(self, robot: Any, s: rl.Episode) -> Any:
        return s.time > 2.5 * self.step_seconds


def test_all_functions_of_a_step_read_the_same_time() -> None:
    """The step's end: that of `update`, the reward, the end and the observation. The third step
    ends the episode, and a new one is observed at its beginning."""
    env, dt = rl.VecEnv(TimeReader(), 2), TimeReader().step_seconds
    assert env.reset()[0].tolist() == [[0.0]] * 2
    for k in (1, 2, 3):
        observation, reward, terminated, _, _ = env.step(np.zeros((2, 2), dtype=np.float32))
        assert terminated.tolist() == [k == 3] * 2
        assert np.asarray(reward) == pytest.approx(k * dt * dt)
        assert np.asarray(observation) == pytest.approx(k * dt if k < 3 else 0.0)
        if k < 3:
            assert np.asarray(env.carried["updated"]) == pytest.approx(k * dt)
