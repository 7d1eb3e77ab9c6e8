"""Processes with their own caches, so that tests can observe a first compile."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from warpdyn.execution.compile.cache_folder import cache_directory
from warpdyn.execution.compile.precompiled_header import HEADERS

ROOT = Path(__file__).parents[1]

ONE_CALL = """
import numpy as np
import warpdyn as wd
model, z = wd.load_robot("cartpole"), np.zeros((1, 2))
print(wd.rnea(model, z, z, z).sum())
"""
"""The smallest kernel there is, and its result."""


def environment(folder: Path, **changes: str) -> dict[str, str]:
    """This process's environment, with both caches in the folder and with messages as users get
    them."""
    kept = {name: x for name, x in os.environ.items() if name != "WARPDYN_VERBOSE"}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "WARPDYN_CACHE_DIR": str(folder / "programs"),
        "WARP_CACHE_PATH": str(folder / "kernels"),
        **changes,
    }


def environment_with_header(folder: Path, **changes: str) -> dict[str, str]:
    """The same environment with the parsed headers of this process's cache."""
    lend_header(folder / "programs")
    return environment(folder, **changes)


def lend_header(programs: Path) -> None:
    """Copy the parsed headers of this process's cache to another one. Parsing takes 2.6 CPU
    seconds."""
    parsed = cache_directory() / HEADERS
    if not parsed.is_dir():
        run(ONE_CALL, {**os.environ, "PYTHONPATH": str(ROOT), "WARPDYN_COMPILE": "wait"})
    if parsed.is_dir():
        shutil.copytree(parsed, programs / HEADERS, dirs_exist_ok=True)


QUICK_END = "import atexit, gc; atexit.register(gc.freeze)\n"
"""The beginning of a program that leaves out Python's last collections, which take 0.3 s."""


def run(program: str, environment: dict[str, str], *arguments: str) -> tuple[str, list[str]]:
    """The output of a program: stdout, and the lines on stderr without Warp's lines about its
    driver."""
    done = subprocess.run(
        [sys.executable, "-c", QUICK_END + program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CUDA driver" not in line]
