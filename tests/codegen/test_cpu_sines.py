"""Sine and cosine in kernels: their errors, and bits that do not depend on neighbouring lanes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from devices import DeviceArray
from memory_layouts import same_bits
from robots import by_name

import warpdyn as wd

SINE = {"float64": 3e-16, "float32": 1.2e-7}
"""Absolute error of sine and cosine that the design allows, for every finite angle."""


def angles(dtype: np.dtype) -> np.ndarray:
    """Angles of every size: near multiples of pi/2, huge, tiny, denormal, and around the limits of
    the reduction."""
    draw = np.random.default_rng(3)
    tiny = np.finfo(dtype).smallest_subnormal
    parts = [
        np.array(
            [
                0.0,
                -0.0,
                tiny,
                -tiny,
                np.finfo(dtype).tiny,
                1e8,
                3e9,
                -3e9,
                1e15,
                1e22,
                1e30,
                -1e30,
                np.finfo(dtype).max,
            ]
        ),
        np.arange(-400, 401) * (math.pi / 2),
        np.array(
            [
                65536.0,
                65536.01,
                1e5,
                100000.5,
                99999.9,
                -65535.99,
                -1e5,
                2.0**23,
                2.0**24,
                2.0**31,
                2.0**32,
                2.0**52,
                2.0**53,
            ]
        ),
        draw.uniform(-4, 4, 3000),
        draw.uniform(-1e3, 1e3, 3000),
        draw.uniform(-1.1e5, 1.1e5, 3000),
        10.0 ** draw.uniform(-45 if dtype == np.float32 else -320, 0, 1000),
        10.0 ** draw.uniform(4, 38, 1000),
        np.round(draw.uniform(-41000, 41000, 2000)) * (math.pi / 2),
    ]
    x = np.concatenate(parts).astype(dtype)
    near = np.round(np.concatenate(parts[1:2] + parts[8:]) / (math.pi / 2)) * (math.pi / 2)
    around = [
        np.nextafter(near.astype(dtype), dtype.type(s * np.inf), dtype=dtype) for s in (1, -1)
    ]
    return np.concatenate([x, *around])


def exact(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sine and cosine of these numbers, in higher precision than that under test."""
    if x.dtype == np.float32:
        return np.sin(x.astype(float)), np.cos(x.astype(float))
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workprec(64 + 1100):
        pairs = [(mpmath.sin(mpmath.mpf(float(v))), mpmath.cos(mpmath.mpf(float(v)))) for v in x]
    with mpmath.workprec(120):
        high = np.array([[float(s), float(c)] for s, c in pairs])
        low = np.array(
            [
                [float(s - mpmath.mpf(a)), float(c - mpmath.mpf(b))]
                for (s, c), (a, b) in zip(pairs, high, strict=True)
            ]
        )
    long = high.astype(np.longdouble) + low.astype(np.longdouble)
    return long[:, 0], long[:, 1]


def test_sine_and_cosine_are_accurate_for_every_finite_angle(dtype: np.dtype, device: str) -> None:
    """The error bound is that of the design. A robot that rotates about z has them in its pose."""
    model, x = by_name("single").model, angles(dtype)
    assert np.all(np.isfinite(x))
    out = DeviceArray(np.full((len(x), 4, 4), np.nan, dtype), device)
    wd.fk(model, DeviceArray(x[:, None], device).array, frame="arm", out=out.array)
    T = out.back()
    sine, cosine = exact(x)
    assert float(np.max(np.abs(T[:, 1, 0] - sine))) <= SINE[str(dtype)]
    assert float(np.max(np.abs(T[:, 0, 0] - cosine))) <= SINE[str(dtype)]
    assert same_bits(T[:, 0, 0], T[:, 1, 1]) and same_bits(T[:, 0, 1], -T[:, 1, 0])
    assert np.all(np.abs(T[:, :2, :2]) <= 1.0 + SINE[str(dtype)])


def test_huge_angles_do_not_change_the_bits_of_other_lanes(dtype: np.dtype, device: str) -> None:
    """A lane that needs the long reduction does not influence the others."""
    model = by_name("single").model
    calm = np.linspace(-3, 3, 64).astype(dtype)
    wild = calm.copy()
    wild[::5] = [1e30, 3e9, np.nan, np.inf, 7e7, 1e12, -1e9, -np.inf, 1e20, 123456.0, 1e6, 1e7, 1e8]
    results = []
    for x in (calm, wild):
        out = DeviceArray(np.full((64, 4, 4), np.nan, dtype), device)
        wd.fk(model, DeviceArray(x[:, None], device).array, frame="arm", out=out.array)
        results.append(out.back())
    kept = np.arange(64) % 5 != 0
    assert same_bits(results[0][kept], results[1][kept])
    bad = np.flatnonzero(~np.isfinite(wild))
    assert np.all(np.isnan(results[1][bad][:, :2, :2]))
