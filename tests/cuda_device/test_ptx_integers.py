"""Integer instructions compared with Python's integers: arithmetic, products of twice the width,
carries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from cuda_device.ptx_kernels import NUMPY_TYPES, compute, pairs, some_numbers

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")


def wrap(numbers: list[int], kind: str) -> np.ndarray:
    """Python integers in the bits of the type."""
    bits = 8 * np.dtype(NUMPY_TYPES[kind]).itemsize
    unsigned = np.array([number % (1 << bits) for number in numbers], dtype=f"uint{bits}")
    return unsigned.view(NUMPY_TYPES[kind])


def quotient(a: int, b: int) -> int:
    """Division that rounds towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "min": min,
    "max": max,
}


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("name", BINARY)
def test_operations_with_two_operands(name: str, kind: str) -> None:
    """Sums and products wrap around."""
    a, b = pairs(kind)
    found = compute(f"{name}.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    expected = wrap([BINARY[name](int(x), int(y)) for x, y in zip(a, b, strict=True)], kind)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("kind", INTEGERS)
def test_division(kind: str) -> None:
    """Quotients round towards zero, and a remainder has the sign of the dividend."""
    a, b = pairs(kind)
    b = np.where(b == 0, 1, b).astype(b.dtype)
    found = compute(f"div.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    whole = [quotient(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert np.array_equal(found, wrap(whole, kind))
    found = compute(f"rem.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    rest = [int(x) - int(y) * q for x, y, q in zip(a, b, whole, strict=True)]
    assert np.array_equal(found, wrap(rest, kind))


@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_high_half_of_a_product(kind: str) -> None:
    bits = int(kind[1:])
    a, b = pairs(kind)
    expected = [int(x) * int(y) >> bits for x, y in zip(a, b, strict=True)]
    found = compute(f"mul.hi.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    assert np.array_equal(found, wrap(expected, kind))
    found = compute(f"mad.hi.{kind} %y, %x0, %x1, %x0;", kind, (kind, a), (kind, b))
    sums = [high + int(x) for high, x in zip(expected, a, strict=True)]
    assert np.array_equal(found, wrap(sums, kind))


@pytest.mark.parametrize("kind", ["u16", "s16", "u32", "s32"])
def test_products_of_twice_the_width(kind: str) -> None:
    wide = f"{kind[0]}{2 * int(kind[1:])}"
    a, b = pairs(kind)
    expected = [int(x) * int(y) for x, y in zip(a, b, strict=True)]
    found = compute(f"mul.wide.{kind} %y, %x0, %x1;", wide, (kind, a), (kind, b))
    assert np.array_equal(found, wrap(expected, wide))
    c = np.resize(some_numbers(wide), a.size)
    found = compute(f"mad.wide.{kind} %y, %x0, %x1, %x2;", wide, (kind, a), (kind, b), (wide, c))
    sums = [product + int(x) for product, x in zip(expected, c, strict=True)]
    assert np.array_equal(found, wrap(sums, wide))


@pytest.mark.parametrize("kind", INTEGERS)
def test_products_with_a_sum(kind: str) -> None:
    a, b = pairs(kind)
    found = compute(f"mad.lo.{kind} %y, %x0, %x1, %x1;", kind, (kind, a), (kind, b))
    sums = [int(x) * int(y) + int(y) for x, y in zip(a, b, strict=True)]
    assert np.array_equal(found, wrap(sums, kind))


@pytest.mark.parametrize("kind", ["s16", "s32", "s64"])
def test_negation_and_absolute_value(kind: str) -> None:
    a = some_numbers(kind)
    found = compute(f"neg.{kind} %y, %x0;", kind, (kind, a))
    assert np.array_equal(found, wrap([-int(x) for x in a], kind))
    found = compute(f"abs.{kind} %y, %x0;", kind, (kind, a))
    assert np.array_equal(found, wrap([abs(int(x)) for x in a], kind))


WORDS = """
    .reg .b32 %low<3>, %high<3>;
    mov.b64 {%low0, %high0}, %x0;
    mov.b64 {%low1, %high1}, %x1;
"""


@pytest.mark.parametrize("name", ["add", "sub"])
def test_carries(name: str) -> None:
    """Two 32-bit sums with a carry make one 64-bit sum."""
    a, b = pairs("u64")
    body = f"""{WORDS}
        {name}.cc.u32 %low2, %low0, %low1;
        {name}c.u32 %high2, %high0, %high1;
        mov.b64 %y, {{%low2, %high2}};"""
    found = compute(body, "u64", ("u64", a), ("u64", b))
    assert np.array_equal(found, a + b if name == "add" else a - b)


def test_products_with_carries() -> None:
    """The low 64 bits of a 64-bit product are computed from 32-bit words."""
    a, b = pairs("u64")
    body = f"""{WORDS}
        mul.lo.u32 %low2, %low0, %low1;
        mul.hi.u32 %high2, %low0, %low1;
        mad.lo.cc.u32 %high2, %low0, %high1, %high2;
        madc.lo.u32 %high2, %high0, %low1, %high2;
        mov.b64 %y, {{%low2, %high2}};"""
    # The carry of the first sum enters the second and counts there as one.
    found = compute(body, "u64", ("u64", a), ("u64", b))
    expected = []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        low, high = x % 2**32 * (y % 2**32) % 2**32, x % 2**32 * (y % 2**32) >> 32
        first = (x % 2**32 * (y >> 32)) % 2**32 + high
        expected.append(low + ((first + (x >> 32) * (y % 2**32) + (first >> 32)) % 2**32 << 32))
    assert np.array_equal(found, np.array(expected, dtype=np.uint64))


def test_division_by_zero_does_not_stop_the_device() -> None:
    """PTX does not define the result."""
    compute("div.s32 %y, %x0, %x1;", "s32", ("s32", [1, -(2**31)]), ("s32", [0, -1]))
