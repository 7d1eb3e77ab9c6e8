"""Bytecode in a file."""

from __future__ import annotations

import math
from array import array

import pytest

from warpdyn.codegen.bytecode.bytecode import INTEGER, Bytecode, BytecodeArray

SMALL = Bytecode(
    code=array(INTEGER, [3, 1, 2, 0, 0, 0, 0, 0, 0, 0]),
    constants=[0.1, -0.0, math.inf, 1e-310],
    slots=5,
    counters=2,
    depth=1,
    inputs=[BytecodeArray("q", [1, -1], []), BytecodeArray("nothing", [], [])],
    results=[BytecodeArray("out", [2, 3, 2], [False, True, False])],
    preload=[3, 1],
)


def test_bytecode_is_unchanged_by_writing_and_reading() -> None:
    """Constants are equal to the last bit."""
    back = Bytecode.from_bytes(SMALL.to_bytes())
    assert back == SMALL
    assert [math.copysign(1, x) for x in back.constants] == [1, -1, 1, 1]


@pytest.mark.parametrize("cut", [0, 10, -3])
def test_truncated_bytecode_is_refused(cut: int) -> None:
    content = SMALL.to_bytes()
    with pytest.raises((ValueError, KeyError)):
        Bytecode.from_bytes(content[:cut])
