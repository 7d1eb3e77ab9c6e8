"""The bundled tasks, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.tasks import (
    cartpole_tasks,
    getup_tasks,
    humanoid_tasks,
    lift_tasks,
    panda_hand,
    panda_tasks,
    push_tasks,
    quadruped_tasks,
    reorient_tasks,
    rough_tasks,
    tracking_tasks,
)
from warpdyn.user_kernels.random_numbers import uniform

TASK_MODULES = (
    *(cartpole_tasks, humanoid_tasks, lift_tasks, panda_hand),
    *(panda_tasks, push_tasks, quadruped_tasks, rough_tasks),
    *(getup_tasks, reorient_tasks, tracking_tasks),
)

KNOWN = {
    *("command", "clock", "target", "last_action", "ground"),
    *("reference", "reference_speeds", "reference_base"),
}
"""Terms of observations that no sensor measures in each step: what the controller chose itself, and a
map of the ground."""


@pytest.mark.parametrize("name", rl.TASKS)
def test_a_task_is_made_by_its_name(name: str) -> None:
    task = rl.make(name)
    assert isinstance(task, rl.Task) and task.scales and task.step_seconds < 0.1


def test_a_misspelled_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(rl.TaskError, match="did you mean 'quadruped_velocity'"):
        rl.make("quadruped_velocty")


def test_an_unknown_name_is_refused_with_all_names() -> None:
    with pytest.raises(
        rl.TaskError, match="there is no task 'juggle'; there are cartpole_swing_up"
    ):
        rl.make("juggle")


@pytest.mark.parametrize("name", rl.TASKS)
def test_all_measured_terms_of_a_policy_are_late(name: str) -> None:
    """A term that is not among the sensed ones is known to the controller without sensors. Otherwise a
    policy could learn from it what the late terms hide."""
    task = rl.make(name)
    observation = EnvironmentStep(task, 0).observation
    terms = set(observation.entries[observation.policy])
    assert set(task.sensed) <= terms
    assert not task.sensed or terms - set(task.sensed) <= KNOWN


@pytest.mark.parametrize("name", rl.TASKS)
def test_each_range_of_random_numbers_has_two_ends(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lower end comes first in each entry. A range of one number would draw nothing."""
    ranges: list[tuple[np.ndarray, np.ndarray]] = []

    def record_range(key: Any, n: Any = (), low: Any = 0.0, high: Any = 1.0) -> Any:
        low, high = np.broadcast_arrays(np.asarray(low, object), np.asarray(high, object))
        ranges.append((low, high))
        return uniform(key, n, low, high)

    for module in TASK_MODULES:
        monkeypatch.setattr(module, "uniform", record_range)
    rl.VecEnv(rl.make(name), 1)
    assert ranges
    for low, high in ranges:
        for a, b in zip(low.ravel(), high.ravel(), strict=True):
            assert not (isinstance(a, float) and isinstance(b, float)) or a < b
