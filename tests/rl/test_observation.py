"""Observations: groups of terms, noise of the policy's group, and history."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.environment_step import EnvironmentStep


class Remembers(Hold):
    """A task whose policy observes the last three observations with noise, and whose critic
    observes one without.
    """

    history = {"policy": 3}  # noqa: RUF012
    noise = {"off": rl.Noise(0.1), "speed": rl.Noise(np.array([0.0, 0.2]), "normal")}  # noqa: RUF012
    vary = {}  # noqa: RUF012
    groups = {"policy": ("off", "speed"), "hidden": ("off", "speed")}  # noqa: RUF012

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"off": s.q - s.place, "speed": s.v}


TASK = Remembers()


@pytest.fixture(scope="module")
def history() -> list[dict[str, np.ndarray]]:
    """Observations of 64 environments for longer than an episode of ten steps."""
    text, envs = EnvironmentStep(TASK, 1), 64
    given, rows = list(text.shared_arrays.values()), np.random.default_rng(2)
    state = text.start(TASK.model, np.zeros(envs), *given)._asdict()
    seen = [state]
    state["ticks"] = np.zeros(envs)
    for _ in range(13):
        action = rows.uniform(-0.2, 0.2, (envs, 2))
        arrays = [state[n] for n in text.carried]
        state = text.step(TASK.model, *arrays, action, *given)._asdict()
        seen.append(state)
    return seen


def test_only_the_policys_observations_have_noise(history: Any) -> None:
    """It has its law and size, and is drawn anew for each step and environment."""
    off, speed = [], []
    for state in history:
        error = state["policy"][:, -4:] - state["hidden"]
        off.append(error[:, :2])
        speed.append(error[:, 2:])
    off, speed = np.array(off), np.array(speed)
    assert np.abs(off).max() <= 0.1 and np.isclose(off.std(), 0.1 / np.sqrt(3), rtol=0.1)
    assert not speed[..., 0].any() and np.isclose(speed[..., 1].std(), 0.2, rtol=0.1)
    assert abs(np.corrcoef(off[:-1].ravel(), off[1:].ravel())[0, 1]) < 0.1
    assert abs(np.corrcoef(off[:, :-1].ravel(), off[:, 1:].ravel())[0, 1]) < 0.1


def test_history_has_earlier_observations_with_the_oldest_first(history: Any) -> None:
    """Earlier observations keep their noise.

    All entries are the first observation when an episode begins.
    """
    assert np.array_equal(history[0]["policy"][:, :4], history[0]["policy"][:, 8:])
    for before, after in pairwise(history):
        over = after["terminated"] | after["truncated"]
        assert np.array_equal(after["policy"][~over][:, :8], before["policy"][~over][:, 4:])
        first = after["policy"][over]
        assert np.array_equal(first[:, :4], first[:, 8:])
        assert np.array_equal(first[:, :4], first[:, 4:8])
        assert np.array_equal(after["final_policy"][:, :8], before["policy"][:, 4:])
    assert (history[10]["truncated"]).any()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"groups": {"policy": ("height",)}}, "groups: policy has height, which observe does not"),
        ({"noise": {"height": rl.Noise(1.0)}}, "noise names height, which observe does not return"),
        (
            {"groups": {"policy": ("off",), "hidden": ("off", "speed")}},
            "noise names speed, which the policy does not observe; its group policy has off",
        ),
        ({"history": {"actor": 2}}, "history names actor; the groups are policy, hidden"),
    ],
)
def test_groups_and_noise_of_unknown_terms_are_refused(change: dict[str, Any], error: str) -> None:
    task = Remembers()
    task.__dict__.update(change)
    with pytest.raises(rl.TaskError, match=error):
        EnvironmentStep(task, 0)


def test_one_array_is_the_policys_group() -> None:
    class Plain(Hold):
        groups, noise = {}, {}

        def observe(self, robot: Any, s: rl.Episode) -> Any:
            return np.concatenate([s.q, s.v])

    assert EnvironmentStep(Plain(), 0).observations == {"policy": (4,)}
    assert wd.load_robot("double_pendulum").nq == 2


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        (None, r"observe returned nothing; end it with"),
        ("near", r"observe must return .* it returned 'near'"),
        ({"q": np.zeros(2), "v": None}, r"observe: the term v must be an array .* got None"),
        ({"q": "near"}, r"observe: the term q must be an array .* got 'near'"),
        ([1.0, None], r"observe must return .* it returned \[1.0, None\]"),
    ],
)
def test_observations_that_are_no_numbers_are_refused(returned: Any, error: str) -> None:
    """None would be NaN in NumPy, so that a missing `return` trained on NaN."""
    task = type("Odd", (Hold,), {"observe": lambda self, robot, s: returned, "groups": {}})
    with pytest.raises(rl.TaskError, match=error):
        rl.VecEnv(task(), 2)


def test_a_list_of_arrays_is_refused_as_observation() -> None:
    task = type("Listed", (Hold,), {"observe": lambda self, robot, s: [s.q, s.v]})
    with pytest.raises(rl.TaskError, match=r"observe must return one array.* returned a list"):
        rl.VecEnv(task(), 2)
