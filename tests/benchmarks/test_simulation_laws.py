"""Simulated steps compared with laws in closed form, each to its tolerance, and the script of the
table."""

from __future__ import annotations

import json
import math
import sys

import pytest

from benchmarks import simulation_laws
from benchmarks.simulation_laws import LAWS, Law, flip_time


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_step_obeys_the_law(law: Law) -> None:
    assert law.figure(law.at) == pytest.approx(law.exact, abs=law.tolerance, rel=0)


def test_a_slightly_pushed_racket_flips_at_the_rate_of_its_saddle() -> None:
    """A push ten times smaller flips the exact solution ln 10 / rate later at each of the two half
    turns.
    """
    a, b, c = J = (0.02, 0.05, 0.06)
    rate = 6.0 * math.sqrt((b - a) * (c - b) / (a * c))
    times = [flip_time(J, (push, 6.0, 0.0)) for push in (1e-4, 1e-5)]
    assert times[1] - times[0] == pytest.approx(2 * math.log(10) / rate, rel=1e-4)


def test_the_table_is_written(tmp_path, monkeypatch, capsys) -> None:
    rest, weight = LAWS[:2]
    monkeypatch.setattr(simulation_laws, "LAWS", (rest._replace(figure=lambda dt: 49.0), weight))
    monkeypatch.setattr(simulation_laws, "STEPS", (0.005,))
    monkeypatch.setattr(sys, "argv", ["laws", "--json", str(tmp_path / "laws.json")])
    simulation_laws.main()
    assert f"| {rest.name} | 49.05 | 49 |" in capsys.readouterr().out
    (first, second) = json.loads((tmp_path / "laws.json").read_text())["laws"]
    assert first["found"] == [49.0] and second["found"][0] == pytest.approx(9.81, abs=1e-6)
