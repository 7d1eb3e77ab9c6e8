"""Hashes of what a task computes: equal where the program is, different where it is not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.task_program import STEP, changed_programs, program_hashes


def hashes(task: Any) -> dict[str, str]:
    return program_hashes(EnvironmentStep(task, seed=0))


class Looked(Hold):
    """A table beside the rest, and a text in other words."""

    tables = {"heights": np.arange(6.0).reshape(2, 3)}  # noqa: RUF012

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        away = s.q - s.place
        return {"near": 1.0 - np.sum(away**2), "still": -np.sum(s.v * s.v) + 0.0}


def test_equal_programs_have_equal_hashes() -> None:
    """Made twice, of two objects, and of a text in other words that computes the same."""
    first = hashes(Hold())
    assert first == hashes(Hold())
    assert {STEP, "reward()", "observe()", "is_terminal()", "begin()", "control()"} <= set(first)
    assert hashes(Looked())["reward()"] != ""


def test_what_differs_is_named() -> None:
    """The text, table or robot; the whole step alone only where nothing else differs."""
    first, other = hashes(Looked()), Looked()
    other.tables = {"heights": np.arange(6.0).reshape(2, 3) + 1.0}
    assert changed_programs(first, hashes(other)) == ["tables and terrain"]
    other = Looked()
    other.substeps = 3
    assert changed_programs(first, hashes(other)) == [STEP]
    assert changed_programs(first, {**first, "reward()": "x", STEP: "y"}) == ["reward()"]
    assert changed_programs(first, first) == []


@pytest.mark.parametrize("varied", ["kp", "observation_latency"])
def test_a_longer_observation_is_a_change_of_observe_alone(varied: str) -> None:
    """Not of each function, because the environment stores earlier observations."""

    class Remembers(Hold):
        history = {"policy": 3}  # noqa: RUF012
        vary = {varied: rl.Vary(0.01, 0.02)}  # noqa: RUF012

        def observe(self, robot: Any, s: Any) -> dict[str, Any]:
            return {
                "off": s.q - s.place,
                "speed": s.v,
                "last": s.last_action,
                "place": s.q,
                "more": 0.0,
            }

    class Longer(Remembers):
        def observe(self, robot: Any, s: Any) -> dict[str, Any]:
            return {**super().observe(robot, s), "off": np.concatenate([s.q, s.place])}

    assert changed_programs(hashes(Remembers()), hashes(Longer())) == ["observe()"]


class Finishing(Hold):
    """An episode that ends well after three steps."""

    def is_complete(self, robot: Any, s: Any) -> Any:
        return s.passed > 2.5


def test_a_finish_is_part_of_the_program_where_a_task_has_one() -> None:
    """Checkpoints from before there was such a function stay those of their task."""
    assert "is_complete()" not in hashes(Hold())
    assert changed_programs(hashes(Hold()), hashes(Finishing())) == ["is_complete()"]
