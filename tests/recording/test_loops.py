"""A recorded program that is repeated in its kernel: Newton's square root, as many steps as a number needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.scalar import absolute, select_less
from warpdyn.codegen.source import write
from warpdyn.execution.batched import batched
from warpdyn.execution.call import Call, Repeat
from warpdyn.execution.evaluate import record_call

MOST = 40


def step(tree: Any, state: list, x: list, scale: list) -> list:
    """Done, steps, root."""
    _, steps, y = state
    y = select_less(steps, 0.5, 1.0, y)
    root = 0.5 * (y + x[0] / y)
    return [select_less(absolute(root * root - x[0]), 1e-5 * x[0], 1.0, 0.0), steps + 1.0, root]


def finish(tree: Any, state: list, x: list, scale: list) -> tuple:
    done, steps, root = state
    return [[root * s, 7.0] for s in scale], done, steps


@batched
def roots(model: wd.Model, x: Any, scale: Any, *, out: Any = None) -> Any:
    loop = Repeat(step, 3, MOST)
    shapes = {"x": (1,), "scale": (2,)}
    names = ("roots", "done", "steps")
    return Call(
        "roots",
        model,
        (finish,),
        {"x": x, "scale": scale},
        out=out,
        results=names,
        shapes=shapes,
        loop=loop,
        shared=("scale",),
    )


MODEL = wd.load_robot("cartpole")


def numbers(count: int, dtype: Any) -> np.ndarray:
    """From 1e-6 to 1e6, in no order, one of them not a number."""
    x = 10.0 ** np.random.default_rng(0).uniform(-6, 6, (count, 1))
    x[count // 2] = np.nan
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [0, 1, 7, 16, 17, 129])
def test_each_environment_takes_its_own_steps(count: int, dtype: Any) -> None:
    """Root, flag and number of steps are those of the text run on numbers; NaN goes on to the last step."""
    x, scale = numbers(count + 2, dtype)[:count], np.array([1.0, -2.0], dtype)
    found, done, steps = roots(MODEL, x, scale)
    assert found.shape == (count, 2, 2) and done.shape == steps.shape == (count,)
    if count:
        wanted = wd.oracle(roots, MODEL, x, scale)
        whole = ~np.isnan(x[:, 0])
        for a, b in zip((found, done, steps), wanted, strict=True):
            np.testing.assert_allclose(
                a[whole], b[whole], rtol=1e-5 if dtype is np.float32 else 1e-12
            )
        assert (
            (done == whole).all() and (steps[~whole] == MOST).all() and (found[..., 1] == 7).all()
        )
        assert np.isnan(found[~whole, :, 0]).all()


def test_a_result_depends_on_neither_place_nor_batch() -> None:
    """Bit by bit, whatever stands beside it, in any memory layout, and when bound."""
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


def test_a_loop_has_no_derivatives() -> None:
    with pytest.raises(TypeError, match="has no derivatives"):
        wd.derivatives(roots, MODEL, np.ones((1, 1)), np.ones(2), wrt="x")


def test_the_text_says_what_a_kernel_needs() -> None:
    """The state is none of its arrays."""
    call = roots.describe(MODEL, np.ones((1, 1)), np.ones(2))
    text = write(record_call(call, {"x": (1,), "scale": (2,)}, True), "roots", True, "cpu")
    assert list(text.inputs) == ["x", "scale"] and list(text.results) == ["roots", "done", "steps"]
