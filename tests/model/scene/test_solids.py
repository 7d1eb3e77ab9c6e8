"""Volumes and moments of inertia of solid shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model.scene.solids import Solid, geometry_of

NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)
"""Gauss-Legendre quadrature with six points, exact for the polynomials below."""


def of_revolution(r: float, length: float, ends: float) -> tuple[float, float, float]:
    """Volume, moment across and moment along z, as integrals over discs: a cylinder, with half balls
    of radius `ends` outside it."""
    total = np.zeros(3)
    for low, high in ((-length / 2 - ends, -length / 2), (-length / 2, length / 2)):
        z = (low + high) / 2 + (high - low) / 2 * NODES
        outside = np.minimum(z + length / 2, 0.0)
        square = np.where(z < -length / 2, ends**2 - outside**2, r * r)
        disc = math.pi * square
        parts = np.stack([disc, disc * square / 4 + disc * z * z, disc * square / 2])
        # Both half balls have the same integrals.
        total += (1 if low == -length / 2 else 2) * (parts @ WEIGHTS) * (high - low) / 2
    return (total[0], total[1], total[2])


@pytest.mark.parametrize(
    ("shape", "revolved"),
    [
        (wd.description.Cylinder(0.3, 0.8), (0.3, 0.8, 0.0)),
        (wd.description.Capsule(0.3, 0.8), (0.3, 0.8, 0.3)),
        (wd.description.Sphere(0.3), (0.3, 0.0, 0.3)),
    ],
)
def test_moments_equal_integrals_over_discs(
    shape: Solid, revolved: tuple[float, float, float]
) -> None:
    V, moments = shape.moments
    volume, across, along = of_revolution(*revolved)
    assert pytest.approx(volume, rel=1e-12) == V
    assert moments == pytest.approx((across, across, along), rel=1e-12)


def test_moments_of_a_box_equal_integrals_over_its_sides() -> None:
    """The integrals are of squared distances, about each axis."""
    sizes = (0.2, 0.4, 0.6)
    V, moments = wd.description.Box(*sizes).moments
    squares = [V / s * (NODES * s / 2) ** 2 @ WEIGHTS * s / 2 for s in sizes]
    assert pytest.approx(0.2 * 0.4 * 0.6) == V
    assert moments == pytest.approx([sum(squares) - each for each in squares], rel=1e-12)


def test_a_solid_becomes_a_geometry_of_a_link() -> None:
    """It has the sizes that a description uses."""
    part = geometry_of(wd.description.Capsule(0.1, 0.3), (1.0, 0.0, 0.0, 1.0))
    assert (part.shape, part.size, part.color) == ("capsule", (0.1, 0.3), (1.0, 0.0, 0.0, 1.0))


@pytest.mark.parametrize(
    "shape",
    [
        wd.description.Box(0.1, 0.0, 0.1),
        wd.description.Sphere(-1.0),
        wd.description.Sphere(math.nan),
    ],
)
def test_sizes_must_be_above_zero(shape: Solid) -> None:
    with pytest.raises(ValueError, match="lengths above 0 in metres"):
        geometry_of(shape)
