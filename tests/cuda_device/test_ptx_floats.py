"""float32 and float64 instructions compared with NumPy, and rounding compared with exact
fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from cuda_device.ptx_kernels import NUMPY_TYPES, compute, pairs, some_numbers

FLOATS = ("f32", "f64")
BITS = {"f32": np.uint32, "f64": np.uint64}

APPROXIMATE = 2e-7
"""Relative: the host's float32 functions round correctly but for the last bit."""


def same_bits(found: np.ndarray, expected: np.ndarray, kind: str) -> bool:
    """Equal, including the sign of zero. All NaNs are equal."""
    expected = expected.astype(NUMPY_TYPES[kind])
    both_nan = np.isnan(found) & np.isnan(expected)
    return bool(np.all(both_nan | (found.view(BITS[kind]) == expected.view(BITS[kind]))))


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div.rn"])
def test_operations_with_two_operands(name: str, kind: str) -> None:
    """Each result is rounded once, with infinities and signed zeros as in IEEE 754."""
    a, b = pairs(kind)
    found = compute(f"{name}.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    operation = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div.rn": np.divide}[name]
    with np.errstate(all="ignore"):
        assert same_bits(found, operation(a, b), kind)


@pytest.mark.parametrize("kind", FLOATS)
def test_fused_multiply_add_rounds_once(kind: str) -> None:
    """Finite results are compared with exact fractions."""
    a, b = (x[np.isfinite(x)][:150] for x in pairs(kind))
    count = min(a.size, b.size)
    a, b = a[:count], b[:count]
    c = -(a * b) * np.asarray(1 + 1e-3 * np.arange(count), a.dtype)
    found = compute(f"fma.rn.{kind} %y, %x0, %x1, %x2;", kind, (kind, a), (kind, b), (kind, c))
    with np.errstate(all="ignore"):
        separate = a * b + c
    exact = [
        Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        for x, y, z in zip(a, b, c, strict=True)
    ]
    for number, fraction, apart in zip(found.tolist(), exact, separate.tolist(), strict=True):
        error = abs(Fraction(number) - fraction)
        assert error <= abs(Fraction(apart) - fraction)
        assert error <= abs(fraction) * Fraction(float(np.finfo(a.dtype).eps))


@pytest.mark.parametrize("kind", FLOATS)
@pytest.mark.parametrize("name", ["add", "mul", "fma"])
def test_directed_rounding(name: str, kind: str) -> None:
    """.rm rounds down, .rp up, and .rz towards zero, compared with exact fractions."""
    a, b = (np.random.default_rng(k).uniform(-4, 4, 60).astype(NUMPY_TYPES[kind]) for k in (1, 2))
    operands = "%x0, %x1, %x0" if name == "fma" else "%x0, %x1"
    found = {
        mode: compute(f"{name}.{mode}.{kind} %y, {operands};", kind, (kind, a), (kind, b))
        for mode in ("rn", "rm", "rp", "rz")
    }
    for k, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        x, y = Fraction(x), Fraction(y)
        exact = {"add": x + y, "mul": x * y, "fma": x * y + x}[name]
        down, up = Fraction(float(found["rm"][k])), Fraction(float(found["rp"][k]))
        assert down <= exact <= up
        # Both are neighbours, or the result is exact.
        assert np.nextafter(found["rm"][k], found["rp"][k]) == found["rp"][k]
        assert found["rz"][k] == (found["rm"][k] if exact > 0 else found["rp"][k])
        nearest = found["rm"][k] if exact - down < up - exact else found["rp"][k]
        assert found["rn"][k] == nearest or exact - down == up - exact


@pytest.mark.parametrize("kind", FLOATS)
def test_minimum_and_maximum(kind: str) -> None:
    """The result for a number and a NaN is the number. -0 is smaller than 0."""
    a, b = pairs(kind)
    a, b = (
        np.concatenate([a, b, [np.nan, 1.0, 0.0, -0.0]]),
        np.concatenate([b, a, [2.0, np.nan, -0.0, 0.0]]),
    )
    a, b = a.astype(NUMPY_TYPES[kind]), b.astype(NUMPY_TYPES[kind])
    found = compute(f"min.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    assert np.array_equal(found, np.fmin(a, b), equal_nan=True)
    assert np.signbit(found[-2:]).all()
    found = compute(f"max.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    assert np.array_equal(found, np.fmax(a, b), equal_nan=True)
    assert not np.signbit(found[-2:]).any()


@pytest.mark.parametrize("kind", FLOATS)
def test_operations_with_one_operand(kind: str) -> None:
    a = some_numbers(kind)
    with np.errstate(all="ignore"):
        for name, expected in {
            "neg": -a,
            "abs": np.abs(a),
            "rcp.rn": np.reciprocal(a),
            "sqrt.rn": np.sqrt(a),
        }.items():
            found = compute(f"{name}.{kind} %y, %x0;", kind, (kind, a))
            assert same_bits(found, expected, kind), name


@pytest.mark.parametrize("kind", FLOATS)
def test_copysign(kind: str) -> None:
    """The result has the sign of the first operand and the magnitude of the second."""
    a, b = pairs(kind)
    found = compute(f"copysign.{kind} %y, %x0, %x1;", kind, (kind, a), (kind, b))
    assert same_bits(found, np.copysign(b, a), kind)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("ex2.approx.ftz", lambda x: np.exp2(x)),
        ("lg2.approx", lambda x: np.log2(np.abs(x))),
        ("sin.approx", np.sin),
        ("cos.approx", np.cos),
        ("tanh.approx", np.tanh),
        ("rsqrt.approx", lambda x: 1 / np.sqrt(np.abs(x))),
        ("rcp.approx.ftz", np.reciprocal),
    ],
)
def test_approximate_functions(name: str, expected) -> None:
    """They are as exact as the host's functions. The errors of a GPU are larger."""
    x = np.random.default_rng(0).uniform(-9, 9, 200).astype(np.float32)
    x = np.abs(x) if name[:2] in ("lg", "rs") else x
    found = compute(f"{name}.f32 %y, %x0;", "f32", ("f32", x))
    reference = expected(x.astype(np.float64))
    assert np.all(np.abs(found - reference) <= APPROXIMATE * np.maximum(np.abs(reference), 1e-2))


def test_subnormal_numbers() -> None:
    """They are kept, and flushed to zero with .ftz."""
    tiny = np.array([1e-40, -1e-40, 2e-38], dtype=np.float32)
    kept = compute("add.f32 %y, %x0, %x0;", "f32", ("f32", tiny))
    assert np.array_equal(kept, 2 * tiny)
    flushed = compute("add.ftz.f32 %y, %x0, %x0;", "f32", ("f32", tiny))
    assert np.array_equal(flushed, [0, 0, 2 * tiny[2]])
    assert np.array_equal(np.signbit(flushed), [False, True, False])
