"""A policy's record is compared with another task or robot. Each difference is refused by name."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

import warpdyn as wd
from warpdyn.rl.deployment import deployment_record as records
from warpdyn.rl.deployment.deployment_record import deployment_record, say_other_programs
from warpdyn.rl.deployment.policy_match import check_match, other_programs


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return deployment_record(Hold())


def refusal_message(recorded: dict[str, Any], present: dict[str, Any]) -> str:
    with pytest.raises(rl.TaskError) as error:
        check_match("a.onnx", recorded, present)
    return str(error.value)


def test_the_same_task_and_a_file_without_a_record_pass(record: dict[str, Any]) -> None:
    check_match("a.onnx", record, deployment_record(Hold()))
    check_match("a.onnx", {}, record)
    check_match("a.onnx", {"programs": "none"}, record)


def test_each_changed_entry_of_the_record_is_named(record: dict[str, Any]) -> None:
    other = copy.deepcopy(record)
    first, second = other["joints"]["names"]
    other["joints"]["kp"][1] = 12.0
    other["period"] = 0.01
    said = refusal_message(other, record)
    assert f"its kp of {second!r} is 12.0, not 30.0" in said and "period 0.01, not 0.02" in said
    other = copy.deepcopy(record)
    other["joints"]["names"] = [second, first]
    assert f"its joint 0 is {second!r}, not {first!r}" in refusal_message(other, record)
    other = copy.deepcopy(record)
    other["joints"]["kinds"][0] = "prismatic"
    assert f"its joint {first!r} is prismatic, not" in refusal_message(other, record)
    other = copy.deepcopy(record)
    other["observation"]["terms"][0]["name"] = "away"
    assert "it observes away (2), speed (2), last (2), not off (2)" in refusal_message(
        other, record
    )


def test_names_in_a_record_do_not_control_the_terminal(
    record: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wd.config, "compile_messages", True)
    other = copy.deepcopy(record)
    other["observation"]["terms"][0]["name"] = "\x1b[2J\nall checks passed"
    shown = r"\x1b[2J\x0aall checks passed"
    assert shown in refusal_message(other, record)
    assert shown in other_programs(other, record)[0]
    say_other_programs("a.onnx", other, Hold())
    said = capsys.readouterr().err
    assert shown in said and said.count("\n") == 1
    other["joints"]["names"] = 5
    assert "\x1b" not in refusal_message(other, record)


def test_a_record_that_reads_too_many_entries_is_refused(record: dict[str, Any]) -> None:
    """A short record could ask for any memory."""
    for entry in ("q_now[100000]", "q_now[1000000000000]"):
        other = copy.deepcopy(record)
        other["programs"]["observe"]["results"]["observation"] = [entry]
        said = refusal_message(other, record)
        assert f"it reads {entry}, and entries up to 100,000 are read" in said
        assert other_programs(other, record) == []
    other = copy.deepcopy(record)
    other["programs"]["observe"]["results"]["observation"] = ["q_now[99999]"]
    assert "computed another" in refusal_message(other, record)


def test_a_long_history_in_a_record_takes_no_memory(record: dict[str, Any]) -> None:
    """A simulation compares programs, but not the length of the history."""
    other = copy.deepcopy(record)
    other["observation"]["history"] = 10**12
    other["programs"]["observe"]["results"]["observation"] = [0.0] * 6
    assert "its observe() or update() computed another" in other_programs(other, record)[0]


def test_large_integers_in_a_record_are_an_error_of_one_line(record: dict[str, Any]) -> None:
    other = copy.deepcopy(record)
    program = other["programs"]["observe"]
    program["steps"] = [["x", "mul", 10**400, 10**400], ["y", "where_less", "x", 1, 2, "x"]]
    program["results"] = {"observation": ["y"]}
    assert "OverflowError" in refusal_message(other, record)


class FromTable(Hold):
    """A task whose targets come from a table."""

    tables = {"places": np.array([[0.1, 0.2], [0.3, 0.4]])}  # noqa: RUF012

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        return {"targets": s.places.look(np.stack([s.passed] * 2), np.arange(2)) + s.action}


def test_changed_numbers_of_a_table_are_named() -> None:
    record, task = deployment_record(FromTable()), FromTable()
    assert record["tables"] == {"places": [[0.1, 0.2], [0.3, 0.4]]}
    check_match("a.onnx", record, deployment_record(task))
    task.tables = {"places": np.array([[0.1, 0.2], [0.3, 0.5]])}
    assert "its table places has other numbers" in refusal_message(record, deployment_record(task))


def test_a_malformed_record_is_refused(record: dict[str, Any]) -> None:
    """Entries of the wrong type, unknown operations and unknown names are refused."""
    for change in (
        lambda x: x.pop("joints"),
        lambda x: x["joints"].update(kp=["a", "b"]),
        lambda x: x["observation"].update(terms=None),
        lambda x: x["programs"].update(act={"steps": [["t0", "open", 1.0]], "results": {}}),
        lambda x: x["programs"].update(observe={"steps": [], "results": {"observation": ["x"]}}),
    ):
        other = copy.deepcopy(record)
        change(other)
        assert "its deployment record cannot be read" in refusal_message(other, record)


def test_a_changed_computation_is_named() -> None:
    """The computation is that of a term or of the targets. Differences by rounding are accepted."""

    class TenthOfSpeed(Hold):
        def observe(self, robot: Any, s: Any) -> dict[str, Any]:
            return {**super().observe(robot, s), "speed": 0.1 * s.v}

    class Further(Hold):
        def control(self, robot: Any, s: Any) -> dict[str, Any]:
            return {"targets": s.place + 2.0 * s.action}

    class RoundedSpeed(Hold):
        def observe(self, robot: Any, s: Any) -> dict[str, Any]:
            return {**super().observe(robot, s), "speed": (1.0 + 1e-7) * s.v}

    record = deployment_record(Hold())
    said = refusal_message(record, deployment_record(TenthOfSpeed()))
    assert "its observe() or update() computed another speed in training" in said
    assert "its control() computed another targets" in refusal_message(
        record, deployment_record(Further())
    )
    check_match("a.onnx", record, deployment_record(RoundedSpeed()))


def test_a_deployed_policy_compares_its_record_with_the_task() -> None:
    """The shipped quadruped is refused with other gains and with other scales of the speeds."""
    policy = rl.Policy(rl.bundled_policy("quadruped_velocity"))

    class Faster(rl.QuadrupedVelocity):
        def observe(self, robot: Any, s: Any) -> dict[str, Any]:
            return {**super().observe(robot, s), "speeds": 0.1 * s.v[6:]}

    soft = rl.QuadrupedVelocity()
    soft.drives = wd.PD(np.full(12, 20.0), 0.5)
    with pytest.raises(rl.TaskError, match=r"its kp of 'FL_hip_joint' is 25.0, not 20.0"):
        rl.DeployedPolicy(soft, policy)
    with pytest.raises(rl.TaskError, match="computed another speeds in training"):
        rl.DeployedPolicy(Faster(), policy)


class TenfoldSpeed(Hold):
    """A task whose policy observes ten times the speeds."""

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        return {**super().observe(robot, s), "speed": 10.0 * s.v}


class OtherOrder(Hold):
    """A task whose policy observes the same terms in another order."""

    groups = {"policy": ("speed", "off", "last"), "hidden": ("place",)}  # noqa: RUF012


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (Hold(), ""),
        (
            TenfoldSpeed(),
            "TenfoldSpeed: its observe() or update() computed another speed in training",
        ),
        (
            OtherOrder(),
            "OtherOrder: it observes off (2), speed (2), last (2), not speed (2), off (2)",
        ),
    ],
)
def test_a_changed_observation_prints_a_remark(
    record: dict[str, Any], task: rl.Task, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file without a record prints none."""
    remarks = list[str]()
    monkeypatch.setattr(records, "say", remarks.append)
    say_other_programs("a.onnx", record, task)
    assert len(remarks) == bool(said) and said in "".join(remarks)
    say_other_programs("a.onnx", {}, task)
    assert len(remarks) == bool(said)


def test_another_number_of_joints_is_named(record: dict[str, Any]) -> None:
    """Alone, without the names; and so are other columns of q."""
    other = copy.deepcopy(record)
    other["joints"]["names"] = other["joints"]["names"][:1]
    said = refusal_message(other, record)
    assert "it moves 1 joints instead of 2" in said and "its joint" not in said
    other = copy.deepcopy(record)
    other["q"] = ["x", "y"]
    assert f"its q is ['x', 'y'], not {record['q']}" in refusal_message(other, record)


def test_records_that_cannot_be_compared_have_no_other_programs(record: dict[str, Any]) -> None:
    """A file without programs, or with an observation that is damaged, is no other training."""
    assert other_programs({}, record) == other_programs(record, {"programs": "none"}) == []
    damaged = copy.deepcopy(record)
    del damaged["observation"]["terms"]
    assert other_programs(damaged, record) == []


def test_a_task_that_no_robot_can_run_is_not_compared(
    record: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no record, and a file with one prints no remark."""

    def refuse(task: rl.Task) -> None:
        raise rl.TaskError("its policy observes contact forces")

    remarks = list[str]()
    monkeypatch.setattr(records, "say", remarks.append)
    monkeypatch.setattr(records, "deployment_record", refuse)
    say_other_programs("a.onnx", record, TenfoldSpeed())
    assert not remarks
