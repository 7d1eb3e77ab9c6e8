"""Measurements of `warpdyn bench` that are short: their times are not compared here."""

from __future__ import annotations

import pytest

from warpdyn.cli import timing


@pytest.fixture(autouse=True)
def short_timing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take 5 ms in place of 250 ms for each call that is timed."""
    assert timing.interleaved_seconds.__kwdefaults__["enough"] == 0.25
    monkeypatch.setitem(timing.interleaved_seconds.__kwdefaults__, "enough", 0.005)
