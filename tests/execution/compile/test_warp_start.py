"""Warp's start: its line about a driver is printed only if there is a driver, all other lines
always."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from fresh_caches import ROOT

from warpdyn.execution.compile import warp_start

START = """
from warpdyn.execution.compile import warp_start
from warpdyn.execution.compile.kernel import quieten
quieten()
{change}
warp_start.init_warp()
"""


def lines(change: str = "") -> str:
    """The lines on stderr of a process that starts Warp."""
    done = subprocess.run(
        [sys.executable, "-c", START.format(change=change)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


@pytest.mark.skipif(warp_start.has_driver(), reason="there is a driver here")
def test_a_machine_without_a_driver_prints_no_line() -> None:
    """A machine whose driver cannot be loaded prints Warp's line."""
    assert lines() == ""
    assert warp_start.NO_DRIVER in lines("warp_start.has_driver = lambda: True")


@pytest.mark.skipif(warp_start.has_driver(), reason="there is a driver here")
def test_every_first_call_prints_no_line_about_a_driver() -> None:
    """Random numbers start Warp too, in kernels of their own. Each call is the first of a process
    that has forked from one that has imported warpdyn."""
    calls = (
        "wd.random_configuration(model, 2)",
        "wd.random_state(model, 2)",
        "wd.randomise(model, 2, seed=0, mass=wd.random.scale(0.9, 1.1))",
        "wd.gravity_torques(model, np.zeros((2, 2)))",
    )
    code = f"""
import os, numpy as np, warpdyn as wd
model = wd.load_robot("double_pendulum")
for first in {calls}:
    child = os.fork()
    if child == 0:
        exec(first)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, first
"""
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert warp_start.NO_DRIVER not in done.stderr


def test_other_lines_are_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """They are printed after an exception, too. The library writes to the file descriptor
    itself."""
    with pytest.raises(ValueError, match="mine"), warp_start._without_line("secret"):
        os.write(2, b"first\nsome secret here\nlast\n")
        raise ValueError("mine")
    assert capfd.readouterr().err == "first\nlast\n"


def test_a_device_file_or_library_counts_as_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that cannot be loaded counts, too."""
    monkeypatch.setattr(warp_start, "DRIVER_SIGNS", ("/",))
    assert warp_start.has_driver()
    monkeypatch.setattr(warp_start, "DRIVER_SIGNS", ())

    def fail_to_load(name: str) -> None:
        raise OSError(f"{name}: invalid ELF header")

    monkeypatch.setattr(warp_start.ctypes, "CDLL", fail_to_load)
    assert warp_start.has_driver()
