"""The quick half has tests of every room, and names no test that is gone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from quick import QUICK, QUICK_ROBOTS
from robots import ROBOTS

TESTS = Path(__file__).resolve().parent
ROS = "ros"
"""Folder of the tests that share a network of nodes: not part of the quick half."""


def test_the_quick_half_has_every_room() -> None:
    """Each folder with tests has a row. The row lists files of that folder, and tests of those
    files."""
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    assert folders - {ROS, "ros2_node"} == set(QUICK)
    for folder, entries in QUICK.items():
        for entry in entries:
            file, _, test = entry.partition("::")
            text = (TESTS / folder / file).read_text()
            assert not test or re.search(rf"^def {test}\b", text, re.MULTILINE), entry
    assert set(QUICK_ROBOTS) <= {robot.name for robot in ROBOTS}


def test_the_quick_half_runs_the_listed_tests_on_its_robots() -> None:
    """`--quick` collects the tests of `QUICK`. Tests over all robots run on `QUICK_ROBOTS` only."""
    listed = collect(TESTS.parent, "--quick", "tests/algorithms", "tests/peers")
    files = {line.partition("::")[0] for line in listed}
    inner = ("closed_loops", "collision", "long_chains", "simulation", "simulation/pair_slots")
    rooms = ("algorithms", *(f"algorithms/{name}" for name in inner), "peers")
    assert files == {f"tests/{room}/{file}" for room in rooms for file in QUICK[room]}
    bounds = [line for line in listed if "::test_rnea_matches_the_oracle" in line]
    assert len(bounds) == 2 * len(QUICK_ROBOTS)  # float64 and float32


def test_no_test_reads_files_outside_the_checkout() -> None:
    """A fresh clone has everything that the tests read."""
    above = re.compile(r"parents\[(\d)\]|/ *\"shared\"")
    for path in TESTS.rglob("*.py"):
        depth = len(path.relative_to(TESTS.parent).parts) - 1
        for found in above.finditer(path.read_text()):
            assert found[1] is not None and int(found[1]) <= depth, f"{path}: {found[0]}"


def collect(checkout: Path, *arguments: str) -> list[str]:
    """Names of the tests that pytest would run there. Each must import without an error."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments]
    done = subprocess.run(
        command,
        cwd=checkout,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(TESTS.parent)},
        check=False,
    )
    assert done.returncode in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED), done.stdout
    return [line for line in done.stdout.splitlines() if "::" in line]
