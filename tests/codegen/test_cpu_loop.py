"""A program with a loop that ends on a condition: Newton's square root, with the number of steps
that each number needs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.scalar import Scalar, maximum, minimum, repeat, select_less
from warpdyn.codegen.targets import write
from warpdyn.execution.batched import batched
from warpdyn.execution.request.call import Call
from warpdyn.execution.request.evaluate import record_call
from warpdyn.execution.request.inputs import ArgumentSpec
from warpdyn.recording.program import EXPECTED_STEPS

MODEL = wd.load_robot("cartpole")
MOST = 40


def root(x: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Newton's square root: the root, whether it is accurate, and the number of steps."""

    def step(state: list) -> list:
        _, steps, y = state
        y = 0.5 * (y + x / y)
        near = select_less(maximum(y * y - x, x - y * y), 1e-5 * x, 1.0, 0.0)
        return [near, steps + 1.0, y]

    done, steps, y = repeat(step, [0.0, 0.0, 1.0], MOST, until=lambda state: state[0])
    return y, done, steps


def roots_text(tree: Any, x: list, scale: list) -> tuple:
    y, done, steps = root(x[0])
    return [[y * s, 7.0] for s in scale], done, steps


def two_roots_text(tree: Any, x: list, scale: list) -> tuple:
    """The root of a root: two loops, each of which ends on its own condition."""
    y, first, _ = root(x[0])
    z, second, steps = root(y)
    return [[z * s, 7.0] for s in scale], minimum(first, second), steps


def roots_of(text: Callable[..., tuple]) -> Callable[..., Any]:
    @batched
    def roots(model: wd.Model, x: Any, scale: Any, *, out: Any = None) -> Any:
        return Call(
            text.__name__,
            model,
            (text,),
            {"x": x, "scale": scale},
            out=out,
            results=("roots", "done", "steps"),
            shapes={"x": (1,), "scale": (2,)},
            repeats=True,
            arguments={"scale": ArgumentSpec(plain=True)},
        )

    return roots


roots = roots_of(roots_text)


def numbers(count: int, dtype: Any) -> np.ndarray:
    """Numbers from 1e-6 to 1e6 in random order, and one NaN."""
    x = 10.0 ** np.random.default_rng(0).uniform(-6, 6, (count, 1))
    x[count // 2] = np.nan
    return x.astype(dtype)


@pytest.mark.parametrize("text", [roots_text, two_roots_text])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 7, 16, 17, 129])
def test_each_environment_takes_its_own_steps(text: Any, count: int, dtype: Any) -> None:
    """Root, flag and number of steps equal those of the algorithm on numbers. NaN runs to the last
    step."""
    run = roots_of(text)
    x, scale = numbers(count + 2, dtype)[:count], np.array([1.0, -2.0], dtype)
    found, done, steps = run(MODEL, x, scale)
    assert found.shape == (count, 2, 2) and done.shape == steps.shape == (count,)
    if count:
        wanted = wd.oracle(run, MODEL, x, scale)
        whole = ~np.isnan(x[:, 0])
        for a, b in zip((found, done), wanted[:2], strict=True):
            np.testing.assert_allclose(
                a[whole], b[whole], rtol=1e-5 if dtype is np.float32 else 1e-12
            )
        assert (np.abs(steps - wanted[2])[whole] <= float(dtype is np.float32)).all()  # it rounds
        assert (
            (done == whole).all() and (steps[~whole] == MOST).all() and (found[..., 1] == 7).all()
        )
        assert np.isnan(found[~whole, :, 0]).all()


def test_a_result_does_not_depend_on_its_place_in_the_batch() -> None:
    """Bit by bit, with any neighbours, in any memory layout, and in bound calls."""
    x, scale = numbers(100, np.float32), np.array([1.0, -2.0], np.float32)
    whole = roots(MODEL, x, scale)
    order = np.random.default_rng(1).permutation(100)
    moved = roots(MODEL, np.asfortranarray(x[order]), np.broadcast_to(scale, (100, 2)))
    for a, b in zip(whole, moved, strict=True):
        assert a[order].tobytes() == np.ascontiguousarray(b).tobytes()
    for e in (0, 50, 99):
        one = roots(MODEL, x[e], scale)
        assert all(a[e].tobytes() == b.tobytes() for a, b in zip(whole, one, strict=True))
    run = wd.bind(roots, MODEL, x, scale)
    x[:] = 4.0
    assert np.abs(run()[0][:, 0, 0] - 2.0).max() < 1e-5


def test_a_loop_that_ends_on_a_condition_has_no_derivatives() -> None:
    with pytest.raises(TypeError, match="has no derivatives"):
        wd.derivatives(roots, MODEL, np.ones((1, 1)), np.ones(2), wrt="x")


def test_the_source_describes_its_arrays_and_operations() -> None:
    """The state of the loop is not among its arrays. Of many steps, the expected number counts."""
    call = roots.describe(MODEL, np.ones((1, 1)), np.ones(2))
    program = record_call(call, {"x": (1,), "scale": (2,)}, True)
    (step,) = program.routines.values()
    for target in ("cpu", "cuda"):
        source = write(program, "roots", True, target)
        assert list(source.inputs) == ["x", "scale"] and source.loops
        assert list(source.results) == ["roots", "done", "steps"]
        assert source.operations >= min(MOST, EXPECTED_STEPS) * step.operations


def test_the_epilogue_reads_the_inputs_of_the_right_environments() -> None:
    """Environments that end out of order are written with the inputs of their place, not of their
    lane."""
    count = 50
    x, scale = numbers(count, np.float64), np.random.default_rng(2).normal(size=(count, 2))
    found, _, steps = roots(MODEL, x, scale)
    assert len(np.unique(steps)) > 5
    whole = ~np.isnan(x[:, 0])
    root = np.sqrt(x[whole]) * scale[whole]
    np.testing.assert_allclose(found[whole, :, 0], root, rtol=1e-4)
