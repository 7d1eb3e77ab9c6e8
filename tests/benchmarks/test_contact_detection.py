"""Detection of pushes on a small arm: alarms, false alarms, and the table of both."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from benchmarks import contact_detection
from benchmarks.contact_detection import (
    DT,
    PUSHED_FOR,
    PUSHED_FROM,
    Pushes,
    alarms,
    simulate,
    table,
)

TWO_RODS = (Path(wd.__file__).parent / "robots" / "double_pendulum.urdf").read_text()
ONSET = int(PUSHED_FROM / DT)


@pytest.fixture
def rods(monkeypatch):
    """Two joints instead of the panda, whose kernels compile quickly, and a model without
    errors."""
    limited = '"revolute"><limit lower="-2" upper="2" effort="100" velocity="10"/>'
    model = wd.load_urdf(TWO_RODS.replace('"continuous">', limited))
    monkeypatch.setattr(wd, "load_robot", lambda name: model)
    monkeypatch.setattr(contact_detection, "LINKS", ("upper_rod", "lower_rod"))
    for error in ("MASS_ERROR", "EFFORT_NOISE", "VELOCITY_NOISE"):
        monkeypatch.setattr(contact_detection, error, 0.0)


def test_pushes_are_detected_without_false_alarms(rods):
    """The model has no errors or noise. There is no alarm before the push, and one for each push
    beyond the threshold. A greater gain detects earlier, and a higher threshold detects fewer."""
    felt = simulate(12)
    for external in felt.external.values():
        assert np.abs(external[200:ONSET]).max() < 0.1
    strength = np.abs(felt.external[50.0][ONSET:]).max(axis=(0, 2))
    assert strength.min() > 1.0
    told = [alarms(felt, 50.0, 0.0, threshold) for threshold in (0.5, 3.0, 8.0)]
    assert [x.true for x in told] == [(strength > limit).mean() for limit in (0.5, 3.0, 8.0)]
    assert told[0].true == 1.0 > told[2].true and not any(x.false_per_minute for x in told)
    delays = [alarms(felt, gain, 0.0, 0.5).delay_median_ms for gain in (25.0, 50.0, 150.0)]
    assert delays[0] > delays[1] > delays[2] > 0.0


def synthetic() -> Pushes:
    """Four arms with one joint. They measure 2 N·m from 5, 10 and 20 ms after the push, and long
    before it."""
    external = np.zeros((ONSET + int(PUSHED_FOR / DT), 4, 1), np.float32)
    for arm, begun in enumerate((ONSET + 5, ONSET + 10, ONSET + 20, ONSET - 500)):
        external[begun:, arm] = 2.0
    speed = np.zeros_like(external)
    speed[:, 2] = 1.0
    force, link = np.array([10.0, 20.0, 40.0, 40.0]), np.array([0, 0, 1, 1])
    return Pushes({50.0: external}, speed, force, link, 0.1)


def test_an_early_alarm_is_a_false_alarm_and_counts_as_no_push():
    """The test covers rates, shares by force and link, and delays of the other arms. Speed raises
    the threshold."""
    found = alarms(synthetic(), 50.0, 0.0, 1.5)
    assert (
        found.true == 1.0 and found.by_force == (1.0, 1.0, 1.0) and found.by_link[:2] == (1.0, 1.0)
    )
    assert found.false_per_minute == pytest.approx(1 / (4 * 0.8 / 60.0))
    assert found.delay_median_ms == pytest.approx(11.0)
    slower = alarms(synthetic(), 50.0, 1.0, 1.5)
    assert slower.true == pytest.approx(2 / 3) and slower.by_force == (1.0, 1.0, 0.0)
    none = alarms(synthetic(), 50.0, 0.0, 9.0)
    assert none.true == 0.0 == none.false_per_minute and np.isnan(none.delay_median_ms)


def test_the_table_is_printed_and_stored(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(contact_detection, "simulate", lambda pushes: synthetic())
    for name, value in (("GAINS", (50.0,)), ("SPEED_FACTORS", (0.0,)), ("THRESHOLDS", (1.5, 9.0))):
        monkeypatch.setattr(contact_detection, name, value)
    file = tmp_path / "alarms.json"
    assert contact_detection.main(["--pushes", "4", "--json", str(file)]) == 0
    kept = json.loads(file.read_text())["alarms"]
    assert [x["threshold"] for x in kept] == [1.5, 9.0] and kept[0]["true"] == 1.0
    told = table([alarms(synthetic(), 50.0, 0.0, 1.5)]).splitlines()[-1]
    assert told in capsys.readouterr().out and "| 100.0 % |" in told
