"""Momentum, centroidal quantities, locked inertia and average velocities.

Momentum is linear, then angular. Every link counts. A link fixed to the world contributes its mass
only. A robot without mass has none of these quantities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

from ..algorithms import centroidal as _centroidal
from ..algorithms import momentum as _momentum
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.base_velocity import COLUMNS, RATE, Axes
from ..execution.request.call import Call
from ..model import Model
from ..model.names import ModelError
from ..model.params import Params
from ..model.reference_frames import Reference, reference_of
from ..model.structure import Structure

REFERENCES = {
    "local": ("base", "base"),
    "world": ("world", "world"),
    "local_world_aligned": ("base", "world"),
    "centroidal": ("com", "world"),
    "centroidal_local": ("com", "base"),
}
"""The point and the axes of each momentum reference."""

MomentumReference = (
    Reference | Literal["centroidal", "centroidal_local", "CENTROIDAL", "CENTROIDAL_LOCAL"]
)

CENTROIDAL_REFERENCES = {"local": ("com", "base"), "local_world_aligned": ("com", "world")}
CentroidalReference = Literal[
    "local", "body", "local_world_aligned", "mixed", "LOCAL", "BODY", "LOCAL_WORLD_ALIGNED", "MIXED"
]


def _point_and_axes(
    reference: str, references: dict[str, tuple[str, str]]
) -> tuple[tuple[str, Any], ...]:
    point, axes = references[reference_of(reference, choices=references)]
    return (("point", point), ("axes", axes))


def _refuse_massless(model: Structure) -> None:
    if not model.total_mass > 0:
        need = "so that it has no centre of mass; give its links mass (model.with_payload)"
        raise ModelError(f"{model.name} has no mass, {need}")


def _call(
    algorithm: Callable[..., Any],
    model: Model,
    arrays: Mapping[str, Array[A] | None],
    about: tuple[tuple[str, Any], ...] = (),
    *,
    name: str = "",
    columns: Axes = (),
    **more: Any,
) -> Call[A]:
    """Call of the algorithm with the root link, under its own name unless there is a `name`.

    `about`: the options `_point_and_axes`. `columns`: axes of a matrix with a column for each
    velocity.
    """
    return Call(
        name or algorithm.__name__,
        model,
        (algorithm,),
        arrays,
        options=(("root", model.root), *about),
        refuse=_refuse_massless,
        shapes={"out": (6, model.nv)} if columns else {},
        by_velocity={"out": columns} if columns else {},
        **more,
    )


@batched
def momentum(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    reference: MomentumReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Total momentum of the robot, h = sum of X* I v over its links.

    q: (B, nq).  v: (B, nv).  Returns (B, 6): linear [kg·m/s], then angular momentum [kg·m²/s].
    reference: "local" (about the root link's origin, in its axes), "world" (about the world's
    origin), the default "local_world_aligned" (about the root link's origin, in the world's axes),
    aliases "body", "inertial", "mixed"; or about the centre of mass, "centroidal" in the world's
    axes, "centroidal_local" in the root link's.  On a fixed base the first three are the same.
    Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.13.
    """
    about = _point_and_axes(reference, REFERENCES)
    return _call(_momentum.momentum, model, {"q": q, "v": v}, about, params=params, out=out)


@batched
def momentum_jacobian(
    model: Model,
    q: Array[A],
    *,
    reference: MomentumReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The matrix that gives the total momentum, h = J(q) v.

    q: (B, nq).  Returns (B, 6, nv); `reference` as in `momentum`.  On a floating base, "local" is
    the first six rows of the mass matrix (`crba`).
    Composite inertias times motion subspaces, RBDA table 6.2.
    """
    about = _point_and_axes(reference, REFERENCES)
    return _call(
        _momentum.momentum_jacobian, model, {"q": q}, about, columns=COLUMNS, params=params, out=out
    )


@batched
def centroidal_momentum(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    reference: CentroidalReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Momentum about the centre of mass, h = A(q) v.

    q: (B, nq).  v: (B, nv).  Returns (B, 6): linear [kg·m/s], then angular momentum [kg·m²/s].
    reference: axes of the world ("local_world_aligned", the default) or of the root link ("local").
    Orin, Goswami and Lee, Centroidal dynamics of a humanoid robot, Autonomous Robots 35 (2013).
    """
    return _call(
        _momentum.momentum,
        model,
        {"q": q, "v": v},
        _point_and_axes(reference, CENTROIDAL_REFERENCES),
        name="centroidal_momentum",
        params=params,
        out=out,
    )


@batched
def centroidal_momentum_matrix(
    model: Model,
    q: Array[A],
    *,
    reference: CentroidalReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The centroidal momentum matrix A(q): momentum about the centre of mass is A v; the velocity
    of the centre of mass is A[:3] v / mass.

    q: (B, nq).  Returns (B, 6, nv); `reference` as in `centroidal_momentum`.
    Orin, Goswami and Lee (2013), computed from composite inertias as in Wensing and Orin, Int. J.
    Humanoid Robotics 13 (2016).
    """
    return _call(
        _momentum.momentum_jacobian,
        model,
        {"q": q},
        _point_and_axes(reference, CENTROIDAL_REFERENCES),
        name="centroidal_momentum_matrix",
        columns=COLUMNS,
        params=params,
        out=out,
    )


@batched
def centroidal_momentum_matrix_derivative(
    model: Model,
    q: Array[A],
    v: Array[A],
    *,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """dA/dt, the derivative of the centroidal momentum matrix along the motion v, in the world's
    axes.

    q: (B, nq).  v: (B, nv).  Returns (B, 6, nv).
    Columns X* (I' S + V ×* I S) with I' the rate of composite inertias; Wensing and Orin (2016).
    """
    about = dict(_point_and_axes("local_world_aligned", CENTROIDAL_REFERENCES))
    return _call(
        _centroidal.centroidal_momentum_matrix_derivative,
        model,
        {"q": q, "v": v},
        columns=RATE,
        rate_of=partial(_momentum.momentum_jacobian, **about),
        params=params,
        out=out,
    )


@batched
def centroidal_momentum_rate(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Rate of the centroidal momentum, A a + dA/dt v, in the world's axes.

    q: (B, nq).  v, a: (B, nv).  Returns (B, 6) [N, N·m]: the sum of all forces on the robot, weight
    among them, and of their moments about the centre of mass.
    Orin, Goswami and Lee (2013); by the forward pass of RBDA table 5.1.
    """
    arrays = {"q": q, "v": v, "a": a}
    return _call(_centroidal.centroidal_momentum_rate, model, arrays, params=params, out=out)


@batched
def locked_inertia(
    model: Model,
    q: Array[A],
    *,
    reference: MomentumReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Inertia of the robot with its joints locked, the sum of X* I X⁻¹ over its links, including
    links fixed to the world.

    q: (B, nq).  Returns (B, 6, 6), symmetric, linear part first [kg, kg·m, kg·m²]; `reference` as
    in `momentum`. With "centroidal" it is [[m 1, 0], [0, J]].
    RBDA 2.66.
    """
    about = _point_and_axes(reference, REFERENCES)
    return _call(_momentum.locked_inertia, model, {"q": q}, about, params=params, out=out)


@batched
def average_velocity(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    reference: MomentumReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The velocity at which the robot with locked joints would have the same momentum: locked
    inertia⁻¹ h.

    q: (B, nq).  v: (B, nv).  Returns (B, 6) [m/s, rad/s]; `reference` as in `momentum`. Not defined
    where all mass lies on one line.
    Orin, Goswami and Lee (2013).
    """
    about = _point_and_axes(reference, REFERENCES)
    return _call(_momentum.average_velocity, model, {"q": q, "v": v}, about, params=params, out=out)


@batched
def average_velocity_jacobian(
    model: Model,
    q: Array[A],
    *,
    reference: MomentumReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The matrix J(q) that gives the average velocity, J v: locked inertia⁻¹ times the momentum's
    Jacobian.

    q: (B, nq).  Returns (B, 6, nv); `reference` as in `momentum`.
    Orin, Goswami and Lee (2013).
    """
    return _call(
        _momentum.average_velocity_jacobian,
        model,
        {"q": q},
        _point_and_axes(reference, REFERENCES),
        columns=COLUMNS,
        params=params,
        out=out,
    )


@batched
def average_centroidal_velocity(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    reference: CentroidalReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The average velocity at the centre of mass: the velocity of the centre of mass, and J⁻¹ times
    the angular momentum.

    q: (B, nq).  v: (B, nv).  Returns (B, 6) [m/s, rad/s]; `reference` as in `centroidal_momentum`.
    Orin, Goswami and Lee (2013).
    """
    return _call(
        _momentum.average_velocity,
        model,
        {"q": q, "v": v},
        _point_and_axes(reference, CENTROIDAL_REFERENCES),
        name="average_centroidal_velocity",
        params=params,
        out=out,
    )


@batched
def average_centroidal_velocity_jacobian(
    model: Model,
    q: Array[A],
    *,
    reference: CentroidalReference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The matrix J(q) that gives the average velocity at the centre of mass, J v.

    q: (B, nq).  Returns (B, 6, nv); `reference` as in `centroidal_momentum`.
    Orin, Goswami and Lee (2013).
    """
    return _call(
        _momentum.average_velocity_jacobian,
        model,
        {"q": q},
        _point_and_axes(reference, CENTROIDAL_REFERENCES),
        name="average_centroidal_velocity_jacobian",
        columns=COLUMNS,
        params=params,
        out=out,
    )
