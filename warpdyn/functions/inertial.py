"""Inertial parameters of links, as vectors and in the forms that identification uses.

The ten parameters of a link are

    m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz      [kg, kg·m, kg·m²]

with the second moment about the **origin of the link's frame** (not the centre of mass), in the
link's axes. This is Pinocchio's order. Except for the two functions that take a model, all
functions map arrays with any leading dimensions, `(..., 10)`. Each form has a function
`to_form(parameters)` and its inverse `from_form(...)`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..model import Model
from ..model.checks import NEEDS_MASS, finite, not_negative
from ..model.description import Link
from ..model.model import check_model
from ..model.names import ModelError
from ..model.poses_and_limits import matrix3, vector3

ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""Rows and columns of the second moment, in the order of the parameters."""

ROUNDING = 1e-9
"""Tolerance, relative to their size, for the asymmetry of input matrices and for moments that
violate the triangle inequality."""


def inertial_parameters(model: Model) -> np.ndarray:
    """(nlinks, 10) parameters of a model's links, in the order of `model.link_names`."""
    check_model(model)
    return from_body(
        np.array([link.mass for link in model.links]),
        np.array([link.com for link in model.links]),
        np.array([link.inertia for link in model.links]),
    )


def with_inertial_parameters(model: Model, parameters: ArrayLike) -> Model:
    """The same robot with these (nlinks, 10) parameters.

    They need not be physically consistent. But no mass may be negative, and the first moment of a
    link without mass must be zero.
    """
    check_model(model)
    array = np.asarray(parameters, dtype=float)
    if array.shape != (model.nlinks, 10):
        raise ValueError(
            f"parameters must be (nlinks, 10) = ({model.nlinks}, 10), got {array.shape}"
        )
    for link, (mass, *moment) in zip(model.links, array[:, :4].tolist(), strict=True):
        if not not_negative(mass) or (mass == 0 and any(moment)) or not finite(moment):
            raise ModelError(
                f'link "{link.name}" of {model.name} {NEEDS_MASS}, and no first moment without '
                f"mass; got {mass:g} kg and {moment} kg·m. Parameters of `from_log_cholesky` are always consistent"
            )
    return replace(model, links=tuple(map(_with, model.links, *to_body(array))))


def _with(link: Link, mass: np.ndarray, com: np.ndarray, inertia: np.ndarray) -> Link:
    return replace(link, mass=float(mass), com=vector3(com), inertia=matrix3(inertia))


# Mass, centre of mass, inertia about the centre of mass.


def from_body(mass: ArrayLike, com: ArrayLike, inertia: ArrayLike) -> np.ndarray:
    """(..., 10) from mass (...), centre of mass (..., 3), and inertia about the centre of mass
    (..., 3, 3), in the link's axes.

    Parallel axes: I = I_c + m (c·c 1 - c cᵀ).
    """
    m, c = np.asarray(mass, dtype=float), _numbers_of_shape("com", com, (3,))
    h = m[..., None] * c
    return _vector(m, h, _symmetric("inertia", inertia, 3) + _parallel(h, c))


def to_body(parameters: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass (...), centre of mass (..., 3), and inertia about the centre of mass (..., 3, 3).
    Without mass the centre is the origin."""
    m, h, inertia = _parts(parameters)
    c = np.divide(h, m[..., None], out=np.zeros_like(h), where=m[..., None] != 0)
    return m, c, inertia - _parallel(h, c)


# The 6x6 spatial inertia, linear part first.


def from_spatial_inertia(matrix: ArrayLike) -> np.ndarray:
    """(..., 10) from (..., 6, 6): [[m 1, -[h]×], [[h]×, I]], RBDA 2.63."""
    M = _symmetric("matrix", matrix, 6)
    h = np.stack([M[..., 5, 1], M[..., 3, 2], M[..., 4, 0]], axis=-1)
    return _vector(M[..., 0, 0], h, M[..., 3:, 3:])


def to_spatial_inertia(parameters: ArrayLike) -> np.ndarray:
    """(..., 6, 6) spatial inertias about the origin of the link's frame."""
    m, h, inertia = _parts(parameters)
    hx = _cross(h)
    upper = np.concatenate([m[..., None, None] * np.eye(3), -hx], axis=-1)
    return np.concatenate([upper, np.concatenate([hx, inertia], axis=-1)], axis=-2)


# The 4x4 pseudo-inertia: second moments of the density of (x, 1).


def from_pseudo_inertia(matrix: ArrayLike) -> np.ndarray:
    """(..., 10) from (..., 4, 4): I = tr(Σ) 1 - Σ."""
    P = _symmetric("matrix", matrix, 4)
    S = P[..., :3, :3]
    return _vector(P[..., 3, 3], P[..., :3, 3], _trace(S) * np.eye(3) - S)


def to_pseudo_inertia(parameters: ArrayLike) -> np.ndarray:
    """(..., 4, 4) [[Σ, h], [hᵀ, m]] with Σ = ∫ x xᵀ dm = tr(I) / 2 1 - I.

    It is positive definite if and only if some mass density has these parameters. Wensing, Kim and
    Slotine, Linear matrix inequalities for physically consistent inertial parameter identification,
    IEEE RA-L 3 (2018).
    """
    m, h, inertia = _parts(parameters)
    S = 0.5 * _trace(inertia) * np.eye(3) - inertia
    P = np.empty((*m.shape, 4, 4))
    P[..., :3, :3], P[..., :3, 3], P[..., 3, :3], P[..., 3, 3] = S, h, h, m
    return P


# Log-Cholesky form.


def from_log_cholesky(theta: ArrayLike) -> np.ndarray:
    """(..., 10) from any ten real numbers, always physically consistent.

    theta = (α, d1, d2, d3, s12, s23, s13, t1, t2, t3); the pseudo-inertia is U Uᵀ with

        U = e^α [[e^d1, s12, s13, t1], [0, e^d2, s23, t2], [0, 0, e^d3, t3], [0, 0, 0, 1]].

    Rucker and Wensing, Smooth parameterization of rigid-body inertia, IEEE RA-L 7 (2022).
    """
    a, d1, d2, d3, s12, s23, s13, t1, t2, t3 = np.moveaxis(
        _numbers_of_shape("theta", theta, (10,)), -1, 0
    )
    U = np.zeros((*a.shape, 4, 4))
    U[..., 0, 0], U[..., 1, 1], U[..., 2, 2], U[..., 3, 3] = np.exp(d1), np.exp(d2), np.exp(d3), 1.0
    U[..., 0, 1], U[..., 1, 2], U[..., 0, 2] = s12, s23, s13
    U[..., 0, 3], U[..., 1, 3], U[..., 2, 3] = t1, t2, t3
    return from_pseudo_inertia(np.exp(2 * a)[..., None, None] * (U @ np.swapaxes(U, -1, -2)))


def to_log_cholesky(parameters: ArrayLike) -> np.ndarray:
    """(..., 10) theta of physically consistent parameters; raises ValueError for other parameters,
    because they have no such form."""
    consistent = physically_consistent(parameters)
    if not np.all(consistent):
        first = np.argwhere(~consistent)[0].tolist()
        raise ValueError(
            f"only physically consistent parameters have a log-Cholesky form; those{f' at {first}' if first else ''} "
            "are not (see physically_consistent): correct the mass, centre of mass or inertia"
        )
    reverse = to_pseudo_inertia(parameters)[..., ::-1, ::-1]
    U = np.linalg.cholesky(reverse)[..., ::-1, ::-1]
    scale = U[..., 3, 3]
    U = U / scale[..., None, None]
    d = [np.log(U[..., k, k]) for k in range(3)]
    s = [U[..., 0, 1], U[..., 1, 2], U[..., 0, 2]]
    return np.stack([np.log(scale), *d, *s, *(U[..., k, 3] for k in range(3))], axis=-1)


# Consistency.


def physically_consistent(parameters: ArrayLike) -> np.ndarray:
    """(...) True where the mass is positive and some body that is not flat can have these moments.

    This means a positive definite pseudo-inertia or, equivalently, m > 0 and a positive definite Σ
    about the centre of mass: the principal moments satisfy the triangle inequality strictly
    (Traversaro et al., IROS 2016). It is False for rods, plates, point masses and links without
    mass.
    """
    m, c, inertia = to_body(parameters)
    S = 0.5 * _trace(inertia) * np.eye(3) - inertia
    sound = np.isfinite(S).all(axis=(-1, -2))
    smallest = np.linalg.eigvalsh(np.where(sound[..., None, None], S, 0.0))[..., 0]
    return sound & np.isfinite(c).all(axis=-1) & (m > 0) & (smallest > 0)


def triangle_inequality(parameters: ArrayLike) -> np.ndarray:
    """(...) True where no principal moment about the centre of mass is negative or exceeds the sum
    of the other two (by more than rounding). Rods, plates and points satisfy it."""
    _, _, inertia = to_body(parameters)
    sound = np.isfinite(inertia).all(axis=(-1, -2))
    a, b, c = np.moveaxis(np.linalg.eigvalsh(np.where(sound[..., None, None], inertia, 0.0)), -1, 0)
    room = ROUNDING * np.maximum(np.abs(a), np.abs(c))
    return sound & (a >= -room) & (a + b >= c - room)


# Entries of the parameter vector.


def _parts(parameters: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mass (...), first moment (..., 3) and second moment (..., 3, 3)."""
    p = _numbers_of_shape("parameters", parameters, (10,))
    inertia = np.empty((*p.shape[:-1], 3, 3))
    for k, (i, j) in enumerate(ENTRIES):
        inertia[..., i, j] = inertia[..., j, i] = p[..., 4 + k]
    return p[..., 0], p[..., 1:4], inertia


def _vector(m: np.ndarray, h: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    columns = [m, *np.moveaxis(h, -1, 0), *(inertia[..., i, j] for i, j in ENTRIES)]
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def _parallel(h: np.ndarray, c: np.ndarray) -> np.ndarray:
    """m (c·c 1 - c cᵀ), with h = m c."""
    outer = h[..., :, None] * c[..., None, :]
    return _trace(outer) * np.eye(3) - outer


def _trace(matrix: np.ndarray) -> np.ndarray:
    return np.trace(matrix, axis1=-2, axis2=-1)[..., None, None]


def _cross(u: np.ndarray) -> np.ndarray:
    """[u]×."""
    x, y, z = np.moveaxis(u, -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack(row, -1) for row in ((o, -z, y), (z, o, -x), (-y, x, o))], -2)


def _numbers_of_shape(name: str, array: ArrayLike, trailing: tuple[int, ...]) -> np.ndarray:
    numbers = np.asarray(array, dtype=float)
    if numbers.shape[-len(trailing) :] != trailing:
        sizes = ", ".join(map(str, trailing))
        raise ValueError(f"{name} must be (..., {sizes}), got {numbers.shape}")
    return numbers


def _symmetric(name: str, array: ArrayLike, n: int) -> np.ndarray:
    M = _numbers_of_shape(name, array, (n, n))
    skew = np.abs(M - np.swapaxes(M, -1, -2)).max(axis=(-1, -2), initial=0.0)
    if np.any(skew > ROUNDING * np.abs(M).max(axis=(-1, -2), initial=0.0)):
        raise ValueError(
            f"{name} must be symmetric (..., {n}, {n}); it differs from its transpose by {skew.max():g}"
        )
    return M
