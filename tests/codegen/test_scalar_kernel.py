"""The scalar kernel on the CPU: numbers of a single environment equal those of the oracle."""

from __future__ import annotations

import re

import numpy as np
import pytest
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import bind_single
from warpdyn.recording.program import record


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_environment_equals_the_oracle(dtype: type) -> None:
    """The arrays are read again at each launch."""
    model = by_name("panda").model
    s = states(model, 2)
    q, v, a = (x[:1].astype(dtype) for x in (s.q, s.v, s.a))
    tau = np.full_like(v, np.nan)
    run = bind_single(wd.rnea, model, q, v, a, out=tau)
    for k in range(2):
        q[:], v[:] = s.q[k], s.v[k]
        run()
        expected = wd.oracle(wd.rnea, model, *(x.astype(float) for x in (q, v, a)))
        assert error(tau, expected) < (1e-5 if dtype is np.float32 else 1e-12)


@wd.kernel
def everything(robot: wd.kernels.Robot, q: np.ndarray, x: (3,)):
    """Each function that is not written as in lanes, and loops, one of which ends early."""
    turned = robot.fk(q)[-1, :3, :3] @ np.sqrt(np.abs(x))
    parts = np.concatenate([np.exp(turned), np.floor(3.0 * x), np.arctan2(x, turned)])
    root = wd.kernels.repeat(
        40, lambda y: 0.5 * (y + 7.0 / y), x[0] + 5.0, until=lambda y: np.abs(y * y - 7.0) < 1e-9
    )
    half = wd.kernels.repeat(5, lambda y: 0.5 * y, x)
    return np.concatenate([parts, half, np.stack([root])])


def test_functions_and_loops_equal_the_oracle() -> None:
    model = by_name("panda").model
    q, x = states(model, 1).q, np.array([[-0.7, 1.3, 2.9]])
    result = bind_single(everything, model, q, x)()
    np.testing.assert_allclose(result, wd.oracle(everything, model, q, x), rtol=1e-12)
    assert np.isclose(result[0, -1] ** 2, 7.0)


@pytest.mark.parametrize("single", [True, False])
def test_a_kernel_undefines_its_macros(single: bool) -> None:
    """Its source is in one file with others."""
    program = record(lambda x: [x[0] * x[1]], {"x": (2,)})
    code = write(program, "ours", single, "scalar").code
    defined, undefined = (
        re.findall(rf"^#{word} (\w+)", code, re.M) for word in ("define", "undef")
    )
    assert defined == undefined and ("fmaf" if single else "fma") in defined
