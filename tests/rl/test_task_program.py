"""Hashes of a task's programs: equal for equal programs, different for others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.deployment.deployment_record import deployment_record
from warpdyn.rl.environment_step import EnvironmentStep
from warpdyn.rl.task_program import STEP, _named_apart, changed_programs, program_hashes


def hashes(task: Any) -> dict[str, str]:
    return program_hashes(EnvironmentStep(task, seed=0))


class WithTable(Hold):
    """A task with a table, and rewards that are written differently."""

    tables = {"heights": np.arange(6.0).reshape(2, 3)}  # noqa: RUF012

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        away = s.q - s.place
        return {"near": 1.0 - np.sum(away**2), "still": -np.sum(s.v * s.v) + 0.0}


def test_equal_programs_have_equal_hashes() -> None:
    """The programs come from two recordings, two objects, or differently written source."""
    first = hashes(Hold())
    assert first == hashes(Hold())
    assert {STEP, "reward()", "observe()", "is_terminal()", "begin()", "control()"} <= set(first)
    assert hashes(WithTable())["reward()"] != ""


def test_changed_programs_names_each_difference() -> None:
    """A function, table or robot. The whole step is named only if nothing else differs."""
    first, other = hashes(WithTable()), WithTable()
    other.tables = {"heights": np.arange(6.0).reshape(2, 3) + 1.0}
    assert changed_programs(first, hashes(other)) == ["tables and terrain"]
    other = WithTable()
    other.substeps = 3
    assert changed_programs(first, hashes(other)) == [STEP]
    assert changed_programs(first, {**first, "reward()": "x", STEP: "y"}) == ["reward()"]
    assert changed_programs(first, first) == []


@pytest.mark.parametrize("varied", ["kp", "observation_latency"])
def test_a_longer_observation_changes_only_the_hash_of_observe(varied: str) -> None:
    """Although the environment stores earlier observations, which other functions read."""

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
    """A task that is complete after three steps."""

    def is_complete(self, robot: Any, s: Any) -> Any:
        return s.passed > 2.5


def test_is_complete_is_hashed_if_a_task_defines_it() -> None:
    """Checkpoints from before this function existed still fit their task."""
    assert "is_complete()" not in hashes(Hold())
    assert changed_programs(hashes(Hold()), hashes(Finishing())) == ["is_complete()"]


class Namesakes(Hold):
    """Terms named like fields of an episode that have other shapes."""

    groups, noise = {}, {}

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"q": s.q[:1], "v": s.v, "action": np.concatenate([s.q, s.v])}


class WithForce(Hold):
    """A force on a link."""

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {**super().control(robot, s), "f_ext": {self.model.links[-1].name: np.ones(6)}}


@pytest.mark.parametrize("kind", [Namesakes, WithForce])
def test_a_training_has_hashes_and_a_record(kind: type) -> None:
    """They are written with each checkpoint and each policy."""
    first = hashes(kind())
    assert first == hashes(kind()) and first[STEP] != hashes(Hold())[STEP]
    record = deployment_record(kind())
    assert record["programs"]["act"]["steps"]


def test_results_are_named_apart_from_fields_of_another_shape() -> None:
    fields = {"q": np.zeros(2), "result_q": np.zeros(3), "v": np.zeros(2)}
    results = {"q": np.ones(1), "v": np.ones(2), "result_result_q": np.ones(4), "near": np.ones(())}
    apart = _named_apart(results, fields)
    assert list(apart) == ["result_result_result_q", "v", "result_result_q", "near"]
    assert all(a is b for a, b in zip(apart.values(), results.values(), strict=True))
