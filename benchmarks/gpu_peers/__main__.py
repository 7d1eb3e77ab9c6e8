"""Measure warpdyn and other libraries on one GPU.

    python -m benchmarks.gpu_peers [--parts dynamics steps scenes] [--peers mujoco_warp mjx] [--batches 4096 65536]

Each library runs in its own processes, one after another. All kernels and programs are compiled first,
in as many processes as there are cores. `--limit` bounds the seconds of each process. If a process fails
or is stopped, its records so far are kept. Peers that are not installed are left out, and so are the
robots of `example-robot-data` (panda) if it is missing. Results go to benchmarks/results/gpu_peers.json.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any, NamedTuple

import warp as wp
from tqdm import tqdm

import warpdyn as wd

from .. import robots as machines
from ..__main__ import describe_run
from . import tables, timing

BATCHES = (4096, 65536)
COMPILE_BATCH = 64
"""Batch size for compilation. Warp's kernels are the same for all batch sizes, JAX programs are not."""


class Part(NamedTuple):
    """Modules of libraries, and names of robots or scenes, among which the user chooses."""

    peers: Sequence[str]
    names: Sequence[str]


PARTS = {
    "dynamics": Part(
        ("warpdyn", "mujoco_warp", "mjx", "jaxsim", "newton"),
        ("panda", "quadruped", "humanoid"),
    ),
    "steps": Part(
        ("warpdyn", "mujoco_warp", "mjx", "newton"),
        ("quadruped", "humanoid"),
    ),
    "scenes": Part(
        ("warpdyn", "mujoco_warp"),
        ("grasp", "pile-3", "pile-5"),
    ),
}

PACKAGES = {
    "mujoco_warp": "mujoco_warp",
    "mjx": "mujoco.mjx",
    "jaxsim": "jaxsim",
    "newton": "newton",
}
"""Packages that the module of each peer imports."""

NAMES = {
    "warpdyn": "warpdyn",
    "mujoco_warp": "MuJoCo Warp",
    "mjx": "MJX",
    "jaxsim": "JaxSim",
    "newton": "Newton",
}
NOWHERE = Path(os.devnull)
ON_JAX = ("mjx", "jaxsim")


def is_installed(peer: str) -> bool:
    """True if the packages of a peer are installed."""
    try:
        return peer == "warpdyn" or util.find_spec(PACKAGES[peer]) is not None
    except ModuleNotFoundError:
        return False


def versions() -> dict[str, str]:
    """Versions of the installed peers."""
    found = {}
    for name in ("mujoco", "mujoco-warp", "mujoco-mjx", "jax", "jaxsim", "newton"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def measure(given: argparse.Namespace) -> None:
    """Measure one library in this process and write each record immediately."""
    wp.config.quiet, wd.config.compile, wd.config.compile_messages = True, "wait", False
    warnings.simplefilter("ignore")
    (part,), (peer,) = given.parts, given.peers
    module = import_module(f".{part}", __package__)
    if given.lines == NOWHERE:  # this process only compiles
        timing.ROUNDS = timing.ROUNDS_OF_SLOW = 1
        timing.TURN = 0.0
    with given.lines.open("a") as file:
        for found in module.records(peer, given.names, given.batches, given.device):
            about = {"part": part, "library": NAMES[peer]}
            file.write(json.dumps(about | found) + "\n")
            file.flush()


def run(given: argparse.Namespace, part: str, peer: str, names: Sequence[str], path: Path) -> str:
    """Measure one library in a new process and return an error message, or ""."""
    command = [sys.executable, "-m", __package__, "--parts", part, "--peers", peer]
    command += ["--device", given.device, "--lines", str(path), "--names", *names]
    compiles = path == NOWHERE
    batches = (COMPILE_BATCH,) if compiles and peer not in ON_JAX else given.batches
    command += ["--batches", *map(str, batches)]
    try:
        done = subprocess.run(
            command, check=False, timeout=given.limit, capture_output=True, text=True
        )
    except subprocess.TimeoutExpired:
        return f"{part} {peer} {' '.join(names)}: stopped after {given.limit:.0f} s"
    return "" if not done.returncode else f"{part} {peer}: {done.stderr[-500:]}"


def cases(given: argparse.Namespace) -> Iterator[tuple[str, str, list[str]]]:
    """Yield part, library and names of all measurements."""
    for part in given.parts:
        names = [name for name in PARTS[part].names if given.names is None or name in given.names]
        if not machines.is_installed():
            names = [name for name in names if name not in machines.REAL]
        for peer in PARTS[part].peers:
            if peer in given.peers and is_installed(peer) and names:
                yield part, peer, names


def compile_all(given: argparse.Namespace) -> None:
    """Run every case once on few robots, in as many processes as there are cores."""
    tasks = [(part, peer, [name]) for part, peer, names in cases(given) for name in names]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda x: run(given, *x, NOWHERE), tasks)
        for wrong in tqdm(found, total=len(tasks), desc="compile", file=sys.stderr):
            if wrong:
                tqdm.write(wrong, file=sys.stderr)


def measure_all(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Records of all libraries, measured one after another."""
    lines: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.jsonl"
        path.touch()
        for case in tqdm([*cases(given)], desc="measure", file=sys.stderr):
            if wrong := run(given, *case, path):
                tqdm.write(wrong, file=sys.stderr)
        lines += map(json.loads, path.read_text().splitlines())
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile, measure, print the tables and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=(*PARTS,))
    parser.add_argument("--peers", nargs="+", choices=NAMES, default=(*NAMES,))
    parser.add_argument("--names", nargs="+", metavar="NAME", help="robots and scenes")
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--limit", type=float, default=600.0, help="longest time of a process [s]")
    parser.add_argument(
        "--no-compile", action="store_true", help="skip compilation: the caches are filled"
    )
    parser.add_argument("--output", type=Path, default=tables.RESULT)
    parser.add_argument("--lines", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.lines:
        measure(given)
        return 0
    if not given.no_compile:
        compile_all(given)
    about = describe_run(given.device, ())
    about["versions"] |= versions()
    content = {"about": about, "records": measure_all(given)}
    print(*tables.tables(content), sep="\n")
    given.output.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
