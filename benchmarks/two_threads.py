"""Two threads compared with one, and with two processes at the same moment.

    python -m benchmarks.two_threads [--rounds N] [--json FILE]

Two processors of a virtual machine are not always two cores; a host may run both on one core. Each round
therefore times a launch on one thread, on two threads, and on one thread while a second process does
the same. Twice the first time divided by the third is the value of two processors at that moment.
Medians of rounds, float32, memory of warpdyn, bound calls.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import warpdyn as wd

from .calls import CASES
from .robots import is_installed, robot
from .workload import Work, states_of

MICROSECONDS = (120, 200, 800, 3000)
"""Of work on one thread, about."""

ROUNDS, MOST = 15, 120
"""Rounds in which two processors are worth two, and rounds in all."""

TURN = 0.02
"""Seconds of a turn."""

WORTH = 1.8
"""Rounds in which two processes reach less do not say what threads cost."""

PAUSE = 0.1
"""Seconds after such a round."""


def work(name: str, algorithm: str, batch: int) -> Work:
    few = states_of(robot(name), min(batch, 2048))
    states = {key: np.resize(x, (batch, *x.shape[1:])) for key, x in few.items()}
    return Work(robot(name), algorithm, states)


def seconds(run: Callable[[], Any]) -> float:
    """Wall time of one launch [s]."""
    run()
    count, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < TURN:
        run()
        count += 1
    return (time.perf_counter() - begin) / count


def alone(name: str, algorithm: str, batch: int) -> None:
    """Main function of the second process: one thread, without end."""
    wd.runtime.set_num_threads(1)
    run = work(name, algorithm, batch).bind()
    print("ready", flush=True)
    while True:
        run()


@contextmanager
def second_process(*case: str) -> Iterator[int]:
    """Process ID of the second process. It is stopped, not ended, when it is not needed."""
    code = f"from benchmarks.two_threads import alone; alone(*{case[:2]!r}, {case[2]})"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout
        while "ready" not in child.stdout.readline():
            assert child.poll() is None
        os.kill(child.pid, signal.SIGSTOP)
        yield child.pid
    finally:
        child.kill()
        child.wait()


def measure(name: str, algorithm: str, batch: int, rounds: int) -> dict[str, Any]:
    """Time on one thread [us], and the gains of two threads and two processes.

    Gains are over all rounds, and over the rounds in which two processors were free.
    """
    wd.runtime.set_num_threads(1)
    one = work(name, algorithm, batch).bind()
    wd.runtime.set_num_threads(2)
    two = work(name, algorithm, batch).bind()
    took: list[tuple[float, float, float]] = []
    with second_process(name, algorithm, str(batch)) as child:
        worth = 0
        while worth < rounds and len(took) < MOST:
            a, b = seconds(one), seconds(two)
            os.kill(child, signal.SIGCONT)
            c = seconds(one)
            os.kill(child, signal.SIGSTOP)
            took.append((a, b, c))
            if 2 * a / c >= WORTH:
                worth += 1
            else:
                time.sleep(PAUSE)
    wd.runtime.set_num_threads(None)
    return {
        "robot": name,
        "algorithm": algorithm,
        "batch": batch,
        "us": round(1e6 * statistics.median(one for one, _, _ in took), 2),
        "all rounds": ratios(took),
        "worth it": ratios([x for x in took if 2 * x[0] / x[2] >= WORTH]),
    }


def ratios(took: list[tuple[float, float, float]]) -> dict[str, Any]:
    """Medians over rounds."""
    if not took:
        return {"rounds": 0}
    threads, processes = zip(
        *((one / two, 2 * one / beside) for one, two, beside in took), strict=True
    )
    return {
        "rounds": len(took),
        "two threads": round(statistics.median(threads), 2),
        "two processes": round(statistics.median(processes), 2),
    }


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = []
    for name, algorithm in CASES if is_installed() else CASES[:3]:
        wd.runtime.set_num_threads(1)
        of_one = seconds(work(name, algorithm, 4096).bind()) / 4096
        for us in MICROSECONDS:
            batch = round(us * 1e-6 / of_one / 512) * 512
            found.append(measure(name, algorithm, batch, args.rounds))
            print(json.dumps(found[-1]), flush=True)
    if args.json:
        load = round(os.getloadavg()[0], 1)
        args.json.write_text(json.dumps({"load": load, "measured": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
