"""Portable programs give the numbers of the recorded program from a list that JSON can store."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.rl.deployment.portable_program import (
    _add_statement,
    formulas,
    input_entries,
    portable,
    run_portable,
    table_columns,
)
from warpdyn.rl.task import TaskError
from warpdyn.user_kernels import random_numbers
from warpdyn.user_kernels.own_kernel import OwnKernel


def record_function(function: Any, **shapes: tuple[int, ...]) -> Any:
    """The program of a function of arrays."""
    from warpdyn.execution.request.call import input_shapes
    from warpdyn.execution.request.evaluate import record_call

    kernel = OwnKernel.of_shapes("portable", shapes, lambda robot, fields: function(**fields))
    call = kernel.describe(wd.load_robot("cartpole"), *map(np.zeros, shapes.values()))
    return record_call(call, input_shapes(call), None)


def all_operations(x: Any, y: Any) -> dict[str, Any]:
    root = np.sqrt(x[0] ** 2 + 1.0)
    return {
        "sums": np.stack([x[0] * y[0] + x[1], x[0] * y[1] - x[1], x[1] - x[0] * y[0], -x[2]]),
        "others": np.stack(
            [
                np.arctan2(x[0], y[0]) + np.abs(x[1]),
                np.exp(-(y[1] ** 2)) / root,
                np.log(root) + np.floor(3.0 * x[2]),
                np.where(x[0] < y[0], np.sin(x[1]), np.cos(x[1])),
                np.where(x[0] <= y[0], 1.0, np.minimum(x[1], np.maximum(x[2], 0.1))),
            ]
        ),
        "constant": np.ones(2),
    }


def test_a_portable_program_gives_the_numbers_of_the_function() -> None:
    """The program is written and read as JSON first. Results and constants may be negative."""
    program = record_function(all_operations, x=(3,), y=(2,))
    made = json.loads(json.dumps(portable(program, ["sums", "others", "constant"])))
    draw = np.random.default_rng(0)
    for _ in range(20):
        x, y = draw.normal(size=3), draw.normal(size=2)
        found = run_portable(made, {"x": x, "y": y})
        for name, wanted in all_operations(x, y).items():
            np.testing.assert_allclose(found[name], wanted, rtol=1e-12)
    assert input_entries(made) == {f"x[{k}]" for k in range(3)} | {"y[0]", "y[1]"}


def test_only_steps_that_the_results_need_are_kept() -> None:
    program = record_function(all_operations, x=(3,), y=(2,))
    assert len(portable(program, ["constant"])["steps"]) == 0
    assert len(portable(program, ["sums"])["steps"]) < len(portable(program, ["others"])["steps"])


def test_formulas_use_numpys_notation() -> None:
    """Evaluated, they give the same numbers. Long formulas are left out."""
    program = portable(record_function(all_operations, x=(3,), y=(2,)), ["sums", "others"])
    scope = {
        n: getattr(np, n) for n in ("sqrt", "sin", "cos", "exp", "log", "floor", "abs", "where")
    }
    scope |= {"atan2": np.arctan2, "min": min, "max": max}
    x, y = np.array([0.3, -0.2, 0.5]), np.array([0.7, 0.1])
    for name, wanted in all_operations(x, y).items():
        if name != "constant":
            found = [eval(text, scope, {"x": x, "y": y}) for text in formulas(program, name)]
            np.testing.assert_allclose(found, wanted, rtol=1e-5)

    def long(x: Any) -> dict[str, Any]:
        for _ in range(8):
            x = np.sin(x) + x
        return {"long": x}

    assert formulas(portable(record_function(long, x=(1,)), ["long"]), "long") == [""]
    simple = portable(record_function(lambda x: {"a": 0.05 * x - 1.0}, x=(1,)), ["a"])
    assert formulas(simple, "a") == ["0.05 * x[0] - 1"]


def test_random_draws_are_refused() -> None:
    def draw_uniform(x: Any) -> dict[str, Any]:
        return {"a": random_numbers.uniform(random_numbers.key(0, 0, x[0]), ())}

    with pytest.raises(TaskError, match="it needs 'uniform', which has no portable form"):
        portable(record_function(draw_uniform, x=(1,)), ["a"])


def test_a_portable_program_looks_up_tables_by_name() -> None:
    """An index beyond the ends uses the nearest row.

    The columns that are read are known, unless they depend on an input.
    """
    from warpdyn.execution.request.call import input_shapes
    from warpdyn.execution.request.evaluate import record_call
    from warpdyn.user_kernels.signature import Table

    rows = np.arange(12.0).reshape(4, 3)

    def programs(column: Any) -> Any:
        def text(robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
            x = fields["x"]
            return {"found": fields["rows"].look(x[0], column(x)) + x[1]}

        kernel = OwnKernel.of_shapes("portable", {"x": (2,), "rows": Table((4, 3))}, text)
        call = kernel.describe(wd.load_robot("cartpole"), np.zeros(2), rows)
        return json.loads(
            json.dumps(portable(record_call(call, input_shapes(call), None), ["found"]))
        )

    fixed, free = programs(lambda x: np.asarray(2.0) + 0.0 * x[0]), programs(lambda x: x[1])
    for row, wanted in ((-3.0, 2.0), (1.0, 5.0), (9.0, 11.0)):
        found = run_portable(fixed, {"x": [row, 0.5]}, {"rows": rows.tolist()})
        assert found["found"] == pytest.approx([wanted + 0.5])
    assert run_portable(free, {"x": [2.0, 1.0]}, {"rows": rows})["found"] == pytest.approx([8.0])
    assert table_columns([free]) == {"rows": []}
    assert input_entries(free) == {"x[0]", "x[1]"}
    assert formulas(free, "found") == ["x[1] + rows[x[0], x[1]]"]


@pytest.mark.parametrize(
    ("operation", "operands", "value"),
    [
        ("fma", (2.0, 3.0, 5.0), 11.0),
        ("fms", (2.0, 3.0, 5.0), 1.0),
        ("fnma", (2.0, 3.0, 5.0), -1.0),
        ("rcp", (4.0,), 0.25),
        ("rsqrt", (4.0,), 0.5),
        ("sub", (2.0, 3.0), -1.0),
    ],
)
def test_fused_operations_become_plain_steps(
    operation: str, operands: tuple[float, ...], value: float
) -> None:
    """Each step is one operation."""
    known: dict[str, float] = {}
    plain = {"mul": np.multiply, "add": np.add, "sub": np.subtract, "div": np.divide}

    def add(name: str, *parts: Any) -> str:
        function: Any = {**plain, "sqrt": np.sqrt}[name]
        known[f"x{len(known)}"] = float(function(*(known.get(x, x) for x in parts)))
        return f"x{len(known) - 1}"

    assert known[_add_statement(add, operation, list(operands))] == value
