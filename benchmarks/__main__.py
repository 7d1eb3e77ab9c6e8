"""`python -m benchmarks`: measure every case; results/<date>-<hardware>/ gets JSON lines, report and picture."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
from collections.abc import Sequence
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

import numpy as np
import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn.commands.bench import processor

from . import pinocchio_loop, report, starts, steady
from .cases import ALGORITHMS, CASES, ROBOTS

HERE = Path(__file__).parent


def main() -> None:
    given = _parser().parse_args()
    wp.config.log_level = wp.LOG_ERROR
    about = what_it_ran_on()
    folder = (
        given.output or HERE / "results" / f"{about['date']}-{re.sub(r'[^a-z0-9]+', '-', about['hardware'].lower())}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    cases = [case for case in CASES if case.robot in given.robot and case.algorithm in given.algorithm]
    groups = [list(group) for _, group in groupby(sorted(cases, key=_place), key=_place)]
    records: list[dict[str, Any]] = []
    others: dict[str, float] = {}
    compiled: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    with tqdm(total=len(groups) + (0 if given.no_starts else starts.STEPS)) as bar:
        if not given.no_starts:
            for robot in ROBOTS:
                for dtype in ("float32", "float64"):
                    bar.set_description(f"compile {robot} {dtype}")
                    compiled[robot, dtype] = starts.compile_seconds(robot, dtype)
                    bar.update()
            bar.set_description("starts")
            others = starts.figures()
            about["cores_worth"] = round(starts.cores_worth(), 2)
            bar.update()
        with (folder / "results.jsonl").open("w") as file:
            for group in groups:
                bar.set_description(f"{group[0].robot} {group[0].algorithm}")
                for record in steady.measure(group):
                    cold, warm = compiled.get((record["robot"], record["dtype"]), {}).get(
                        record["algorithm"], (None, None)
                    )
                    records.append({**record, "cold_seconds": cold, "warm_seconds": warm, **about})
                    file.write(json.dumps(records[-1]) + "\n")
                    file.flush()
                bar.update()
    (folder / "starts.json").write_text(json.dumps({**about, "figures": others}, indent=2) + "\n")
    report.write(folder, about, records, others)
    print((folder / "report.md").read_text())
    print(f"written to {os.path.relpath(folder)}")


def what_it_ran_on() -> dict[str, Any]:
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True, check=False
    ).stdout.strip()
    return {
        "date": str(date.today()),
        "hardware": f"{processor()}, {len(steady.CORES)} cores",
        "commit": commit or "unknown",
        "versions": {
            "warpdyn": wd.__version__,
            "warp": wp.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
            "Pinocchio": pinocchio_loop.pin.__version__,
        },
    }


def _place(case: Any) -> Sequence[int]:
    return ROBOTS.index(case.robot), ALGORITHMS.index(case.algorithm)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure warpdyn beside Pinocchio.")
    parser.add_argument("--robot", nargs="+", choices=ROBOTS, default=ROBOTS)
    parser.add_argument("--algorithm", nargs="+", choices=ALGORITHMS, default=ALGORITHMS)
    parser.add_argument("--no-starts", action="store_true", help="leave compile times, first results and latencies out")
    parser.add_argument("--output", type=Path, help="default: benchmarks/results/<date>-<hardware>")
    return parser


if __name__ == "__main__":
    main()
