"""Measurements: timed results are checked, and refusals are reported."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace

import pytest

import warpdyn as wd
from warpdyn.cli import timing
from warpdyn.cli.accuracy import LIMITS
from warpdyn.cli.timing import Case, Measurement, interleaved_seconds, measure, measure_cases
from warpdyn.peers.peer import NotComparable

CASE = Case("rnea", 8, "float32", "columns", "cpu")


def test_rates_follow_from_seconds():
    """ns_per_robot * robots_per_second = 1e9."""
    m = Measurement(CASE, seconds=2e-6)
    assert m.ns_per_robot == pytest.approx(250.0)
    assert m.ns_per_robot * m.robots_per_second == pytest.approx(1e9)


def test_a_case_is_timed_and_checked():
    """Every number of the measurement is finite, and its error is within float32's limit."""
    m = measure(wd.load_robot("cartpole"), CASE)
    assert m.seconds > 0 and m.first_call > 0 and not m.refusal and m.peers == ()
    assert m.worst_error <= LIMITS["float32"]


def test_cases_are_measured_in_order():
    """Each case has one measurement."""
    cases = [CASE, Case("fk", 4, "float64", "rows", "cpu")]
    assert [m.case for m in measure_cases(wd.load_robot("cartpole"), cases)] == cases


def test_an_undefined_case_has_a_reason():
    """A robot with a singular mass matrix has no forward dynamics. It has a reason instead of a
    time."""
    text = (
        "<robot name='w'><link name='a'/><link name='b'/><joint name='j' type='continuous'>"
        "<parent link='a'/><child link='b'/><axis xyz='0 0 1'/></joint></robot>"
    )
    m = measure(wd.load(text), Case("aba", 4, "float32", "columns", "cpu"))
    assert m.refusal and math.isnan(m.seconds)


def test_a_refusing_peer_does_not_affect_other_times():
    """Times belong to the peers that were timed, in order."""

    class Answering:
        """rnea of warpdyn, in float64."""

        def __init__(self, name):
            self.name, self.model = name, wd.load_robot("cartpole")

        def rnea(self, q, v, a):
            return wd.oracle(wd.rnea, self.model, q[None], v[None], a[None])[0]

        def call(self, algorithm, q, *others, frame=""):
            if self.name == "silent":
                raise NotComparable("asked in vain")
            return lambda: None

    peers = [Answering("first"), Answering("silent"), Answering("last")]
    m = measure(wd.load_robot("cartpole"), CASE, peers=peers)
    assert [p.peer for p in m.peers] == ["first", "silent", "last"]
    assert m.peers[1].refusal == "asked in vain"
    assert all(p.ns_per_robot > 0 for p in (m.peers[0], m.peers[2]))
    assert math.isnan(m.peers[1].ns_per_robot)


def test_runs_alternate():
    """A loop of the other run comes between two loops of one run."""
    order: list[str] = []
    runs = [lambda: order.append("a"), lambda: order.append("b")]
    seconds = interleaved_seconds(runs, "cpu", enough=1e-5, repeats=3)
    assert len(seconds) == 2 and all(s > 0 for s in seconds)
    changes = sum(x != y for x, y in pairwise(order))
    assert changes >= 2 * 3 - 1


def test_the_number_of_calls_is_found_in_few_calls(monkeypatch):
    """Calls of a microsecond or a second fill their time on a simulated clock, or at least half of
    it.
    """
    now = [0.0]
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    for cost, wanted in ((1e-6, 0.012), (3e-3, 0.02), (1.0, 0.02)):
        calls = []

        def run(cost=cost, calls=calls):
            calls.append(cost)
            now[0] += cost

        loops = timing._loops(run, wanted, wait=False)
        assert loops == 1 or wanted / 2 <= 1.001 * loops * cost <= 1.001 * (wanted + cost)
        assert len(calls) <= 3 * loops
