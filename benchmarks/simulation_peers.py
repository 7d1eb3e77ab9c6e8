"""Simulation steps of many standing quadrupeds on a CPU, in warpdyn and other simulators.

    taskset -c 1 python -m benchmarks.simulation_peers [--envs 4096] [--only mjx brax] [--into FOLDER]

All begin in the state in which MuJoCo's robot has stood for 4 s, and step in turns in one process.
Robots that do not stand at the end have no figure. On one core, CPU time is measured, so that other
processes matter less; on several cores, wall time. Simulators that are not installed are named and
left out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from warpdyn.peers.peer import first_line

from .__main__ import describe_run
from .interleave import CORES, Turn, take_turns
from .peers import InstalledPeer
from .simulation_scenes import QUADRUPED_HEIGHT, QUADRUPED_STANCE, standing
from .simulators.running import Running, SettledScene, settle

DT = 0.005
OURS = "warpdyn"
PEERS = ("mujoco", "mujoco_warp", "newton", "mjx", "brax", "genesis")
PIP = {
    "mujoco": "mujoco",
    "mujoco_warp": "mujoco-warp",
    "newton": "newton",
    "mjx": "mujoco-mjx",
    "brax": "brax",
    "genesis": "genesis-world torch",
}
FALLEN = 0.02
"""A base that has moved up or down by more does not stand [m]."""

AT_LEAST = 8
"""Steps that each makes before its height is looked at."""


def measure(
    start: SettledScene, keys: Sequence[str], envs: int, cores: int, rounds: int
) -> list[dict[str, Any]]:
    """Yield a record for each way of stepping: ns per step of one environment, or a reason for its absence."""
    clock = time.process_time if cores == 1 else time.perf_counter
    lines: list[dict[str, Any]] = []
    turns: list[tuple[dict[str, Any], Running, Turn]] = []
    for key in tqdm((OURS, *keys), desc="first steps"):
        module = import_module(f".simulators.many_in_{key}", __package__)
        line = {"simulator": module.NAME, "form": "", "envs": envs, "cores": cores}
        try:
            for each in module.running(start, envs, cores):
                line = {**line, "form": each.form, "envs": each.envs}
                each.advance()
                turns.append((line, each, Turn(each.advance, each.envs * each.steps, clock=clock)))
                lines.append(line)
        except Exception as reason:  # any error of a peer is printed in the table
            lines.append({**line, "why": f"{type(reason).__name__}: {first_line(reason)}"})
    take_turns([turn for _, _, turn in turns], rounds)
    for line, each, turn in tqdm(turns, desc="do they stand"):
        for _ in range(AT_LEAST // each.steps):
            each.advance()
        off = float(np.abs(each.heights() - start.height).max())
        line.update(
            turn.figures, off=off if np.isfinite(off) else None, ours=turns[0][2].figures["ns"]
        )
        if not off <= FALLEN:
            line["why"] = f"its base is {off:.3f} m off"
    return lines


def markdown(lines: Sequence[dict[str, Any]]) -> list[str]:
    """Lines of the table. Ratios refer to warpdyn's four steps per launch in the same run."""
    head = (
        "simulator",
        "how",
        "environments",
        "cores",
        "ns a step",
        "steps/s",
        "times warpdyn's time",
    )
    text = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for x in lines:
        figures = ["", "", x.get("why", "")]
        if "why" not in x:
            ratio = x["ns"] / x["ours"]
            figures = [f"{x['ns']:,.0f}", f"{1e9 / x['ns']:,.0f}", f"{ratio:.3g}"]
        cells = (x["simulator"], x["form"], f"{x['envs']:,}", str(x["cores"]), *figures)
        text.append("| " + " | ".join(cells) + " |")
    return text


def find_simulators(keys: Sequence[str]) -> tuple[list[InstalledPeer], list[str]]:
    """Simulators that can be imported, and names of the others."""
    there, missing = [], []
    for key in keys:
        try:
            module = import_module(f".simulators.many_in_{key}", __package__)
            versions = {name: metadata.version(name) for name in module.PACKAGES}
            there.append(InstalledPeer(key, module, versions))
        except ImportError:
            missing.append(key)
    return there, missing


def main() -> None:
    """Print the table and store its records together with those of other runs of the same day."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--envs", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--only", nargs="*", choices=PEERS, default=PEERS, metavar="PEER")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help="of benchmarks/results")
    arguments = parser.parse_args()
    peers, missing = find_simulators(arguments.only)
    if missing:
        print(
            f"not installed: {', '.join(missing)}; pip install {' '.join(PIP[x] for x in missing)}"
        )
    scene = standing("quadruped", QUADRUPED_HEIGHT, QUADRUPED_STANCE, (40.0, 1.0), "*_foot")
    lines = measure(
        settle(scene, DT),
        [peer.key for peer in peers],
        arguments.envs,
        len(CORES),
        arguments.rounds,
    )
    about = describe_run("cpu", peers)
    print("\n".join(markdown(lines)))
    if arguments.into:
        with (arguments.into / "simulation_peers.jsonl").open("a") as file:
            for line in ({"about": about}, *lines):
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
