"""Positions, velocities, poses, Jacobians and ground contact of contact points.

A contact point is a sphere fixed in a link (`ContactPoint`, `ContactPoints`). Its position,
velocity and Jacobian are those of the centre. Heights are those of the sphere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...algorithms import jacobian as _jacobian
from ...algorithms import jacobian_derivative as _derivative
from ...algorithms.fk import fk
from ...algorithms.frames import PARTS, Part, for_frames
from ...algorithms.simulation import point_frames as _points
from ...algorithms.simulation.contact_rows import ContactPoint
from ...arrays import A, Array
from ...execution.batched import batched
from ...execution.request.base_velocity import COLUMNS, RATE
from ...execution.request.call import Call
from ...execution.request.inputs import PLAIN, TABLE
from ...model import Model
from ...model.params import Params
from ...model.reference_frames import Reference, one_of, reference_of
from .point_checks import checked_points, refusing_still_points
from .terrain import TABLES, HeightMap, Plane, terrain_arrays

JACOBIANS = _points.at_points(for_frames(_jacobian.jacobian))
DERIVATIVES = _points.at_points(for_frames(_derivative.jacobian_derivative))


@batched
def point_positions(
    model: Model,
    q: Array[A],
    *,
    points: Sequence[ContactPoint],
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Positions of contact points' centres in the world [m].

    q: (B, nq).  Returns (B, points, 3).
    """
    chosen = checked_points(model, points)
    return Call.of(
        _points.point_positions,
        model,
        {"q": q},
        out=out,
        options=(("points", chosen),),
        shapes={"out": (len(chosen), 3)},
        params=params,
    )


@batched
def point_velocities(
    model: Model,
    q: Array[A],
    v: Array[A],
    *,
    points: Sequence[ContactPoint],
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Velocities of contact points' centres, in the world's axes [m/s]: rate of `point_positions`.

    q: (B, nq).  v: (B, nv).  Returns (B, points, 3).
    """
    chosen = checked_points(model, points)
    return Call.of(
        _points.point_velocities,
        model,
        {"q": q, "v": v},
        out=out,
        options=(("points", chosen),),
        shapes={"out": (len(chosen), 3)},
        params=params,
    )


@batched
def point_transforms(
    model: Model,
    q: Array[A],
    *,
    points: Sequence[ContactPoint],
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Poses of contact points: the origin at the centre, the axes of the link.

    q: (B, nq).  Returns homogeneous matrices, point to world, (B, points, 4, 4).
    """
    chosen = checked_points(model, points)
    return Call(
        "point_transforms",
        model,
        (_points.at_points(fk),),
        {"q": q},
        out=out,
        options=(("points", chosen),),
        shapes={"out": (len(chosen), 4, 4)},
        params=params,
    )


@batched
def point_jacobians(
    model: Model,
    q: Array[A],
    *,
    points: Sequence[ContactPoint],
    reference: Reference = "local_world_aligned",
    part: Part = "both",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Jacobians of contact points, like `jacobian` of links: J v is the point's velocity.

    q: (B, nq).  Returns (B, points, 6, nv), or three rows with `part`. A force f on the points acts
    as Jᵀ f on the joints.
    reference: "local" (origin and axes of `point_transforms`), "world" or "local_world_aligned".
    """
    chosen = checked_points(model, points)
    rows = 6 if one_of("part", part, PARTS) == "both" else 3
    return Call(
        "point_jacobians",
        model,
        (JACOBIANS,),
        {"q": q},
        out=out,
        options=(("points", chosen), ("reference", reference_of(reference)), ("part", part)),
        shapes={"out": (len(chosen), rows, model.nv)},
        params=params,
        by_velocity={"out": COLUMNS},
    )


@batched
def point_jacobian_derivatives(
    model: Model,
    q: Array[A],
    v: Array[A],
    *,
    points: Sequence[ContactPoint],
    reference: Reference = "local_world_aligned",
    part: Part = "both",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """dJ/dt along the motion v, J the `point_jacobians` with the same options.

    q: (B, nq).  v: (B, nv).  Returns the shape of `point_jacobians`.
    """
    chosen = checked_points(model, points)
    rows = 6 if one_of("part", part, PARTS) == "both" else 3
    return Call(
        "point_jacobian_derivatives",
        model,
        (DERIVATIVES,),
        {"q": q, "v": v},
        out=out,
        options=(("points", chosen), ("reference", reference_of(reference)), ("part", part)),
        shapes={"out": (len(chosen), rows, model.nv)},
        params=params,
        rate_of=JACOBIANS,
        by_velocity={"out": RATE},
    )


@batched
def point_heights(
    model: Model,
    q: Array[A],
    *,
    points: Sequence[ContactPoint],
    terrain: HeightMap | Plane | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Heights of contact points' spheres above the ground, negative inside it [m].

    q: (B, nq) [m, rad].  Returns (B, points).
    terrain: as in `step`; None: the plane z = 0. On a terrain the height is the distance from the
    plane that is tangent to the ground below the centre.
    """
    return _heights_call(_points.point_heights, model, q, points, terrain, params, out)


@batched
def in_contact(
    model: Model,
    q: Array[A],
    *,
    points: Sequence[ContactPoint],
    links: Sequence[str] | None = None,
    terrain: HeightMap | Plane | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Contact flags of links: 1 if one of a link's points touches the ground, else 0.

    q: (B, nq) [m, rad].  Returns (B, links); without `links=`, all links in the order of
    `model.link_names`. A point touches if its height (`point_heights`) is 0 or less, whatever the
    force. terrain: as in `step`.
    """
    names = model.link_names if links is None else tuple(links)
    model.link_indices(names)
    return _heights_call(_points.in_contact, model, q, points, terrain, params, out, links=names)


def _heights_call(
    algorithm: Callable[..., list],
    model: Model,
    q: Array[A],
    points: Sequence[ContactPoint],
    terrain: HeightMap | Plane | None,
    params: Params | None,
    out: Array[A] | None,
    **links: tuple[str, ...],
) -> Call[A]:
    """The call of an algorithm with the heights of points above a terrain; a result for each point,
    or for each of `links`."""
    chosen = checked_points(model, points)
    more = terrain_arrays(model, terrain, chosen, q)
    return Call.of(
        algorithm,
        model,
        {"q": q, **{name: array for name, (array, _) in more.items()}},
        out=out,
        options=(("points", chosen), *links.items(), ("arrays", tuple(more))),
        shapes={
            "out": (len(links.get("links", chosen)),),
            **{name: shape for name, (_, shape) in more.items()},
        },
        params=params,
        arguments={name: TABLE if name in TABLES else PLAIN for name in more},
        refuse=refusing_still_points(chosen),
    )
