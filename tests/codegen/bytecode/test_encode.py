"""Bytecode of programs: run in Python on numbers, it gives the results of the program, to the last
bit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import array_programs
import numpy as np
import pytest
from bytecode_on_numbers import run
from every_statement import PROGRAMS
from every_statement import SHAPES as TABLED

import warpdyn as wd
from warpdyn.algebra import scalar
from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.algebra.scalar import absolute, repeat, select_less, sin
from warpdyn.codegen.bytecode.encode import _copy_arrays, encode
from warpdyn.codegen.bytecode.instructions import NUMBER, WORDS
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording import recorder
from warpdyn.recording.differentiation import pullback
from warpdyn.recording.phases import phases
from warpdyn.recording.program import Program, record

SHAPES = {"x": (3,), "y": (3,)}


def arithmetic(x: list, y: list) -> list:
    """Each operation, with constants on each side, and values that are results twice."""
    a = x[0] * y[0] + x[1] * y[1] + x[2] * 0.3
    b = 2.0 - a * a
    c = x[1] * 3.0 - 1.5
    d = scalar.minimum(a, 0.25) + scalar.maximum(b, c) - scalar.minimum(0.5, x[2])
    e = select_less(x[0], 0.1, y[0], 4.0) + scalar.select_less_equal(y[1], y[1], a, b)
    f = scalar.sqrt(1.0 + a * a) * scalar.rsqrt(2.0 + b * b) / (3.0 + c * c)
    g = scalar.exp(-a * a) + scalar.log(2.0 + b * b) + scalar.atan2(y[0], 2.0 + a * a)
    h = absolute(c) + scalar.floor(7.0 * a) + scalar.sin(y[2]) * scalar.cos(y[2]) - scalar.cos(a)
    u = scalar.uniform(1.0, 2.0, scalar.floor(100.0 * absolute(a)), 3.0)
    return [a, -a, b, d, e, f, g, h, u, x[1], -x[1], a, 7.0, 0.0, 1.0 / (2.0 + a * a), c - a]


def loops(x: list, y: list) -> list:
    """A loop in a loop, called with values around them, and a loop that ends early."""
    h = y[0] * 0.1

    def outer(state: list) -> list:
        (z,) = repeat(lambda s: [s[0] * 0.5 + h * sin(s[0]) * x[1]], [state[0]], 3)
        return [z + 0.1, state[1] + z * y[1]]

    a, b = repeat(outer, [x[0], 2.0], 5)
    c, n = repeat(lambda s: [s[0] * 0.5, s[1] + 1.0], [absolute(x[2]), b], 30, lambda s: 0.1 - s[0])
    return [a, b, c, n, -c]


def early_end(x: list, y: list) -> list:
    """One loop that ends early, which makes a program in phases."""
    (c, n) = repeat(
        lambda s: [s[0] * (0.4 + 0.1 * y[1] * y[1]), s[1] + 1.0],
        [absolute(x[0]) + x[1] * x[1], 0.0],
        50,
        lambda s: 0.01 - s[0],
    )
    return [c, n, c * x[1] * x[1] + y[0], x[2]]


def backwards(x: list, y: list) -> list:
    """The gradient of a loop, which reads the stored states."""
    return pullback([*x, *y], loops_without_end(x, y), [1.0, -0.5])


def loops_without_end(x: list, y: list) -> list:
    a, b = steps(x, y)
    return [a * x[2], b]


def backwards_past_the_end(x: list, y: list) -> list:
    """The gradient of a loop whose result is not read, so the last step is left out."""
    return pullback([*x, *y], steps(x, y), [1.0, -0.5])


def steps(x: list, y: list) -> list:
    h = y[0] * 0.1
    return repeat(lambda s: [s[0] - h * sin(s[0]), s[1] + s[0] * y[1]], [x[0], x[1]], 6)


def calls(x: list, y: list) -> list:
    """A routine that is called for three columns. Each result is read after the last call."""

    def column(shared: list, each: list) -> list:
        a, b = each
        for _ in range(40):
            a, b = b + shared[0] * sin(a), a * 0.5
        return [a, b]

    found = scalar.each(column, [y[0]], [[x[k], y[k]] for k in range(3)])
    first, second, third = found
    return [first[0] - third[0], second[0] * first[1], *third, *second, *first]


def until_an_entry(x: list, y: list) -> list:
    """A loop on an array that ends after two of three steps, decided by an entry of its state."""
    a = RowArray([[x[0]], [x[1]], [x[2]]])

    def step(k: Any, state: list, _: Any) -> list:
        is_needed = select_less(k, 1.5, 1.0, 0.0)
        a[k] = [select_less(0.5, is_needed, sin(a[k][0]), a[k][0])]
        return [state[0] + is_needed, select_less(k, 0.5, 3.0, 2.0)]

    return [*loop(3, step, [y[0], 3.0], [a], last=1), a[0][0], a[2][0]]


TEXTS: Mapping[str, Callable[..., list]] = {
    text.__name__: text
    for text in (arithmetic, loops, early_end, backwards, backwards_past_the_end, until_an_entry)
}


def record_by_name(name: str) -> Program:
    return record(TEXTS[name], SHAPES, rolls=False)


def agree(program: Program, inputs: Mapping[str, Sequence[float]]) -> None:
    """Check that the bytecode gives the numbers of the program."""
    found = run(encode(program), inputs)["out"]
    wanted = np.ravel(program.on_numbers(inputs)["out"])
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", TEXTS)
def test_bytecode_gives_the_numbers_of_the_program(name: str) -> None:
    program = record_by_name(name)
    for seed in range(5):
        x, y = np.random.default_rng(seed).uniform(-1.5, 1.5, (2, 3)).tolist()
        agree(program, {"x": x, "y": y})


@pytest.mark.parametrize(
    ("how", "text", "shapes"),
    [
        ("skip_last", backwards_past_the_end, SHAPES),
        ("skip_idle", array_programs.ends_early, array_programs.SHAPES),
        ("skip_idle", until_an_entry, SHAPES),
    ],
    ids=["last step not read", "steps needed", "steps by an entry"],
)
def test_unneeded_steps_of_a_loop_are_skipped(
    how: str, text: Callable[..., list], shapes: Mapping[str, tuple[int, ...]]
) -> None:
    """A jump leads from the beginning of the loop to its end, with the loop's counter and number of
    steps."""
    code = np.reshape(encode(record(text, shapes, rolls=False)).code, (-1, WORDS))
    jumps = code[code[:, 0] == NUMBER[how]]
    assert len(jumps)
    for _, counter, to, steps, _ in jumps:
        again = code[to - 1]
        np.testing.assert_array_equal(again[:2], [NUMBER["again"], counter])
        assert how == "skip_idle" or steps == again[3]


def test_results_of_a_call_survive_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls of a routine write the same slots."""
    monkeypatch.setattr(recorder, "ROLL_FROM", 0)
    program = record(calls, SHAPES)
    called = [s.arguments[0] for s in program.statements if s.operation == "call"]
    assert len(called) == 3 and len(set(called)) == 1
    x, y = np.random.default_rng(0).uniform(-1.5, 1.5, (2, 3)).tolist()
    agree(program, {"x": x, "y": y})


def test_a_program_in_phases_is_encoded_phase_by_phase() -> None:
    """Single phases fuse other products than the whole program."""
    assert (
        phases(record_by_name("early_end")) is not None and phases(record_by_name("loops")) is None
    )
    assert NUMBER["end_some"] in encode(record_by_name("early_end")).code[::WORDS]


@pytest.mark.parametrize("robot", ["panda", "quadruped"])
@pytest.mark.parametrize("name", ["rnea", "crba", "aba", "jacobian", "rnea_derivatives"])
def test_bytecode_of_robot_algorithms_gives_their_numbers(robot: str, name: str) -> None:
    """Their programs have routines."""
    model = wd.load_robot(robot)
    describe = getattr(wd, name).describe
    wanted = [p for p in inspect.signature(describe).parameters if p in ("q", "v", "a", "tau")]
    draw = np.random.default_rng(3)
    arrays = [
        wd.random_configuration(model, 1, seed=1) if p == "q" else draw.normal(size=(1, model.nv))
        for p in wanted
    ]
    call = describe(model, *arrays)
    program = record_call(call, input_shapes(call), False)
    inputs: dict[str, Any] = {k: np.ravel(x).tolist() for k, x in call.arrays.items()}
    found = run(encode(program), inputs)
    for result, values in program.on_numbers(inputs).items():
        np.testing.assert_array_equal(found[result], np.ravel(values))


def test_slots_are_reused() -> None:
    """A program needs about as many slots as it has live values, not one for each statement."""
    model = wd.load_robot("panda")
    zeros = np.zeros((1, model.nv))
    call = wd.rnea.describe(model, zeros, zeros, zeros)  # type: ignore[attr-defined]
    program = record_call(call, input_shapes(call), True)
    assert encode(program).slots < len(program.statements) / 5


def test_values_for_the_next_instruction_stay_in_registers() -> None:
    """A chain of sums: only the last one has a slot."""
    program = record(lambda x: [x[0] * x[1] + x[2] * x[0] + x[1] * x[2]], {"x": (3,)})
    made = encode(program)
    assert NUMBER["fma_ssa"] in made.code[::WORDS]
    assert made.slots <= 6


@pytest.mark.parametrize("name", PROGRAMS)
def test_bytecode_of_each_kind_of_statement_gives_its_number(name: str) -> None:
    """The numbers, with a table among the inputs, are equal to the last bit."""
    program = record(PROGRAMS[name], TABLED, tables=("t",))
    draw = np.random.default_rng(2)
    table = draw.normal(size=TABLED["t"]).tolist()
    code = encode(program)
    for x in draw.uniform(0.05, 0.7, (5, 4)).tolist():
        found = run(code, {"x": x, "t": ()}, [table])["out"]
        assert found == program.on_numbers({"x": x, "t": table})["out"]


@pytest.mark.parametrize("seed", array_programs.SEEDS)
def test_bytecode_of_loops_on_arrays_gives_their_numbers(seed: int) -> None:
    """Numbers agree to the last bit, also if a loop ends early or a step is skipped."""
    program = record(array_programs.random_program(seed), array_programs.SHAPES)
    draw = np.random.default_rng(seed)
    for z in ([0.0, 1.0, 2.0], [3.0, 4.0, -1.0], [5.0, 2.0, 0.0]):
        agree(program, {"x": draw.uniform(-1.5, 1.5, 4).tolist(), "z": z})


@pytest.mark.parametrize("written, wanted", [(True, [(50, 6)]), (False, [(50, 4), (54, 6)])])
def test_copies_of_the_arrays_of_a_loop_are_next_to_each_other(
    written: bool, wanted: list[tuple[int, int]]
) -> None:
    """All arrays or only those that the loop writes: first slot and size of each copy."""
    copies: list[tuple[int, int]] = []
    to: Any = SimpleNamespace(add=lambda name, first, slot, size: copies.append((first, size)))
    arrays = [SimpleNamespace(size=size, is_written=size == 6) for size in (4, 6)]
    routine: Any = SimpleNamespace(arrays=arrays)
    region: Any = SimpleNamespace(arrays=[10, 20])
    _copy_arrays(to, routine, region, 50, written)
    assert copies == wanted
