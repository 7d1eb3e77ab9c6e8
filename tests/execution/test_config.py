"""Switches of the process, and the environment variables that set them."""

from __future__ import annotations

import pytest

import warpdyn as wd
from warpdyn.execution.config import Config, calls_before_compiling, compile_policy


@pytest.mark.parametrize(
    ("variable", "value", "switches"),
    [
        (None, None, {}),
        ("WARPDYN_DEBUG", "", {}),
        ("WARPDYN_DEBUG", "0", {}),
        ("WARPDYN_DEBUG", "1", {"debug": True}),
        ("WARPDYN_VERBOSE", "0", {"compile_messages": False}),
        ("WARPDYN_VERBOSE", "1", {}),
        ("WARPDYN_COMPILE", "", {}),
        ("WARPDYN_COMPILE", "never", {"compile": "never"}),
        ("WARPDYN_COMPILE", "wait", {"compile": "wait"}),
    ],
)
def test_environment_variables_set_the_switches(
    variable: str | None,
    value: str,
    switches: dict[str, bool | str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """WARPDYN_DEBUG, WARPDYN_VERBOSE and WARPDYN_COMPILE set one switch each."""
    for name in ("WARPDYN_DEBUG", "WARPDYN_VERBOSE", "WARPDYN_COMPILE"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv(variable, value)
    usual = {
        "debug": False,
        "compile_messages": True,
        "compile": "background",
        "compile_device": None,
    }
    assert vars(Config()) == {**usual, **switches}


def test_an_unknown_policy_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both the environment variables and the attribute are checked."""
    with pytest.raises(ValueError, match='"background", "wait" or "never", got \'later\''):
        Config().compile = "later"  # type: ignore[assignment]
    with pytest.raises(ValueError, match="compile_device must be \"cpu\" or None, got 'gpu'"):
        Config().compile_device = "gpu"  # type: ignore[assignment]
    monkeypatch.setenv("WARPDYN_COMPILE", "later")
    with pytest.raises(ValueError, match="WARPDYN_COMPILE must be"):
        Config()
    for wrong in ("0", "-1", "two"):
        monkeypatch.setenv("WARPDYN_COMPILE_AFTER", wrong)
        with pytest.raises(ValueError, match="at least 1"):
            calls_before_compiling()
    for least in ("1", "7"):
        monkeypatch.setenv("WARPDYN_COMPILE_AFTER", least)
        assert calls_before_compiling() == int(least)


def test_the_policy_of_a_block_ends_with_it() -> None:
    """It also ends with an error."""
    before = wd.config.compile
    other = "wait" if before == "never" else "never"
    with pytest.raises(KeyError), compile_policy(other):
        assert wd.config.compile == other
        raise KeyError
    assert wd.config.compile == before


def test_config_prints_its_switches() -> None:
    """`wd.config`, which prints what is on."""
    assert isinstance(wd.config, Config)
    assert repr(Config()).startswith("<Config: debug=")


def test_an_unknown_switch_is_refused() -> None:
    """Otherwise a misspelt switch would be set and change nothing."""
    config = Config()
    with pytest.raises(
        AttributeError, match="no switch 'compile_message'; did you mean 'compile_m"
    ):
        config.compile_message = False  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="there are debug, compile_messages, compile"):
        config.quiet = True  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="debug must be True or False, got '0'"):
        config.debug = "0"  # type: ignore[assignment]


def test_two_calls_precede_a_compile_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least is one. Refusals are compared word for word."""
    for value, calls in ((None, 2), ("", 2), ("1", 1), ("12", 12)):
        monkeypatch.delenv("WARPDYN_COMPILE_AFTER", raising=False)
        if value is not None:
            monkeypatch.setenv("WARPDYN_COMPILE_AFTER", value)
        assert calls_before_compiling() == calls
    monkeypatch.setenv("WARPDYN_COMPILE_AFTER", "0")
    with pytest.raises(ValueError) as refused:
        calls_before_compiling()
    assert str(refused.value) == (
        "WARPDYN_COMPILE_AFTER must be a number of calls, at least 1, got '0'"
    )
    switches = Config()
    with pytest.raises(TypeError, match=r"^wd.config.debug must be True or False, got 1$"):
        switches.debug = 1  # type: ignore[assignment]
    with pytest.raises(AttributeError, match=r"no switch 'debgu'; did you mean 'debug'\?$"):
        switches.debgu = True  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no switch 'xyz'; there are .*debug.*compile"):
        switches.xyz = True  # type: ignore[attr-defined]
    assert repr(switches).startswith("<Config: ") and "debug=False" in repr(switches)
