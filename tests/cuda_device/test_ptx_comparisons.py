"""setp, selp and predicate logic compared with Python."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from cuda_device.ptx_kernels import NUMPY_TYPES, compute, pairs

COMPARISONS = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
ONE_OR_ZERO = "selp.b32 %y, 1, 0, %p0;"


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str, kind: str) -> None:
    a, b = pairs(kind)
    b[::7] = a[::7]
    found = compute(f"setp.{name}.{kind} %p0, %x0, %x1; {ONE_OR_ZERO}", "u32", (kind, a), (kind, b))
    assert np.array_equal(found, COMPARISONS[name](a, b))


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_comparisons_with_nan(kind: str) -> None:
    """No comparison with NaN holds, except `nan` and those that end with u."""
    numbers = np.array([0.0, 1.0, np.nan], dtype=NUMPY_TYPES[kind])
    a, b = (x.ravel() for x in np.meshgrid(numbers, numbers))
    unordered = np.isnan(a) | np.isnan(b)
    expected = {"num": ~unordered, "nan": unordered}
    for name, compare in COMPARISONS.items():
        holds = compare(a, b) & ~unordered
        expected |= {name: holds, f"{name}u": holds | unordered}
    for name, holds in expected.items():
        found = compute(
            f"setp.{name}.{kind} %p0, %x0, %x1; {ONE_OR_ZERO}", "u32", (kind, a), (kind, b)
        )
        assert np.array_equal(found, holds), name


@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_comparison_combined_with_a_predicate(name: str) -> None:
    """The predicate may be negated, and there may be a second result."""
    a, b = pairs("s32")
    combine = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[name]
    body = f"""setp.gt.s32 %p1, %x0, 7;
        setp.lt.{name}.s32 %p0|%p2, %x0, %x1, !%p1;
        selp.b32 %y, 1, 0, %p0;
        @%p2 or.b32 %y, %y, 2;"""
    found = compute(body, "u32", ("s32", a), ("s32", b))
    first, second = combine(a < b, a <= 7), combine(a >= b, a <= 7)
    assert np.array_equal(found, first + 2 * second.astype(int))


def test_logic_of_predicates() -> None:
    a, b = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    body = """setp.ne.s32 %p0, %x0, 0;
        setp.ne.s32 %p1, %x1, 0;
        mov.u32 %y, 0;
        and.pred %p2, %p0, %p1;
        @%p2 or.b32 %y, %y, 1;
        or.pred %p2, %p0, %p1;
        @%p2 or.b32 %y, %y, 2;
        xor.pred %p2, %p0, %p1;
        @%p2 or.b32 %y, %y, 4;
        not.pred %p2, %p0;
        @%p2 or.b32 %y, %y, 8;
        mov.pred %p2, %p1;
        @%p2 or.b32 %y, %y, 16;
        mov.pred %p2, -1;
        @%p2 or.b32 %y, %y, 32;"""
    found = compute(body, "u32", ("s32", a), ("s32", b))
    expected = (a & b) + 2 * (a | b) + 4 * (a ^ b) + 8 * (1 - a) + 16 * b + 32
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("kind", ["b16", "b32", "u64", "s32", "f32", "f64"])
def test_selection(kind: str) -> None:
    a, b = pairs(kind)
    chosen = np.arange(a.size) % 3 == 0
    body = f"setp.ne.u32 %p0, %x2, 0; selp.{kind} %y, %x0, %x1, %p0;"
    found = compute(body, kind, (kind, a), (kind, b), ("u32", chosen))
    assert np.array_equal(found, np.where(chosen, a, b))
