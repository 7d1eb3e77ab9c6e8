"""Instructions of statements, and slots of their values."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from bytecode_on_numbers import run

from warpdyn.codegen.bytecode import statements as chosen
from warpdyn.codegen.bytecode.bytecode import Bytecode
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.bytecode.instructions import OPERATIONS, WORDS
from warpdyn.recording.program import record


def encode_function(text: Callable[[list], list]) -> Bytecode:
    return encode(record(text, {"x": (3,)}))


def names(bytecode: Bytecode) -> list[str]:
    return [OPERATIONS[number] for number in bytecode.code[::WORDS]]


@pytest.mark.parametrize(
    ("text", "instructions"),
    [
        (lambda x: [x[0] * 3.0], ["mul_sk"]),
        (lambda x: [3.0 - x[0] * x[1]], ["fma_ssk", "neg_s"]),
        (lambda x: [(x[0] + x[1]) * x[2]], ["add_ss", "mul_as"]),
        (lambda x: [x[2] - (x[0] + x[1])], ["add_ss", "sub_sa"]),
        (lambda x: [x[0] * x[1] + 2.0], ["fma_ssk"]),
        (lambda x: [x[0] * x[1] + x[1] * x[2]], ["mul_ss", "fma_ssa"]),
        (lambda x: [-x[0]], ["neg_s"]),
        (lambda x: [x[0], 5.0], []),
    ],
    ids=["product", "difference", "chain", "turned", "fused", "two products", "negative", "none"],
)
def test_operands_are_slots_constants_or_registers(
    text: Callable[[list], list], instructions: list[str]
) -> None:
    bytecode = encode_function(text)
    assert names(bytecode) == [*instructions, "end", "end", "end"]
    x = [0.3, -1.5, 2.0]
    assert run(bytecode, {"x": x})["out"] == text(x)


def test_a_square_reads_a_slot_twice() -> None:
    """A value that an instruction reads twice is not taken from a register."""
    bytecode = encode_function(lambda x: [(x[0] + x[1]) * (x[0] + x[1])])
    assert names(bytecode)[:2] == ["add_ss", "mul_ss"]


def test_a_value_read_later_keeps_its_slot() -> None:
    """The next instruction reads it from a register, a later one from its slot."""

    def text(x: list) -> list:
        a = x[0] + x[1]
        return [(a * x[2] + x[1]) * a]

    x = [0.5, 2.0, -3.0]
    assert run(encode_function(text), {"x": x})["out"] == text(x)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.NOTHING == -1
    assert chosen.ZEROS == ((0, 0, 0), (0, 0), (0,), (), ())
