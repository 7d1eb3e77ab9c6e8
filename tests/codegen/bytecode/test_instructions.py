"""The list of instructions."""

from __future__ import annotations

from warpdyn.codegen.bytecode import instructions as chosen
from warpdyn.codegen.bytecode.instructions import (
    BLOCKS,
    FIELDS,
    NUMBER,
    OPERATIONS,
    WITH_FOURTH,
    WORDS,
)


def test_each_instruction_has_one_number() -> None:
    assert len(NUMBER) == len(OPERATIONS)
    assert [OPERATIONS[number] for number in NUMBER.values()] == [*NUMBER]


def test_each_instruction_has_four_fields_of_known_kinds() -> None:
    """The names of instructions with kinds contain the kinds of their operands."""
    assert {*FIELDS} == {*OPERATIONS}
    assert {len(fields) for fields in FIELDS.values()} == {WORDS - 1}
    assert {kind for fields in FIELDS.values() for kind in fields} == {*"sktjl-"}
    assert FIELDS["fma_sks"] == "ssks" and FIELDS["sub_ka"] == "sk--" and FIELDS["neg_a"] == "s---"


def test_instructions_with_more_than_four_fields_exist() -> None:
    assert {*BLOCKS, *WITH_FOURTH} <= {*OPERATIONS}


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.WORDS == 5
    assert chosen.DEPTH == 32
    assert chosen.LOOPS == 4096
    assert chosen.TABLES == 64
    assert chosen.MOST_BOUNDS == 64
    assert chosen.CORNERS == 4
