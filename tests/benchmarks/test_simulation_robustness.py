"""Thrown and standing robots, a hundredth of the stored runs, and the result files."""

from __future__ import annotations

import json

import pytest
from robots import example_robot_data

from benchmarks import simulation_robustness as robustness


@pytest.fixture
def fewer(monkeypatch, tmp_path):
    monkeypatch.setattr(robustness, "ENVS", 128)
    monkeypatch.setattr(robustness, "RESULTS", tmp_path)
    return tmp_path


@pytest.mark.parametrize("dt", [0.01])
def test_the_state_of_a_thrown_arm_remains_finite(fewer, dt: float) -> None:
    """It takes a hundred thousand steps, at twice the default length."""
    found = robustness.throw("arm", robustness.robot("arm"), dt, 10**5)
    assert found["env_steps"] >= 10**5
    assert found["not_finite"] == found["left_not_finite"] == 0
    assert 1.0 < found["fastest"] < 1e3 and found["beyond_the_cone"] < 1e-5


def test_records_replace_those_of_the_same_case(fewer) -> None:
    for robot, count in (("arm", 1), ("hand", 2), ("arm", 3)):
        robustness.write_record("thrown", {"robot": robot, "dt": 0.01, "not_finite": count})
    kept = json.loads((fewer / "thrown.json").read_text())
    assert [r["not_finite"] for r in kept["records"]] == [2, 3]
    assert kept["hardware"]["cores"] > 0


def test_quadrupeds_stand_for_a_minute(fewer) -> None:
    """Quadrupeds that have settled creep less than 1 mm, carry their weight on their feet, and have
    less than 0.1 mJ of kinetic energy.
    """
    robustness.stand(4, 2)
    (record,) = json.loads((fewer / "simulation_standing.json").read_text())["records"]
    _, second = record["samples"]
    assert second["crept_mm"][1] < 1.0 and second["height_mm"] < 1.0
    assert second["kinetic_energy_j"] < 1e-4 and second["failures"] == 0
    assert second["weight"] == pytest.approx([1.0, 1.0], abs=1e-3)


def test_a_hand_touches_with_four_fingers() -> None:
    if example_robot_data() is None:
        pytest.skip("the hand is of example-robot-data")
    hand = robustness.robot("hand")
    assert len(hand.points.links) == 4 and hand.model.nv == 6 + 16
