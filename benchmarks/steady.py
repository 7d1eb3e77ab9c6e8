"""Throughput of one robot and algorithm: every case and the peer take turns, so that all see the same noise."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

import warpdyn as wd
from warpdyn.commands.workload import Workload, furthest_link, random_states

from . import pinocchio_loop, robots
from .cases import Case

ROUNDS = 11
TURN = 0.02
"""Seconds that each takes in a round."""

CORES = sorted(os.sched_getaffinity(0))


@dataclass
class Turn:
    """Something timed in turn with others."""

    run: Callable[[], Any]
    robots: int
    """Computed by one run."""
    cores: Sequence[int]
    samples: list[float]

    def take(self) -> None:
        os.sched_setaffinity(0, self.cores)  # the calling thread's alone: the pool's threads keep all cores
        self.run()
        loops, start = 0, time.perf_counter()
        while time.perf_counter() - start < TURN:
            self.run()
            loops += 1
        self.samples.append((time.perf_counter() - start) / loops)
        os.sched_setaffinity(0, CORES)

    @property
    def ns(self) -> float:
        return 1e9 * median(self.samples) / self.robots


def measure(cases: Sequence[Case]) -> Iterator[dict[str, Any]]:
    """A record for each case; all are of one robot and algorithm."""
    robot, algorithm = cases[0].robot, cases[0].algorithm
    model = robots.model(robot)
    states = random_states(model, max(case.batch for case in cases))
    one = CORES[-1:]
    loop = pinocchio_loop.loop(robot, algorithm, states)
    peer = Turn(loop, min(pinocchio_loop.STATES, len(states["q"])), one, [])
    bound, called, works = [], [], []
    for case in cases:
        wd.set_num_threads(case.threads)
        own = {name: values[: case.batch] for name, values in states.items()}
        work = Workload.of(
            model,
            algorithm,
            own,
            frame=furthest_link(model),
            dtype=case.dtype,
            layout=case.layout,
            device=case.device,
        )
        cores = one if case.threads == 1 else CORES
        works.append(work)
        bound.append(Turn(work.bind(), case.batch, cores, []))
        called.append(Turn(_with_threads(case.threads, work), case.batch, cores, []))
    for _ in range(ROUNDS):
        for turn in (peer, *bound, *called):
            turn.take()
    wd.set_num_threads(None)
    for case, work, tight, plain in zip(cases, works, bound, called, strict=True):
        yield {
            **asdict(case),
            "ns": tight.ns,
            "ns_of_plain_call": plain.ns,
            "worst_relative_error": work.worst_error(8),
            "peer": pinocchio_loop.NAME,
            "peer_ns": peer.ns,
            "ratio": peer.ns / tight.ns,
        }


def _with_threads(threads: int, work: Workload) -> Callable[[], Any]:
    def run() -> Any:
        wd.set_num_threads(threads)
        return work.call()

    return run
