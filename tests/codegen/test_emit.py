"""Statements as source: run as Python, they compute what was recorded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import emitted_python
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpdyn.algebra import scalar
from warpdyn.codegen import emit as chosen
from warpdyn.codegen.emit import BARRIER_AFTER, COMPARISONS, FORMS, Region, _routine, literal
from warpdyn.recording.number_operations import ON_NUMBERS
from warpdyn.recording.order import Statement
from warpdyn.recording.program import record

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(finite)
def test_a_literal_is_read_back_as_the_same_number(x: float) -> None:
    """This holds in either precision. In C++ the literal is not an integer."""
    assert float(literal(x, False)) == x
    single = np.float32(np.clip(x, -3e38, 3e38))
    text = literal(float(single), True)
    assert text.endswith("f") and np.float32(text[:-1]) == single
    assert any(c in literal(x, False) for c in ".e")


def test_every_operation_has_a_form() -> None:
    """Every operation on values can be written. Sine, cosine and choice are written elsewhere. Programs
    read a constant's value itself."""
    others = {"sin", "cos", "min", "max", "constant", *COMPARISONS}  # a look-up also needs a table
    assert FORMS.keys() | others == ON_NUMBERS.keys()


@pytest.mark.parametrize("operation", FORMS)
def test_a_form_computes_its_operation(operation: str) -> None:
    """The same expression is evaluated on numbers."""
    x = [1.0, 3.0, 2.0, 7.0] if operation == "uniform" else [1.75, 0.3, -2.25]  # counters are whole
    count = max(k + 1 for k in range(4) if f"{{{k}}}" in FORMS[operation])
    functions = {name: name for name in emitted_python.NAMED}
    text = FORMS[operation].format("x[0]", "x[1]", "x[2]", "x[3]", one="1.0", **functions)
    found = eval(text, {**emitted_python.NAMED, "x": x})
    assert found == ON_NUMBERS[operation](*x[:count])


def text(q: Any, v: Any) -> Any:
    """Every operation, one angle used twice, an output and its negative, and a constant."""
    s, c = scalar.sin(q[0]), scalar.cos(q[0])
    smaller = scalar.select_less(v[0], v[1], v[0], v[1])
    smaller = smaller + scalar.select_less_equal(v[2], v[2], 1.0, 0.0)
    size = scalar.sqrt(q[1] * q[1] + 2.0)
    long = scalar.exp(scalar.log(size) * 0.5) + scalar.floor(v[2]) / size
    turn = scalar.atan2(scalar.absolute(v[1]), c - q[2])
    return [s, -s, c * smaller, long, turn - s * s, 3.5, s]


PROGRAM = record(text, {"q": (3,), "v": (3,)})


@given(st.lists(st.floats(-3, 3), min_size=6, max_size=6))
def test_emitted_statements_compute_the_recorded_function(x: list[float]) -> None:
    """The text on numbers and its emitted statements give the same outputs."""
    q, v = x[:3], x[3:]
    out, _ = emitted_python.run(PROGRAM, [PROGRAM.statements], {"q": q, "v": v})
    wanted = text(q, v)
    np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-12)


def test_sine_and_cosine_share_a_statement_and_equal_outputs_a_store() -> None:
    """The negative of an output has its own store."""
    _, lines = emitted_python.run(PROGRAM, [PROGRAM.statements], {"q": [1.0] * 3, "v": [2.0] * 3})
    assert len([line for line in lines if "sin(" in line]) == 1
    stores = [line for line in lines if line.startswith("out[")]
    stored = [place for line in stores for place in line.split("; ")]
    assert len(stored) == sum(o.node is not None for o in PROGRAM.outputs)
    assert any(
        line.startswith("out[0]") and "out[6]" in line and "-" not in line for line in stores
    )
    assert any(line.startswith("out[1] = -") for line in stores)


def test_nan_and_infinity_are_written_as_divisions_by_zero() -> None:
    """These need no header. Zeros keep their sign."""
    nan, inf = float("nan"), float("inf")
    texts = {
        nan: ("(0.0f / 0)", "(0.0 / 0)"),
        inf: ("(1.0f / 0)", "(1.0 / 0)"),
        -inf: ("-(1.0f / 0)", "-(1.0 / 0)"),
        -0.0: ("0.0f", "0.0"),
        2.0: ("2.0f", "2.0"),
        1e20: ("1.00000002e+20f", "1e+20"),
        -0.1: ("-0.100000001f", "-0.10000000000000001"),
        1e39: ("(1.0f / 0)", "9.9999999999999994e+38"),
    }
    for x, (single, double) in texts.items():
        assert (literal(x, True), literal(x, False)) == (single, double)


def test_literals_are_rounded_once() -> None:
    """The number is halfway between two floats, where the digits of the double would be rounded
    up."""
    x = 1.0 + 2.0**-24
    assert np.float32(literal(x, True)[:-1]) == np.float32(x) == 1.0


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.BARRIER_AFTER == 32


def stores(operation: str, values: list[Any], **region: Any) -> list[str]:
    """C++ that passes these values to a routine, or calls it with them."""
    dialect: Any = SimpleNamespace(
        regions={"r": Region("run", "shared", "column", "out", **region)},
        memory={},
        constant=lambda x: f"{x!r}",
        broadcast=lambda text: f"all({text})",
    )
    program: Any = SimpleNamespace(graph=SimpleNamespace(nodes={0: ("frame", ())}))
    lent = [0] if operation == "call" else []
    return [*_routine(program, Statement(9, operation, ("r", *lent, *values)), dialect)]


def test_inputs_of_a_routine_are_stored_before_its_call() -> None:
    """Constants are broadcast. Values that are in place, and shared ones without a place, are not
    stored."""
    assert stores("frame", [3, 2.5, 4]) == [
        "(shared)[0] = t3;",
        "(shared)[1] = all(2.5);",
        "(shared)[2] = t4;",
    ]
    assert stores("frame", [3, None, 4, 5], places=(7, 6, None, 2)) == [
        "(shared)[7] = t3;",
        "(shared)[2] = t5;",
    ]
    assert stores("call", [3, None, 0.5], places=(7, 6, 5), more=", rest") == [
        "(column)[0] = t3;",
        "(column)[2] = all(0.5);",
        "run(shared, column, out, rest);",
    ]


def test_groups_of_stores_are_divided_by_barriers() -> None:
    """Each group has BARRIER_AFTER stores, less one in the first one."""
    lines = stores("frame", [*range(2 * BARRIER_AFTER + 1)], barrier="wait;")
    wanted = [f"(shared)[{k}] = t{k};" for k in range(2 * BARRIER_AFTER + 1)]
    for k in (2 * BARRIER_AFTER - 1, BARRIER_AFTER - 1):
        wanted.insert(k, "wait;")
    assert lines == wanted
    assert "wait;" not in stores("frame", [*range(BARRIER_AFTER - 1)], barrier="wait;")
    assert len(stores("frame", [*range(BARRIER_AFTER)])) == BARRIER_AFTER
