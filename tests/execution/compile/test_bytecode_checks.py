"""Bytecode that accesses memory outside its arrays is refused."""

from __future__ import annotations

from array import array
from dataclasses import replace

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.codegen.bytecode.bytecode import Bytecode, BytecodeArray
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.bytecode.instructions import DEPTH, LOOPS, NUMBER, TABLES, WORDS
from warpdyn.codegen.source import Source
from warpdyn.codegen.targets import describe
from warpdyn.execution.compile.bytecode_checks import check
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call


@pytest.fixture(scope="module")
def program() -> tuple[Bytecode, Source]:
    model = wd.load_robot("cartpole")
    zeros = np.zeros((1, model.nv))
    call = wd.rnea.describe(model, zeros, zeros, zeros)  # type: ignore[attr-defined]
    recorded = record_call(call, input_shapes(call), True)
    return encode(recorded), describe(recorded, "rnea", True, "cpu")


def with_first_instruction(bytecode: Bytecode, *code: int) -> Bytecode:
    """The program with another first instruction."""
    rest = bytecode.code[WORDS:]
    return replace(bytecode, code=array("i", [*code, *rest]))


def test_an_encoded_program_is_accepted(program: tuple[Bytecode, Source]) -> None:
    check(*program)


@pytest.mark.parametrize(
    "instruction",
    [
        (NUMBER["move_s"], 1 << 20, 0, 0, 0),
        (NUMBER["move_s"], 0, 1 << 20, 0, 0),
        (NUMBER["move_s"], -1, 0, 0, 0),
        (NUMBER["constant"], 0, 1 << 20, 0, 0),
        (NUMBER["call"], 1 << 20, 0, 0, 0),
        (NUMBER["begin"], 0, 0, 0, 0),
        (NUMBER["copy"], 0, 1, 1 << 20, 0),
        (NUMBER["look"], 0, 0, 0, 0),
        (len(NUMBER), 0, 0, 0, 0),
        (-1, 0, 0, 0, 0),
    ],
    ids=[
        "to",
        "from",
        "below",
        "constant",
        "jump",
        "loop",
        "block",
        "table",
        "unknown",
        "negative",
    ],
)
def test_an_instruction_outside_the_program_is_refused(
    program: tuple[Bytecode, Source], instruction: tuple[int, ...]
) -> None:
    bytecode, source = program
    with pytest.raises(ValueError, match=r"outside|unknown"):
        check(with_first_instruction(bytecode, *instruction), source)


def test_a_program_without_an_end_is_refused(program: tuple[Bytecode, Source]) -> None:
    bytecode, source = program
    for code in (bytecode.code[:-WORDS], bytecode.code[:-1], array("i")):
        cut = replace(bytecode, code=array("i", code))
        if len(code) % WORDS == 0 and len(code):
            cut.code[-WORDS] = NUMBER["move_s"]
        with pytest.raises(ValueError, match=r"end|incomplete"):
            check(cut, source)


def test_the_interpreter_reads_one_instruction_beyond_the_present_one(
    program: tuple[Bytecode, Source],
) -> None:
    """So a program ends with two instructions `end`, and no jump leads to the second one."""
    bytecode, source = program
    with pytest.raises(ValueError, match="does not end"):
        check(replace(bytecode, code=bytecode.code[: -2 * WORDS]), source)
    number = len(bytecode.code) // WORDS
    check(with_first_instruction(bytecode, NUMBER["call"], number - 2, 0, 0, 0), source)
    with pytest.raises(ValueError, match="outside"):
        check(with_first_instruction(bytecode, NUMBER["call"], number - 1, 0, 0, 0), source)


@pytest.mark.parametrize("slots", [[0], [0, 1 << 20], [0, -1]])
def test_a_result_needs_a_valid_slot_for_each_entry(
    program: tuple[Bytecode, Source], slots: list[int]
) -> None:
    bytecode, source = program
    wrong = replace(bytecode, results=[BytecodeArray("out", slots, [False] * len(slots))])
    with pytest.raises(ValueError, match="outside"):
        check(wrong, source)


def test_a_large_program_is_refused(program: tuple[Bytecode, Source]) -> None:
    bytecode, source = program
    with pytest.raises(ValueError, match="too large"):
        check(replace(bytecode, slots=1 << 24), source)
    with pytest.raises(ValueError, match="too large"):
        check(replace(bytecode, counters=LOOPS + 1), source)
    with pytest.raises(ValueError, match="33 nested loops, at most 32"):
        check(replace(bytecode, depth=DEPTH + 1), source)
    with pytest.raises(ValueError, match="too large"):
        check(bytecode, replace(source, tables=("x",) * (TABLES + 1)))


def test_a_program_may_use_all_of_the_interpreters_memory(program: tuple[Bytecode, Source]) -> None:
    bytecode, source = program
    most = replace(bytecode, slots=(1 << 24) - 1, counters=LOOPS, depth=DEPTH)
    check(most, replace(source, tables=("x",) * TABLES))
