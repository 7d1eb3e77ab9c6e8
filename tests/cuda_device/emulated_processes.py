"""Python processes whose Warp has the emulated device."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from cuda_device.emulated_warp import environment

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent


def run_emulated(*arguments: str, late: bool = False) -> subprocess.CompletedProcess[str]:
    """Run `python ARGUMENTS` with this checkout and its tests on the path."""
    surroundings = environment()
    path = [surroundings["PYTHONPATH"].split(os.pathsep)[0], str(ROOT), str(TESTS)]
    surroundings |= {
        "PYTHONPATH": os.pathsep.join(path),
        "EMULATED_CUDA_LATE": str(int(late)),
        "WARPDYN_COMPILE": "never",  # the CPU interprets; a GPU always compiles
    }
    return subprocess.run(
        [sys.executable, *arguments], env=surroundings, capture_output=True, text=True, check=False
    )


def json_of(script: str, *arguments: str, late: bool = False) -> Any:
    """The JSON on the last line that a script of this folder prints."""
    return last_json(run_emulated(str(Path(__file__).parent / script), *arguments, late=late))


def last_json(done: subprocess.CompletedProcess[str]) -> Any:
    """The JSON on the last line of a process's output."""
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])
