"""The implicit rule: derivatives of forward dynamics by those of inverse dynamics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.execution.request.call import derive, input_shapes
from warpdyn.execution.request.evaluate import on_numbers, record_call, solved_equation
from warpdyn.execution.request.implicit_rule import solution_jvp

MODEL = wd.load_robot("panda")


def test_multipliers_are_the_derivative_by_the_right_side() -> None:
    """d qdd / d tau = M⁻¹, which is symmetric. w becomes M⁻¹ w, and a tangent of tau likewise."""
    s = states(MODEL, 1)
    q, v, tau = s.q[0], s.v[0], s.a[0]
    qdd, M = wd.oracle(wd.aba, MODEL, q, v, tau), wd.oracle(wd.crba, MODEL, q)
    call = wd.aba.describe(MODEL, q, v, tau)
    w = np.arange(1.0, MODEL.nv + 1)
    back = derive(call, "vjp", ("tau",), {"qdd" if "qdd" in call.results else "out": w}, qdd)
    arrays = {name: np.asarray(x).tolist() for name, x in back.arrays.items()}
    found = on_numbers(back)(arrays)["tau"]
    assert np.allclose(M @ np.array(found), w, atol=1e-9)
    # No recording of the recursion: the program is that of the residual and the matrix.
    ours = record_call(back, input_shapes(back), None).operations
    assert ours < 2.5 * record_call(call, input_shapes(call), None).operations
    forward = derive(call, "jvp", ("tau",), {"tau": w}, qdd)
    inputs = {name: np.asarray(x).tolist() for name, x in forward.arrays.items()}
    bare = replace(derive(call, "jvp", ("tau",), {"tau": w}, qdd), derivatives=())
    equation = solved_equation(bare, call.solves, inputs, None)
    moved = solution_jvp(equation, ("tau",), {"tau": w.tolist()})
    assert np.allclose(M @ np.array(moved), w, atol=1e-9)


@pytest.mark.parametrize("name", ["aba", "solve"])
@pytest.mark.parametrize("representation", ["local", "world", "mixed"])
def test_tangents_hold_in_each_representation_of_the_base_velocity(
    name: str, representation: Any
) -> None:
    """The solution has the axes of the call's result. The tangents are differences of the solution."""
    model = wd.load_robot("quadruped", base_velocity=representation)
    s = states(model, 1)
    given = {"aba": (s.q[0], s.v[0], s.tau[0]), "solve": (s.q[0], s.tau[0])}[name]
    function = getattr(wd, name)
    solution = wd.oracle(function, model, *given)
    dq = np.linspace(-1.0, 1.0, model.nq)
    dq[3:7] = 0.0  # the quaternion keeps its length
    call = derive(function.describe(model, *given), "jvp", ("q",), {"q": dq}, solution)
    found = on_numbers(call)({name: np.asarray(x).tolist() for name, x in call.arrays.items()})
    ahead, behind = (
        wd.oracle(function, model, given[0] + step * dq, *given[1:]) for step in (1e-6, -1e-6)
    )
    wanted = (ahead - behind) / 2e-6
    np.testing.assert_allclose(found["out"], wanted, rtol=0, atol=1e-6 * np.abs(wanted).max())
