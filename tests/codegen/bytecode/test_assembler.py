"""Bytecode while it is written."""

from __future__ import annotations

import math

from warpdyn.codegen.bytecode import assembler as chosen
from warpdyn.codegen.bytecode.assembler import NOWHERE, Assembler
from warpdyn.codegen.bytecode.instructions import NUMBER, WORDS


def test_equal_constants_have_one_number() -> None:
    """Zeros of different signs are two constants. NaN is one."""
    to = Assembler(())
    numbers = [to.constant(x) for x in (0.0, -0.0, 1.5, 0.0, math.nan, math.nan, 1.5)]
    assert numbers == [0, 1, 2, 0, 3, 3, 2] and len(to.constants) == 4


def test_a_constant_has_one_slot() -> None:
    to = Assembler(())
    first, again, other = to.constant_slot(2.0), to.constant_slot(2.0), to.constant_slot(3.0)
    assert first == again != other
    assert to.preload == {0: first, 1: other} and NOWHERE not in to.preload.values()


def test_slots_and_instructions_are_counted() -> None:
    to = Assembler(("heights",))
    assert to.new_slots(3) + 3 == to.new_slots(1) == to.slots - 1
    to.add("copy", 1, 2, 3)
    assert to.here == 1 and to.code == [NUMBER["copy"], 1, 2, 3, 0] and len(to.code) == WORDS
    assert to.new_counter() == 0 and to.new_counter() == 1 and to.tables == {"heights": 0}


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.NOWHERE == 0
