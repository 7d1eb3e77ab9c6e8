"""Calls of an arm's `rnea` in the forms that users write, and calls that are refused each time. The
tests of each way to repeat a call share them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from at_once import at_once

import warpdyn as wd

ARM = wd.load_robot("ur5e")


def draw_states(count: int, seed: int, dtype: Any = np.float32) -> list[np.ndarray]:
    """Random q, v and a of the arm."""
    draw = np.random.default_rng(seed)
    return [draw.uniform(-1.0, 1.0, (count, 6)).astype(dtype) for _ in range(3)]


FORMS: dict[str, Any] = {
    "rows": lambda f, x: f(ARM, *x),
    "by name": lambda f, x: f(ARM, x[0], v=x[1], a=x[2]),
    "columns": lambda f, x: f(ARM, *(np.asfortranarray(y) for y in x)),
    "every other": lambda f, x: f(ARM, *(np.repeat(y, 2, 0)[::2] for y in x)),
    "one robot": lambda f, x: f(ARM, *(y[0] for y in x)),
    "trajectories": lambda f, x: f(ARM, *(y.reshape(2, -1, 6) for y in x)),
    "one row for all": lambda f, x: f(ARM, x[0], x[1][0], x[2]),
    "at rest": lambda f, x: f(ARM, x[0], None, x[2]),
    "its gravity each": lambda f, x: f(ARM, *x, gravity=x[0][:, :3]),
    "out": lambda f, x: f(ARM, *x, out=np.empty_like(x[0])),
    "out of columns": lambda f, x: f(ARM, *x, out=np.empty_like(x[0], order="F")),
}
"""Calls of a function with q, v and a."""


def refused_each_time() -> None:
    """Check that a read-only `out`, an `out` over an input, and unusable memory are refused each
    time."""
    q, v, a = draw_states(4, 8)
    for _ in range(4):
        out = np.empty_like(q)
        assert wd.rnea(ARM, q, v, a, out=out) is out
        locked = np.empty_like(q)
        locked.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            wd.rnea(ARM, q, v, a, out=locked)
        with pytest.raises(ValueError, match="shares memory with"):
            wd.rnea(ARM, q, v, a, out=v)
        both = np.empty((5, 6), np.float32)
        both[:4] = q
        with pytest.raises(ValueError, match="shares memory with"):
            wd.rnea(ARM, both[:4], v, a, out=both[1:])
        odd = np.empty(q.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(q.shape)
        odd[...] = q
        with pytest.raises(ValueError, match="aligned"):
            wd.rnea(ARM, odd, v, a)
        with pytest.raises(TypeError, match="out"):
            wd.rnea(ARM, q, v, a, out=out.tolist())
        with pytest.raises(ValueError, match="v must be"):
            wd.rnea(ARM, q, v[:, :5], a)


def in_turns_within_one_array() -> np.ndarray:
    """Check that interleaved rows of q and of the result give the right result. A result in the
    rows of q is refused. Returns the array that holds both."""
    q, v, a = draw_states(4, 9)
    both = np.empty((8, 6), np.float32)
    both[::2] = q
    for _ in range(4):
        wd.rnea(ARM, both[::2], v, a, out=both[1::2])
        assert np.array_equal(both[1::2], wd.rnea(ARM, q, v, a))
    with pytest.raises(ValueError, match="shares memory"):
        wd.rnea(ARM, both[::2], v, a, out=both[::2])
    return both


def its_own_result(found: Any, wanted: np.ndarray, before: np.ndarray, kept: np.ndarray) -> None:
    """Check that a result is as wanted, in new memory of the same form, and that a kept result is
    unchanged."""
    assert found is not before and found.shape == wanted.shape and found.dtype == wanted.dtype
    assert found.strides == wanted.strides
    assert np.array_equal(found, wanted) and not np.array_equal(found, kept)
    assert np.array_equal(before, kept)


def each_thread_its_own(given: list[list[np.ndarray]], wanted: list[np.ndarray]) -> None:
    """Check that threads that call at the same time each get the result of their own arrays."""
    wrong: list[int] = []

    def work(k: int) -> None:
        wrong.extend(
            k for _ in range(200) if not np.array_equal(wd.rnea(ARM, *given[k]), wanted[k])
        )

    at_once(work, len(given))
    assert not wrong
