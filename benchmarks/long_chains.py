"""Long chains: compile times, and the speed of `aba` compared with Pinocchio.

    python -m benchmarks.long_chains [JOINTS ...]   (default: 8 64 128)

The joint axes of a snake alternate between two directions and those of a spiral between three. Those of
a random chain have random directions. Programs are recorded and compiled with an empty cache. `aba`
runs on 1,024 states in rows, in float32, on one thread, in turns with Pinocchio in one process.
Results go to benchmarks/results/long_chains.json.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import warpdyn as wd
from warpdyn.execution.config import compile_policy

from .__main__ import describe_run

RESULT = Path(__file__).parent / "results" / "long_chains.json"

BATCH = 1024

TURNS = 9
"""Number of measurements of `SECONDS` for each library. The median counts."""

SECONDS = 0.2


def snake(number: int) -> np.ndarray:
    """Axes of a snake's joints, (number, 3)."""
    return np.eye(3)[[1 + k % 2 for k in range(number)]]


def spiral(number: int) -> np.ndarray:
    """Axes that point along x, y and z in turn, (number, 3)."""
    return np.eye(3)[[k % 3 for k in range(number)]]


def random_axes(number: int) -> np.ndarray:
    """Axes in random directions, (number, 3)."""
    axes = np.random.default_rng(0).normal(size=(number, 3))
    return axes / np.linalg.norm(axes, axis=1, keepdims=True)


CHAINS: dict[str, Callable[[int], np.ndarray]] = {
    "snake": snake,
    "spiral": spiral,
    "random": random_axes,
}


def chain(name: str, axes: np.ndarray) -> str:
    """URDF of a chain of links with 0.5 kg each and 0.1 m between joints."""
    parts = [f'<robot name="{name}"><link name="l0"/>']
    for k, axis in enumerate(axes, 1):
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="0.05 0.01 0"/><mass value="0.5"/><inertia '
            'ixx="2e-4" ixy="1e-5" ixz="0" iyy="5e-4" iyz="0" izz="6e-4"/></inertial></link>'
            f'<joint name="j{k}" type="continuous"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="0.1 0 0"/><axis xyz="{" ".join(map(repr, axis.tolist()))}"/></joint>'
        )
    return "".join([*parts, "</robot>"])


def measure(name: str, number: int) -> dict[str, Any]:
    """Times of one chain: compilation [s], and `aba` [ns per robot]."""
    import pinocchio as pin  # noqa: PLC0415 (a peer)

    text = chain(f"{name}{number}_{time.time_ns()}", CHAINS[name](number))
    model, peer = wd.load(text), pin.buildModelFromXML(text)
    generator = np.random.default_rng(1)
    q, v, tau = (generator.uniform(-0.5, 0.5, (BATCH, number)).astype(np.float32) for _ in range(3))
    record: dict[str, Any] = {"chain": name, "joints": number}
    with compile_policy("wait"):
        for function, arrays in ((wd.crba, (q,)), (wd.aba, (q, v, tau))):
            begun = time.perf_counter()
            found = function(model, *arrays)
            record[f"first_{function.__name__}_s"] = round(time.perf_counter() - begun, 2)
    bound = wd.bind(wd.aba, model, q, v, tau, out=np.empty_like(found))
    data, state = peer.createData(), [x[0].astype(float) for x in (q, v, tau)]
    # Pinocchio represents a continuous joint by cosine and sine.
    state[0] = np.stack([np.cos(state[0]), np.sin(state[0])], axis=1).ravel()
    difference = np.abs(found[0] - pin.aba(peer, data, *state)).max()
    record["difference"] = float(f"{difference / np.abs(found[0]).max():.1e}")

    def theirs() -> None:
        for _ in range(BATCH):
            pin.aba(peer, data, *state)

    ours_s, theirs_s = in_turns([bound, theirs])
    record["ns"] = round(1e9 * ours_s / BATCH, 1)
    record["pinocchio_ns"] = round(1e9 * theirs_s / BATCH)
    record["times_pinocchio"] = round(theirs_s / ours_s, 1)
    return record


def in_turns(runs: Sequence[Callable[[], Any]]) -> list[float]:
    """Median CPU seconds of one run of each function; the functions run in turns."""
    samples: list[list[float]] = [[] for _ in runs]
    for _ in range(TURNS):
        for run, found in zip(runs, samples, strict=True):
            begun, number = time.process_time(), 0
            while time.process_time() - begun < SECONDS:
                run()
                number += 1
            found.append((time.process_time() - begun) / number)
    return [float(np.median(found)) for found in samples]


def measurements(joints: Sequence[int]) -> Iterator[dict[str, Any]]:
    """Yield the record of each chain."""
    cases = [(name, number) for name in CHAINS for number in joints]
    for name, number in tqdm(cases, desc="long chains"):
        yield measure(name, number)


def about() -> dict[str, Any]:
    """Machine, commit and versions."""
    found = describe_run("cpu", ())
    found["versions"]["pin"] = metadata.version("pin")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the chains and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("joints", nargs="*", type=int, default=[8, 64, 128])
    parser.add_argument("--json", type=Path, default=RESULT, help="file of the results")
    given = parser.parse_args(arguments)
    wd.runtime.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WARPDYN_CACHE_DIR"] = folder
        found = list(measurements(given.joints))
    for record in found:
        print(record)
    given.json.write_text(json.dumps({"about": about(), "chains": found}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
