"""What a task's functions return, and what is refused of it, on plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl import task_functions
from warpdyn.rl.task import Episode, TaskError
from warpdyn.rl.variation import Push
from warpdyn.user_kernels import random_numbers


class Level(Hold):
    """A task with a kept number, which an episode's end raises."""

    keep = {"level": 1.0}  # noqa: RUF012

    def promote(self, robot: Any, s: Episode) -> dict[str, Any]:
        return {"level": s.level + 1.0}


def test_rewards_come_in_the_order_of_their_names() -> None:
    s = Episode({"q": np.array([0.1, 0.0]), "v": np.array([1.0, 0.0]), "place": np.zeros(2)})
    found = task_functions.reward(Hold(), None, s, ("near", "still"))
    assert found == pytest.approx([1.0 - 0.01, -1.0])
    with pytest.raises(TaskError, match="only one of them names still"):
        task_functions.reward(Hold(), None, s, ("near",))


def test_kept_numbers_change_where_an_episode_is_over() -> None:
    s = Episode({"level": 3.0})
    for done, level in ((True, 4.0), (False, 3.0)):
        assert task_functions.promote(Level(), None, s, done) == {"level": level}


def test_an_update_changes_the_arrays_that_begin_names() -> None:
    s = Episode({"passed": 2.0, "q": np.zeros(2)})
    after = task_functions.update(Hold(), None, s, ("passed", "q"))
    assert after.passed == 3.0 and after.q is s.q
    with pytest.raises(TaskError, match="changes passed, which begin does not name"):
        task_functions.update(Hold(), None, s, ("q",))


def test_begin_has_as_many_coordinates_as_the_robot() -> None:
    task_functions.check_begin(Hold(), {"q": (2,), "v": (2,)})
    with pytest.raises(TaskError, match=r"v must be \(2,\) for double_pendulum, got \(3,\)"):
        task_functions.check_begin(Hold(), {"q": (2,), "v": (3,)})


def test_only_a_free_base_is_pushed() -> None:
    with pytest.raises(TaskError, match="has no free base"):
        key = random_numbers.key(0, 0, 0)
        task_functions.push_base(Hold(), Push(1.0), Episode({}), key)


class Finishing(Hold):
    """A task that is over after two steps."""

    def is_complete(self, robot: Any, s: Episode) -> Any:
        return s.passed > 1.5


def test_an_episode_is_over_in_time_or_when_it_is_finished() -> None:
    for passed, late, wanted in ((1.0, False, False), (2.0, False, True), (1.0, True, True)):
        s = Episode({"passed": passed})
        assert bool(task_functions.timed_out(Finishing(), None, s, np.bool_(late))) == wanted
    assert task_functions.has_completion(Finishing()) and not task_functions.has_completion(Hold())
