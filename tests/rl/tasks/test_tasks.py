"""The tasks that come with warpdyn, by name."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")


@pytest.mark.parametrize("name", rl.TASKS)
def test_a_task_is_made_by_its_name(name: str) -> None:
    task = rl.make(name)
    assert isinstance(task, rl.Task) and task.scales and task.step_seconds < 0.1


def test_another_name_is_refused() -> None:
    with pytest.raises(
        rl.TaskError, match="there is no task 'cartpole'; there are cartpole_swing_up"
    ):
        rl.make("cartpole")
