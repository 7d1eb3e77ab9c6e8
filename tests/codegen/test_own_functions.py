"""Root, floor, sine and cosine that exported code computes without a library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from exported_code import CompiledHeader

from warpdyn.algebra import scalar
from warpdyn.codegen.exported_header import ExportedFunction, ExportedRobot, exported_header
from warpdyn.codegen.portable_style import Style
from warpdyn.recording.program import record

RANGE = {np.float32: 8e3, np.float64: 5e5}
"""Angles up to which sines are within two units in the last place [rad]; export.md promises this."""


def elementary(x):
    """Root, floor, sine and cosine of one number."""
    return [scalar.sqrt(x[0]), scalar.floor(x[0]), scalar.sin(x[0]), scalar.cos(x[0])]


class Own:
    """The four functions of a header without a library."""

    def __init__(self, language: str, real: type, folder: Path) -> None:
        style = Style(language, real is np.float32, "own", libm=False)
        program = record(elementary, {"x": (1,)})
        each = ExportedFunction("go", program, {"x": "x"}, {"out": "out"}, ["go"])
        text = exported_header(ExportedRobot(["own"]), [each], style)
        self.real = real
        self.compiled = CompiledHeader(
            folder, text, {"go": ("x", "out")},
            namespace="own", language=language, single=real is np.float32,
        )  # fmt: skip

    def __call__(self, *x: float) -> np.ndarray:
        """Results (4, n), the same for numbers one by one and in lanes."""
        column = np.array(x, self.real)[:, None]
        one = self.compiled.one_by_one("go", [column], (4,)).T
        many = self.compiled.batch("go", [column], (4,)).T
        np.testing.assert_array_equal(one, many)
        return one


@pytest.fixture(scope="module", params=["c++ float32", "c++ float64", "c float32", "c float64"])
def own(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Own:
    language, real = request.param.split()
    return Own(language, getattr(np, real), tmp_path_factory.mktemp("own"))


def ulps(found: np.ndarray, exact: np.ndarray, real: type, least: float = 0.0) -> float:
    """The largest error, in units in the last place of the exact result or of `least`."""
    spacing = np.spacing(np.maximum(np.abs(exact), least).astype(real)).astype(float)
    return float((np.abs(found.astype(float) - exact) / spacing).max())


def test_roots_of_all_sizes_are_accurate(own: Own) -> None:
    """The error is at most one unit in the last place, from the smallest normal number to the
    largest, next to powers of two and at squares."""
    info, draw = np.finfo(own.real), np.random.default_rng(0)
    powers = 2.0 ** np.arange(info.minexp, info.maxexp)
    x = np.concatenate([powers, np.nextafter(powers[1:], 0), np.arange(1, 200.0) ** 2, [6.75]])
    x = np.concatenate([x, draw.uniform(1, 4, 2000) * 2.0 ** draw.integers(-40, 40, 2000)])
    x = np.append(x, [float(info.max), float(info.tiny)]).astype(own.real)
    assert ulps(own(*x)[0], np.sqrt(x.astype(np.longdouble)).astype(float), own.real) <= 1.0


def test_roots_of_special_numbers_follow_ieee(own: Own) -> None:
    """Zeros and infinity are their own roots, subnormal numbers count as zero, and roots of
    negative numbers and of NaN are NaN."""
    subnormal = float(np.finfo(own.real).smallest_subnormal)
    root = own(0.0, -0.0, np.inf, subnormal, 1e5 * subnormal)[0]
    np.testing.assert_array_equal(root, [0, 0, np.inf, 0, 0])
    assert list(np.signbit(root[:2])) == [False, True]
    assert np.isnan(own(np.nan, -1.0, -np.inf, -1e-30, -6.75)[0]).all()


def test_floors_are_exact(own: Own) -> None:
    """They are the largest whole number that is not larger, for all sizes. Zeros keep their signs.
    Infinities and NaN do not change."""
    subnormal = float(np.finfo(own.real).smallest_subnormal)
    whole = 2.0 ** np.finfo(own.real).nmant
    edges = [1.0, -1.0, 7.0, -7.0, 2e9, whole / 2, whole, 2 * whole, float(np.finfo(own.real).max)]
    near = [np.nextafter(own.real(x), own.real(y)) for x in edges[:-1] for y in (-np.inf, np.inf)]
    x = [*edges, *(-e for e in edges), *near, subnormal, -subnormal, 0.0, -0.0, np.inf, -np.inf]
    x += [*np.random.default_rng(1).uniform(-50, 50, 500)]
    found, exact = own(*x)[1], np.floor(np.array(x, own.real))
    np.testing.assert_array_equal(found, exact)
    zero = exact == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(exact[zero]))
    assert np.isnan(own(np.nan)[1]).all()


def test_sines_and_cosines_are_accurate_over_their_range(own: Own) -> None:
    """The error is at most two units in the last place, also next to multiples of a quarter turn.
    Those of zeros and subnormal numbers are 0 and 1, those of infinities and NaN are NaN."""
    draw, reach = np.random.default_rng(2), RANGE[own.real]
    x = draw.uniform(-1, 1, 3000) * 10.0 ** draw.uniform(-8, np.log10(reach), 3000)
    x = np.concatenate([x, np.arange(-400, 401) * np.pi / 4, [reach, -reach]]).astype(own.real)
    exact = x.astype(np.longdouble)
    _, _, sine, cosine = own(*x)
    # Near a zero of the function its own spacing is smaller than that of the reduced angle.
    assert ulps(sine, np.sin(exact).astype(float), own.real, 2.0**-4) <= 2.0
    assert ulps(cosine, np.cos(exact).astype(float), own.real, 2.0**-4) <= 2.0
    subnormal = float(np.finfo(own.real).smallest_subnormal)
    _, _, sine, cosine = own(0.0, -0.0, subnormal, -subnormal)
    assert np.abs(sine).max() <= subnormal
    assert (cosine == 1).all()
    assert np.isnan(own(np.nan, np.inf, -np.inf)[2:]).all()


def test_sines_of_angles_beyond_all_precision_are_nan(own: Own) -> None:
    """If neighbouring angles are half a radian apart, no digit of a sine is right. Below that a
    result has the size of a sine, although its digits may be wrong."""
    edge = 2.0 ** (np.finfo(own.real).nmant - 1)
    largest = float(np.finfo(own.real).max)
    beyond = [float(np.nextafter(own.real(edge), own.real(np.inf))), 2 * edge, 1e3 * edge, largest]
    assert np.isnan(own(*beyond, *(-x for x in beyond))[2:]).all()
    below = np.random.default_rng(3).uniform(-edge, edge, 2000)
    assert np.abs(own(*below, edge, -edge)[2:]).max() <= 1.5  # a quarter turn off, and not more
