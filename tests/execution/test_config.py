"""Switches of the process, and the variables that begin them."""

from __future__ import annotations

import pytest

import warpdyn as wd
from warpdyn.execution.config import Config


@pytest.mark.parametrize(("value", "on"), [(None, False), ("", False), ("0", False), ("1", True)])
def test_variables_begin_the_switches(
    value: str | None, on: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """WARPDYN_DEBUG and WARPDYN_COMPILE_MESSAGES, each for its own."""
    for variable, name in (
        ("WARPDYN_DEBUG", "debug"),
        ("WARPDYN_COMPILE_MESSAGES", "compile_messages"),
    ):
        with monkeypatch.context() as change:
            change.delenv("WARPDYN_DEBUG", raising=False)
            change.delenv("WARPDYN_COMPILE_MESSAGES", raising=False)
            if value is not None:
                change.setenv(variable, value)
            switches = vars(Config())
        assert switches[name] is on and sum(switches.values()) == on


def test_the_switches_of_the_process() -> None:
    """`wd.config`, which prints what is on."""
    assert isinstance(wd.config, Config)
    assert repr(Config()).startswith("<Config: debug=")
