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


def test_a_switch_that_does_not_exist_is_refused() -> None:
    """A misspelt switch would be set and change nothing."""
    config = Config()
    with pytest.raises(AttributeError, match="no switch 'compile_message'; did you mean compile_m"):
        config.compile_message = False  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="there are debug, compile_messages"):
        config.quiet = True  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="debug must be True or False, got '0'"):
        config.debug = "0"  # type: ignore[assignment]
