"""Environment steps per second of quadrupeds with random actions, in warpdyn and other libraries.

    python -m benchmarks.rl.speed [--cores 1 2] [--rounds 5] [--only ours torch] [--no-store]

Each library runs in its own process on the given number of cores, and the processes take turns.
Libraries that are not installed (`pip install playground` for MuJoCo Playground) are named and left
out. The command also measures the parts of a PPO iteration. Medians go to
benchmarks/rl/results/speed.json and speed.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from warpdyn import rl

from ..__main__ import describe_run
from .iteration import shares
from .others import CONTENDERS

RESULTS = Path(__file__).with_name("results")
TURN = 1.0
"""Seconds that each steps in a round."""

WARM = 4
"""Steps before the first turn, the first of which compiles."""


class Seat:
    """Process of one library. It creates the environments and steps them for a turn on request."""

    def __init__(self, key: str, cores: int, envs: int):
        self.key, self.cores = key, cores
        command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, "--seat", key]
        self.process = subprocess.Popen(
            [*command, "--cores", str(cores), "--envs", str(envs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.turns: list[dict[str, float]] = []
        self.about = self._hear()

    def _hear(self) -> dict[str, Any]:
        """Next line that is an answer. Other output of the library is skipped."""
        assert self.process.stdout is not None
        last = "it said nothing"
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)  # type: ignore[no-any-return]
            last = line.strip() or last
        return {"why": f"ended with {self.process.wait()}: {last}"}

    def turn(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("turn\n")
        self.process.stdin.flush()
        self.turns.append(self._hear())

    def leave(self) -> None:
        self.process.communicate()

    @property
    def figures(self) -> dict[str, Any]:
        """Medians of the turns."""
        told = {"what": CONTENDERS[self.key][0], "key": self.key, "cores": self.cores}
        if self.turns:
            for name in ("steps_per_second", "steps_per_cpu_second"):
                values = [x[name] for x in self.turns if name in x]
                told[name] = float(np.median(values)) if values else None
        return told | self.about


def seat(key: str, cores: int, envs: int) -> None:
    """Main function of a library's process."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = str(cores)
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path.home() / ".cache/jax-benchmarks"))
    _, make, packages, suits = CONTENDERS[key]
    versions = {name: metadata.version(name) for name in packages}
    if "torch" in packages:
        import warpdyn as wd

        wd.runtime.set_num_threads(cores)
    made = make(envs or suits, cores)
    for _ in range(WARM):
        made.advance()
    print(json.dumps({"how": made.about, "envs": made.envs, "versions": versions}), flush=True)
    for _ in sys.stdin:
        steps, cpu, start = 0, _cpu(), time.perf_counter()
        while (taken := time.perf_counter() - start) < TURN:
            made.advance()
            steps += made.envs
        spent = _cpu() - cpu
        rates = {"steps_per_second": steps / taken, "steps_per_cpu_second": steps / spent}
        print(json.dumps(rates), flush=True)
    made.close()


def _cpu() -> float:
    """CPU seconds of this process and of its children."""
    me, ticks = os.getpid(), os.sysconf("SC_CLK_TCK")
    total = time.process_time()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if int(fields[1]) == me:
            total += (int(fields[11]) + int(fields[12])) / ticks
    return total


def markdown(rows: list[dict[str, Any]], iterations: list[dict[str, Any]]) -> str:
    """Lines of the tables."""
    head = ("environments", "how", "number", "cores", "steps/s", "steps/CPU s", "ours is")
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    best = {x["cores"]: x for x in rows if x["key"] == "ours"}
    for x in rows:
        cells = [x["what"], x.get("how", x.get("why", "")), str(x.get("envs", "")), str(x["cores"])]
        if x.get("steps_per_second"):
            mine = best[x["cores"]]["steps_per_second"]
            cells += [f"{x[n]:,.0f}" for n in ("steps_per_second", "steps_per_cpu_second")]
            cells.append(f"{mine / x['steps_per_second']:,.1f} times")
        lines.append("| " + " | ".join(cells) + " |")
    for x in iterations:
        lines += ["", f"A PPO iteration of the quadruped's recipe, {x['cores']} cores: "]
        lines[-1] += f"{x['us_of_cpu_a_step']:.1f} us of CPU an environment step"
        lines.append("")
        lines += ["| part | share of the CPU time |", "|---|---|"]
        lines += [f"| {part} | {share:.1%} |" for part, share in x["shares"].items()]
    return "\n".join(lines)


def main() -> None:
    """Run the processes in turns, print and store the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--envs", type=int, default=0, help="of each; 0: as many as suit it")
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, default=[*CONTENDERS])
    parser.add_argument("--no-store", action="store_true")
    parser.add_argument("--seat", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.seat:
        seat(arguments.seat, arguments.cores[0], arguments.envs)
        return
    seats = []
    for key in arguments.only:
        alone = (
            [max(arguments.cores)] if key == "playground" else arguments.cores
        )  # compiles longest
        for cores in alone:
            try:
                for name in CONTENDERS[key][2]:
                    metadata.version(name)
            except metadata.PackageNotFoundError as missing:
                print(f"{CONTENDERS[key][0]} is left out: {missing.name} is not installed")
                break
            start = time.perf_counter()
            seats.append(Seat(key, cores, arguments.envs))
            print(key, cores, seats[-1].about, f"{time.perf_counter() - start:.0f} s", flush=True)
    loads = []
    for _ in range(arguments.rounds):
        loads.append(os.getloadavg()[0])
        for one in seats:
            if "why" not in one.about:
                one.turn()
    rows = [one.figures for one in seats]
    for one in seats:
        one.leave()
    iterations = [shares(rl.QuadrupedVelocity(), cores) for cores in arguments.cores]
    text = markdown(rows, iterations)
    print(text)
    if not arguments.no_store:
        RESULTS.mkdir(exist_ok=True)
        about = describe_run("cpu", ()) | {"load": round(float(np.median(loads)), 2)}
        told = {"about": about, "rounds": arguments.rounds, "rows": rows, "iterations": iterations}
        (RESULTS / "speed.json").write_text(json.dumps(told, indent=1) + "\n")
        (RESULTS / "speed.md").write_text(text + "\n")


if __name__ == "__main__":
    main()
