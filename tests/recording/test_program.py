"""Recorded programs: what is kept, in what order, and listings as executable text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from programs import evaluate
from robots import Robot, random_trees
from states import error, states

import warpdyn as wd
from warpdyn.algebra.scalar import minimum, sin, sqrt
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.order import operands, values_alive
from warpdyn.recording.program import Program, record

ROUND_OFF = 1e-12
"""Relative to the largest entry: the same operations in another order."""


def programs(robot: Robot) -> dict[str, tuple[Program, dict[str, np.ndarray], np.ndarray]]:
    """Each algorithm's program in float64, inputs of one robot, and the oracle's result."""
    model, s = robot.model, states(robot.model, 1)
    q, v, a = s.q[0], s.v[0], s.a[0]
    jobs = {
        "rnea": (
            wd.rnea.describe(model, q, v, a),
            {"q": q, "v": v, "a": a},
            wd.oracle(wd.rnea, model, q, v, a),
        ),
        "crba": (wd.crba.describe(model, q), {"q": q}, wd.oracle(wd.crba, model, q)),
        "fk": (wd.fk.describe(model, q), {"q": q}, wd.oracle(wd.fk, model, q)),
    }
    return {
        name: (
            record_call(call, {key: x.shape for key, x in inputs.items()}, False),
            inputs,
            wanted,
        )
        for name, (call, inputs, wanted) in jobs.items()
    }


def check(program: Program) -> None:
    """Every value is defined once, before its use, and is used or an output.

    Each output is stored once.
    """
    defined: set[int] = set()
    used: set[int] = set()
    for statement in program.statements:
        needed = set(operands(statement))
        assert needed <= defined, statement
        assert statement.target not in defined
        defined.add(statement.target)
        used |= needed
    outputs = {o.node for o in program.outputs if o.node is not None}
    assert outputs <= defined and defined <= used | outputs
    stored = sorted(k for entries in program.stores.values() for k in entries)
    assert stored == [k for k, o in enumerate(program.outputs) if o.node is not None]


def test_the_listing_of_a_program_gives_the_oracles_numbers(robot: Robot) -> None:
    """Executed line by line as Python. Its order is valid and no statement is unused."""
    for program, inputs, wanted in programs(robot).values():
        check(program)
        assert program.results == {"out": wanted.shape}
        assert error(np.reshape(evaluate(program, inputs), wanted.shape), wanted) <= ROUND_OFF


@settings(max_examples=25)
@given(random_trees())
def test_listings_of_random_trees_give_the_oracles_numbers(robot: Robot) -> None:
    """They have constants of every kind."""
    test_the_listing_of_a_program_gives_the_oracles_numbers(robot)


def test_unused_values_are_removed() -> None:
    """Values that no output needs are not in the program, inputs included."""

    def text(x: list) -> list:
        _ = sin(x[0]) * x[1] + sqrt(x[2])
        return [x[3] * x[3]]

    program = record(text, {"x": (4,)})
    assert [s.operation for s in program.statements] == ["input", "mul"]
    assert program.operations == 1


def test_a_product_used_once_is_fused_with_its_sum() -> None:
    """a b + c, a b - c and c - a b are one statement each with one rounding.

    A product used twice is separate.
    """

    def text(x: list) -> list:
        a, b, c, d = x
        first, later = c * d, sin(a)
        return [a * b + c, first - later, b - a * d]

    program = record(text, {"x": (4,)})
    assert sorted(
        s.operation for s in program.statements if s.operation not in ("input", "sin")
    ) == [
        "fma",
        "fms",
        "fnma",
    ]
    assert evaluate(program, {"x": [2.0, 3.0, 5.0, 7.0]}) == [11.0, 35.0 - math.sin(2.0), -11.0]
    assert program.operations == 6
    twice = record(lambda x: [x[0] * x[1] + x[2], x[0] * x[1] - x[3]], {"x": (4,)})
    assert sorted(s.operation for s in twice.statements if s.operation != "input") == [
        "add",
        "mul",
        "sub",
    ]
    shown = record(lambda x: [x[0] * x[1] + x[2], x[0] * x[1]], {"x": (3,)})
    assert evaluate(shown, {"x": [2.0, 3.0, 5.0]}) == [11.0, 6.0]
    square = record(lambda x: [x[0] * x[0] + x[0] * x[0] * x[1]], {"x": (2,)})
    assert evaluate(square, {"x": [3.0, 2.0]}) == [27.0]
    both = record(lambda x: [x[0] * x[1] + x[2] * x[3]], {"x": (4,)})
    assert sorted(s.operation for s in both.statements if s.operation != "input") == ["fma", "mul"]


def test_outputs_can_be_of_every_kind() -> None:
    """Constants, an input, a value and its negative, the same value twice, nested shapes."""

    def text(x: list) -> list:
        s = x[0] + x[1]
        return [[s, -s, 1.0], [0.0, x[0], -x[0]], [s, -0.5, minimum(s, x[0])]]

    program = record(text, {"x": (2,)})
    assert program.results == {"out": (3, 3)}
    assert evaluate(program, {"x": [1.5, -4.0]}) == [
        -2.5,
        2.5,
        1.0,
        0.0,
        1.5,
        -1.5,
        -2.5,
        -0.5,
        -2.5,
    ]
    check(program)


def test_inputs_can_have_one_or_two_dimensions() -> None:
    """They are passed to the function as nested lists."""

    def text(q: list, f: list) -> list:
        assert len(f) == 2 and len(f[0]) == 3
        return [q[0] * f[0][2] + f[1][0]]

    assert evaluate(
        record(text, {"q": (1,), "f": (2, 3)}), {"q": [2.0], "f": [[1, 2, 3], [4, 5, 6]]}
    ) == [10.0]


def test_a_program_can_have_empty_results() -> None:
    """A robot without joints has a program without statements."""
    program = record(lambda q: [], {"q": (0,)})
    assert program.outputs == () and program.statements == [] and program.results == {"out": (0,)}


@pytest.mark.parametrize("single", [True, False])
def test_recording_is_deterministic(single: bool) -> None:
    """The same call gives the same program, whatever was recorded before."""
    from robots import by_name

    model = by_name("quadruped_floating").model
    call = wd.crba.describe(model, model.neutral)
    first = record_call(call, {"q": (model.nq,)}, single).listing()
    record_call(wd.fk.describe(model, model.neutral), {"q": (model.nq,)}, single)
    assert record_call(call, {"q": (model.nq,)}, single).listing() == first


LENGTHS = [
    ("panda", "rnea", 741, 576, 63, 6),
    ("panda", "aba", 1350, 999, 61, 6),
    ("panda", "crba", 404, 327, 29, 6),
    ("panda", "fk", 160, 132, 18, 7),
    ("panda", "jacobian", 214, 173, 40, 7),
    ("panda", "rnea_derivatives", 4283, 3201, 172, 6),
    ("panda", "mass_matrix_inverse", 747, 538, 39, 6),
    ("panda", "com", 65, 73, 7, 7),
    ("quadruped", "rnea", 1477, 1135, 115, 12),
    ("quadruped", "aba", 3528, 2479, 139, 12),
    ("quadruped", "crba", 667, 535, 42, 12),
    ("quadruped", "fk", 114, 100, 16, 3),
    ("quadruped", "jacobian", 171, 142, 33, 3),
    ("quadruped", "rnea_derivatives", 6622, 4948, 194, 12),
    ("quadruped", "mass_matrix_inverse", 3775, 2435, 145, 12),
    ("quadruped", "com", 149, 159, 16, 12),
]
"""Robot and function; operations, statements, values alive at once, and angles in float32."""


@pytest.mark.parametrize(
    ("robot", "function", "operations", "statements", "alive", "angles"), LENGTHS
)
def test_programs_have_their_recorded_lengths(
    robot: str, function: str, operations: int, statements: int, alive: int, angles: int
) -> None:
    """Another algorithm or order gives the same numbers with a longer program.

    Shorter ones are to be recorded here.
    """
    model = wd.load_robot(robot)
    options = {"frame": model.link_names[-1]} if function in ("fk", "jacobian") else {}
    numbers = np.zeros((1, model.nq)), *[np.zeros((1, model.nv))] * 2
    count = 3 if function in ("rnea", "aba", "rnea_derivatives") else 1
    call = describe_call(getattr(wd, function), (model, *numbers[:count]), options)
    program = record_call(call, input_shapes(call), True)
    found = program.operations, len(program.statements), len(program.angles)
    assert found == (operations, statements, angles)
    assert values_alive(program.statements) == alive


@pytest.mark.parametrize("function", ["integrate", "difference"])
def test_angles_are_computed_by_the_programs_own_statements(function: str) -> None:
    """A target that computes angles first, without fused products, would give other bits than the
    interpreter.
    """
    model = wd.load_robot("quadruped")
    q, v = np.zeros((1, model.nq)), np.zeros((1, model.nv))
    given = (q, v) if function == "integrate" else (q, q)
    call = describe_call(getattr(wd, function), (model, *given), {})
    program = record_call(call, input_shapes(call), True)
    assert any(s.operation == "fma" for s in program.angle_statements)
    statements = {s.target: s for s in program.statements}
    for statement in program.angle_statements:
        assert statements[statement.target] == statement
