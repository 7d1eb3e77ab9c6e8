"""Timing of peers. Only those with the same results as warpdyn are timed."""

from __future__ import annotations

import pytest
from module_numbers import module_numbers

import warpdyn as wd
from warpdyn.cli.command_line import robot_file
from warpdyn.cli.peer_times import LOOP, peers_by_algorithm, prepare
from warpdyn.cli.workload import Workload, furthest_link, random_states
from warpdyn.peers.peer import NotComparable

MODEL = wd.load_robot("cartpole")
TIP = furthest_link(MODEL)


class Oracle:
    """A peer whose results are those of the float64 oracle. `off` is added to its forces."""

    name = "oracle"

    def __init__(self, off: float = 0.0):
        self.off, self.calls = off, 0

    def crba(self, q):
        return wd.oracle(wd.crba, MODEL, q[None])[0]

    def rnea(self, q, v, a):
        return wd.oracle(wd.rnea, MODEL, q[None], v[None], a[None])[0] + self.off

    def aba(self, q, v, tau):
        return wd.oracle(wd.aba, MODEL, q[None], v[None], tau[None])[0]

    def call(self, algorithm, q, *others, frame=""):
        def run():
            self.calls += 1

        return run


def work(algorithm: str, count: int = 40) -> Workload:
    result = Workload.of(MODEL, algorithm, random_states(MODEL, count), frame=TIP)
    result.call()
    return result


def test_a_peer_is_timed_on_different_states():
    """There is one call for each state, for at most LOOP states."""
    for count in (40, LOOP + 5):
        peer = Oracle()
        time, run, number = prepare(peer, work("rnea", count), "float32", TIP)
        assert time.difference <= 1e-5 and not time.refusal and number == min(count, LOOP)
        run()
        assert peer.calls == number


def test_a_peer_with_another_result_is_not_timed():
    """Its refusal has the size of the difference."""
    time, run, number = prepare(Oracle(off=1.0), work("rnea"), "float32", TIP)
    assert run is None and number == 0 and time.refusal.startswith("another result: ")


def test_accelerations_of_the_peer_are_checked_too():
    """A peer whose accelerations do not fit its M and h has another result, too."""
    peer = Oracle()
    assert not prepare(peer, work("aba"), "float32", TIP)[0].refusal
    peer.aba = lambda q, v, tau: 0.0 * tau
    assert "another result" in prepare(peer, work("aba"), "float32", TIP)[0].refusal


def test_the_refusal_of_a_peer_is_reported():
    """It has the peer's words."""
    peer = Oracle()

    def refuse(*state):
        raise NotComparable("mimic joints")

    peer.aba = refuse
    time, run, _ = prepare(peer, work("aba"), "float32", TIP)
    assert run is None and time.refusal == "mimic joints"


def test_poses_are_timed_on_a_robot_with_all_its_links():
    """MuJoCo merges fixed links for everything but poses, so each algorithm has its own form of the
    peers."""
    pytest.importorskip("mujoco")
    model = wd.load_robot("panda")
    peers, absent = peers_by_algorithm(model, robot_file("panda"), ["mujoco"], ["fk", "rnea"])
    assert not absent
    assert peers["fk"][0].robot.nbody > peers["rnea"][0].robot.nbody


def test_numbers_change_only_on_purpose():
    assert module_numbers("warpdyn/cli")["peer_times"] == {
        "LOOP": 256,
    }
