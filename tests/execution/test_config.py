"""Switches of the process, and the variables that begin them."""

from __future__ import annotations

import pytest

import warpdyn as wd
from warpdyn.execution.config import Config


@pytest.mark.parametrize(
    ("variable", "value", "switches"),
    [
        (None, None, {"debug": False, "compile_messages": True}),
        ("WARPDYN_DEBUG", "", {"debug": False, "compile_messages": True}),
        ("WARPDYN_DEBUG", "0", {"debug": False, "compile_messages": True}),
        ("WARPDYN_DEBUG", "1", {"debug": True, "compile_messages": True}),
        ("WARPDYN_VERBOSE", "0", {"debug": False, "compile_messages": False}),
        ("WARPDYN_VERBOSE", "1", {"debug": False, "compile_messages": True}),
    ],
)
def test_variables_begin_the_switches(
    variable: str | None,
    value: str,
    switches: dict[str, bool],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """WARPDYN_DEBUG and WARPDYN_VERBOSE, each for its own."""
    monkeypatch.delenv("WARPDYN_DEBUG", raising=False)
    monkeypatch.delenv("WARPDYN_VERBOSE", raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, value)
    assert vars(Config()) == switches


def test_the_switches_of_the_process() -> None:
    """`wd.config`, which prints what is on."""
    assert isinstance(wd.config, Config)
    assert repr(Config()).startswith("<Config: debug=")
