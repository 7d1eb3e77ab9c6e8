"""C functions of a header, loaded, and their addresses."""

from __future__ import annotations

import pytest

import warpdyn as wd
from warpdyn.codegen.arguments import HEADER
from warpdyn.execution.compile import c_object
from warpdyn.execution.compile.c_text import CText, c_text


def threads() -> CText | None:
    """The functions of `native_threads`."""
    first, count = HEADER.index("first"), HEADER.index("count")
    return c_text("native_threads.h", "threads", 3, first=first, count=count)


def test_each_function_has_its_own_address() -> None:
    """None of them is that of the kernel that reports the addresses."""
    text = threads()
    assert text is not None and len({0, *text.addresses}) == 4


def test_without_a_compiler_calls_use_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This is so under the policy "never". Under other policies the reason is raised."""

    def fail(*_: object) -> int:
        raise OSError("no compiler")

    monkeypatch.setattr(c_object, "load_object", fail)
    with pytest.raises(OSError, match="no compiler"):
        threads()
    monkeypatch.setattr(wd.config, "compile", "never")
    assert threads() is None


def test_no_functions_are_loaded_without_the_functions_of_warp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(c_object, "FUNCTIONS", ("no_such_function",))
    assert threads() is None
