"""The interpreter, loaded for each precision."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from warpdyn.execution.compile import c_object
from warpdyn.execution.compile import interpreter as chosen
from warpdyn.execution.compile.interpreter import _single, interpreter


def test_the_error_of_an_uncompiled_interpreter_names_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It also names the reason and the folder."""

    def fail(*_: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(c_object, "load_object", fail)
    _single.cache_clear()  # type: ignore[attr-defined]
    try:
        with pytest.raises(OSError, match=r"not compiled: No space left.*same kind of processor"):
            interpreter(True)
    finally:
        monkeypatch.undo()
        assert interpreter(True) is not None


def test_there_is_an_interpreter_for_each_precision() -> None:
    single, double = interpreter(True), interpreter(False)
    assert single is not None and double is not None and single.address != double.address


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.EXPECTED_SECONDS == 2.0
