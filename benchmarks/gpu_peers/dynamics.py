"""Dynamics of a library on a GPU. Its results are first compared with warpdyn's float64 results on the CPU."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import warp as wp

import warpdyn as wd

from ..cuda_graph import Graph
from ..peers import NEAR, CannotDo
from ..robots import Robot
from ..robots import robot as robot_named
from ..throughput import worst
from ..workload import Work, states_of
from .timing import Work as Timed
from .timing import figures

ALGORITHMS = ("fk", "jacobian", "rnea", "crba", "aba")
ROBOTS = ("panda", "quadruped", "humanoid")
OURS = "warpdyn"

REPEATED = 20
"""Calls of warpdyn in its second graph. A replay takes 4 to 9 us on the host, longer than most kernels."""

SAMPLE = 16
"""Number of states whose results are compared."""


class Case(NamedTuple):
    """An algorithm on states of a robot, and the true results of the first states."""

    robot: Robot
    algorithm: str
    states: Mapping[str, np.ndarray]
    device: str
    truth: Sequence[np.ndarray]

    def compare(self, answers: Sequence[np.ndarray], near: float = 0.0) -> dict[str, Any]:
        """Largest difference from the truth, with a reason if it is too large and the time does not count."""
        error = float(worst(answers, self.truth))
        line: dict[str, Any] = {"error": error}
        if not error <= (near or NEAR["float32"]):
            line["why"] = f"its results differ by {error:.0e}"
        return line


def records(
    key: str, robots: Sequence[str], batches: Sequence[int], device: str
) -> Iterator[dict[str, Any]]:
    """Yield a record for each algorithm, robot, batch size and form of a call."""
    for envs in batches:
        for name in robots:
            robot = robot_named(name)
            states = states_of(robot, envs)
            for algorithm in ALGORITHMS:
                line = {"robot": name, "algorithm": algorithm, "envs": envs}
                case = Case(robot, algorithm, states, device, truth(robot, algorithm, states))
                try:
                    for each in _ours(case) if key == OURS else _theirs(key, case):
                        yield line | each
                except CannotDo as reason:
                    yield line | {"why": str(reason)}
                except Exception as error:  # any error of a peer is printed in the table
                    yield line | {"why": f"{type(error).__name__}: {str(error)[:200]}"}


def truth(robot: Robot, algorithm: str, states: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """warpdyn's float64 results for the first states, interpreted on the CPU."""
    policy, wd.config.compile = wd.config.compile, "never"
    try:
        work = Work(robot, algorithm, {name: x[:SAMPLE] for name, x in states.items()}, "float64")
        work.call()
        return work.answers(SAMPLE)
    finally:
        wd.config.compile = policy


def _ours(case: Case) -> Iterator[dict[str, Any]]:
    """Yield records of warpdyn."""
    device = case.device
    for layout in ("columns", "rows"):
        begun = time.perf_counter()
        work = Work(case.robot, case.algorithm, case.states, "float32", layout, device)
        bound = work.bind()
        bound()
        wp.synchronize()
        first = round(time.perf_counter() - begun, 2)
        about = {"layout": layout, "first_s": first, **case.compare(work.answers(SAMPLE))}
        forms: dict[str, tuple[Callable[[], Any], int]] = {"bound call": (bound, 1)}
        if device != "cpu":
            forms["bound call; graph"] = (Graph(bound, device), 1)
            forms[f"{REPEATED} bound calls; graph"] = (Graph(bound, device, REPEATED), REPEATED)
        for form, (run, calls) in forms.items():
            yield {**about, "form": form, **figures(Timed(run, device), work.count, calls)}


def _theirs(key: str, case: Case) -> Iterator[dict[str, Any]]:
    """Yield the record of a peer."""
    peer = import_module(f"..peers.{key}", __package__)
    begun = time.perf_counter()
    prepared = peer.prepare(case.robot, case.algorithm, case.states, case.device)
    prepared.run()
    wp.synchronize()
    line = {"form": prepared.form, "first_s": round(time.perf_counter() - begun, 2)}
    line |= case.compare(prepared.answers(), prepared.near)
    work = Timed(prepared.start or prepared.run, case.device, prepared.finish)
    yield {**line, "envs": prepared.count, **figures(work, prepared.count)}
