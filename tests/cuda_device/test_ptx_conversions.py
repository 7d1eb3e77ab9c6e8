"""cvt and packing compared with NumPy and Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from cuda_device.ptx_kernels import NUMPY_TYPES, compute, some_numbers

INTEGERS = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64")


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_conversions_between_integers(target: str, source: str) -> None:
    """The low bits are kept, and a signed number is sign-extended. With .sat values beyond the
    range become its ends."""
    a = some_numbers(source, 50)
    found = compute(f"cvt.{target}.{source} %y, %x0;", target, (source, a))
    assert np.array_equal(found, a.astype(NUMPY_TYPES[target]))
    found = compute(f"cvt.sat.{target}.{source} %y, %x0;", target, (source, a))
    info = np.iinfo(NUMPY_TYPES[target])
    assert found.tolist() == [min(max(x, info.min), info.max) for x in a.tolist()]


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("target", ["f32", "f64"])
def test_conversions_from_integers_to_floats(target: str, kind: str) -> None:
    a = some_numbers(kind)
    found = compute(f"cvt.rn.{target}.{kind} %y, %x0;", target, (kind, a))
    assert np.array_equal(found, a.astype(NUMPY_TYPES[target]))


ROUNDINGS = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


@pytest.mark.parametrize("kind", ["s8", "u16", "u32", "s32", "u64", "s64"])
@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.parametrize("mode", ROUNDINGS)
def test_conversions_from_floats_to_integers(mode: str, source: str, kind: str) -> None:
    """Values beyond the range become its ends, and NaN becomes 0."""
    a = np.concatenate([some_numbers(source), np.arange(-20, 20) / 4, [np.nan]]).astype(
        NUMPY_TYPES[source]
    )
    found = compute(f"cvt.{mode}.{kind}.{source} %y, %x0;", kind, (source, a))
    info = np.iinfo(NUMPY_TYPES[kind])
    expected = []
    for x in a.tolist():
        whole = (
            0 if math.isnan(x) else math.copysign(2**70, x) if math.isinf(x) else ROUNDINGS[mode](x)
        )
        expected.append(int(min(max(whole, info.min), info.max)))
    assert found.tolist() == expected


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("mode", ROUNDINGS)
def test_rounding_of_floats_to_integral_values(mode: str, kind: str) -> None:
    a = np.concatenate([some_numbers(kind), np.arange(-20, 20) / 4]).astype(NUMPY_TYPES[kind])
    found = compute(f"cvt.{mode}.{kind}.{kind} %y, %x0;", kind, (kind, a))
    expected = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode](a)
    assert np.array_equal(found, expected)


def test_conversions_between_floats() -> None:
    """They round to nearest or in a direction, and may saturate to [0, 1]."""
    a = some_numbers("f64")
    with np.errstate(over="ignore"):
        nearest = a.astype(np.float32)
    assert np.array_equal(compute("cvt.rn.f32.f64 %y, %x0;", "f32", ("f64", a)), nearest)
    down = compute("cvt.rm.f32.f64 %y, %x0;", "f32", ("f64", a)).astype(float)
    up = compute("cvt.rp.f32.f64 %y, %x0;", "f32", ("f64", a)).astype(float)
    assert np.all(down <= a) and np.all(a <= up)
    b = some_numbers("f32")
    assert np.array_equal(compute("cvt.f64.f32 %y, %x0;", "f64", ("f32", b)), b.astype(float))
    c = np.append(b, np.float32(np.nan))
    found = compute("cvt.sat.f32.f32 %y, %x0;", "f32", ("f32", c))
    assert np.array_equal(found, np.clip(np.nan_to_num(c, posinf=2, neginf=-2), 0, 1))


def test_packing_and_unpacking_of_numbers() -> None:
    """Two halves make a number, and a number is split into halves."""
    a = some_numbers("u32")
    b = np.roll(a, 1)
    found = compute("mov.b64 %y, {%x0, %x1};", "u64", ("u32", a), ("u32", b))
    assert np.array_equal(found, b.astype(np.uint64) << 32 | a)
    found = compute("mov.b64 {_, %y}, %x0;", "u32", ("u64", found))
    assert np.array_equal(found, b)
    found = compute("mov.b32 %y, {%x0, %x1};", "u32", ("u16", a % 2**16), ("u16", b % 2**16))
    assert np.array_equal(found, (b % 2**16) << 16 | a % 2**16)


def test_moves_between_register_types_keep_the_bits() -> None:
    """mov does not convert."""
    a = some_numbers("f32")
    assert np.array_equal(compute("mov.b32 %y, %x0;", "u32", ("f32", a)), a.view(np.uint32))
    b = compute("mov.f64 %y, 0d3FF8000000000000;", "f64", ("f32", a))
    assert np.all(b == 1.5)
    assert np.all(compute("mov.f32 %y, 0fBFC00000;", "f32", ("f32", a)) == -1.5)
