"""Warp's start: its line about a driver comes where there is one, all other lines come always."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from fresh_caches import ROOT

from warpdyn.execution import warp_start

START = """
from warpdyn.execution import warp_start
from warpdyn.execution.kernel import quieten
quieten()
{change}
warp_start.init_warp()
"""


def lines(change: str = "") -> str:
    """What a process writes to stderr that starts Warp."""
    done = subprocess.run(
        [sys.executable, "-c", START.format(change=change)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr


@pytest.mark.skipif(warp_start.has_driver(), reason="there is a driver here")
def test_a_machine_without_a_driver_has_no_line() -> None:
    """One with a driver that cannot be loaded has Warp's."""
    assert lines() == ""
    assert warp_start.NO_DRIVER in lines("warp_start.has_driver = lambda: True")


def test_other_lines_are_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    """After an exception too; the library writes to the file descriptor itself."""
    with pytest.raises(ValueError, match="mine"), warp_start._without_line("secret"):
        os.write(2, b"first\nsome secret here\nlast\n")
        raise ValueError("mine")
    assert capfd.readouterr().err == "first\nlast\n"


def test_a_sign_of_a_driver_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its device file, or its library, though that cannot be loaded."""
    monkeypatch.setattr(warp_start, "DRIVER_SIGNS", ("/",))
    assert warp_start.has_driver()
    monkeypatch.setattr(warp_start, "DRIVER_SIGNS", ())

    def broken(name: str) -> None:
        raise OSError(f"{name}: invalid ELF header")

    monkeypatch.setattr(warp_start.ctypes, "CDLL", broken)
    assert warp_start.has_driver()
