"""C functions of a header, for the memory layout of objects that they expect."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from warpdyn.execution.native import c_functions
from warpdyn.execution.native import c_functions as chosen
from warpdyn.execution.native.c_functions import (
    address,
    interpreter,
    methods,
    new_function,
    words_of,
)
from warpdyn.execution.repeat.planned_call import MISS


def test_objects_have_the_memory_layout_of_the_header(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds in this interpreter. An interpreter of another name is refused."""
    assert c_functions._as_expected()
    monkeypatch.setattr(sys.implementation, "name", "pypy")
    assert not c_functions._as_expected()


def test_words_keep_the_objects_at_their_addresses_alive() -> None:
    inner = words_of([1, 2, 3])
    outer = words_of([address(inner)], inner, "name")
    assert outer.held[0] is inner and outer.held[1] == "name"
    assert outer.dtype == np.int64 and outer[0] == inner.__array_interface__["data"][0]


def test_a_function_keeps_its_words_alive() -> None:
    """It is compiled once. Without a plan it returns MISS."""
    found = methods()
    assert found is not None and found is methods()
    assert found.call.function and found.forward.function and found.backward.function
    words = words_of([*interpreter(None), 0])
    before = sys.getrefcount(words)
    function = new_function(found.call, words)
    assert sys.getrefcount(words) == before + 1
    assert function((1, 2), {"a": 3}) is MISS
    del function
    assert sys.getrefcount(words) == before


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.OPERANDS == 16
    assert chosen.LONG == 1e-05
    assert chosen._FASTCALL == 128
