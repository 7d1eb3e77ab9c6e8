"""Compile JAX programs ahead: each in a new process, with a time limit, into a disk cache.

The measuring process reads the compiled program from the cache. The cold compile time, or the fact
that it exceeded the limit, is in seconds.jsonl next to the programs; the last record of a program
counts. Seconds are CPU seconds of one core.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from warpdyn.execution.compile.cache_folder import cache_directory

from ..interleave import CORES
from ..robots import Robot
from ..robots import robot as robot_named
from ..workload import states_of
from . import CannotDo, InstalledPeer, PreparedRun, find

FOLDER = Path(
    os.environ.get("JAX_COMPILATION_CACHE_DIR") or cache_directory() / "benchmarks" / "jax"
)
LIMIT = 120.0
"""Seconds to trace, to compile and to run once; the default of --compile-limit."""

CHILD = "import sys; from benchmarks.peers.jax_aot import child; child(*sys.argv[1:])"


def is_needed(peer: InstalledPeer) -> bool:
    """True if the peer's programs are compiled ahead."""
    return "jax" in peer.module.PACKAGES


def seconds(
    peer: InstalledPeer,
    robot: Robot,
    algorithm: str,
    prepared: PreparedRun,
    device: str,
    limit: float,
) -> float:
    """Seconds of the cold first call, from a record or a new process. Raises CannotDo beyond the limit."""
    about = {
        "peer": peer.key,
        "robot": robot.name,
        "algorithm": algorithm,
        "device": device,
        "count": prepared.count,
    }
    about |= {"form": prepared.form, "urdf": hashlib.sha256(robot.urdf.encode()).hexdigest()[:16]}
    about |= {"versions": {**peer.versions, "flags": os.environ.get("XLA_FLAGS", "").strip()}}
    known = _known_seconds(about)
    if known and (known["seconds"] is not None or known["limit"] >= limit):
        return _within(known["seconds"], known["limit"] if known["seconds"] is None else limit)
    found = _compile(peer.key, robot.name, algorithm, prepared.count, device, limit)
    with (FOLDER / "seconds.jsonl").open("a") as file:
        file.write(json.dumps({**about, "limit": limit, "seconds": found}) + "\n")
    return _within(found, limit)


def _within(found: float | None, limit: float) -> float:
    if found is None:
        raise CannotDo(f"JAX had not traced and compiled it after {limit:g} s of one core")
    return found


def _known_seconds(about: Mapping[str, Any]) -> dict[str, Any] | None:
    file = FOLDER / "seconds.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    return next((line for line in reversed(lines) if about.items() <= line.items()), None)


def _compile(
    key: str, robot: str, algorithm: str, count: int, device: str, limit: float
) -> float | None:
    """Seconds of a new process with an empty cache; None if it exceeds the limit. The programs are kept."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as own:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, key, robot, algorithm, str(count), device, str(limit)],
            env={**os.environ, "JAX_COMPILATION_CACHE_DIR": own},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == -signal.SIGPROF:
            return None
        if done.returncode < 0:
            raise CannotDo(f"compiling it was ended by {signal.Signals(-done.returncode).name}")
        if done.returncode:
            raise CannotDo(f"compiling it failed: {done.stderr.strip().splitlines()[-1][:200]}")
        for program in Path(own).iterdir():
            program.replace(FOLDER / program.name)
    return json.loads(done.stdout.splitlines()[-1])


def child(key: str, robot: str, algorithm: str, count: str, device: str, limit: str) -> None:
    """Print the seconds of the first call on one core. A signal ends the process at the limit."""
    os.sched_setaffinity(0, CORES[-1:])
    found, _ = find([key])
    states = states_of(robot_named(robot), int(count))
    signal.setitimer(signal.ITIMER_PROF, float(limit))
    start = time.process_time()
    found[0].module.prepare(robot_named(robot), algorithm, states, device).run()
    print(json.dumps(time.process_time() - start))
