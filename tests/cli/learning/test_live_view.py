"""Robots of a training in the browser: recorded steps are played at the speed of real robots."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from module_numbers import module_numbers

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("warpdyn.viewer")

from warpdyn.cli.learning.live_view import ROBOTS, LiveView

RECIPE = rl.Recipe(envs=8, steps=4, epochs=1, batches=2, layers=(4,))


@pytest.fixture
def trainer_and_view() -> Any:
    trainer = rl.Trainer(rl.CartpoleSwingUp(), recipe=RECIPE)
    view = LiveView(trainer.env, host="127.0.0.1", port=0)
    trainer.watchers.append(view)
    yield trainer, view
    view.close()


def test_the_last_step_of_a_training_is_shown(trainer_and_view: Any) -> None:
    """The first environments are shown, each step for its duration."""
    trainer, view = trainer_and_view
    list(trainer.run(iterations=2))
    last = trainer.env.carried["q"][:ROBOTS].numpy()
    start = time.perf_counter()
    robot = view.shown.page.robots["robot"]
    while not np.allclose(robot.q, last, atol=1e-5):
        assert time.perf_counter() - start < 20.0
        time.sleep(0.02)
    assert robot.q.shape == (ROBOTS, 2)


def test_a_viewer_does_not_change_a_training(trainer_and_view: Any) -> None:
    trainer, _ = trainer_and_view
    seen = [x.reward for x in trainer.run(iterations=2)]
    other = rl.Trainer(rl.CartpoleSwingUp(), recipe=RECIPE)
    assert [x.reward for x in other.run(iterations=2)] == seen


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["learning.live_view"] == {
        "ROBOTS": 4,
        "LONGEST": 10.0,
    }
