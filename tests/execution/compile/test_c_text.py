"""C functions from the text of a kernel: loaded, and where they are."""

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


def test_each_function_is_in_a_place_of_its_own() -> None:
    """None is the kernel that has told of them."""
    text = threads()
    assert text is not None and len({0, *text.addresses}) == 4


def test_without_a_compiler_calls_take_their_path_in_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Under the policy "never"; otherwise the reason is an error."""

    def fail(*_: object) -> int:
        raise OSError("no compiler")

    monkeypatch.setattr(c_object, "load_object", fail)
    with pytest.raises(OSError, match="no compiler"):
        threads()
    monkeypatch.setattr(wd.config, "compile", "never")
    assert threads() is None


def test_there_are_none_where_warp_cannot_load_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(c_object, "FUNCTIONS", ("no_such_function",))
    assert threads() is None
