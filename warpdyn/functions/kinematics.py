"""Poses, velocities, accelerations and Jacobians of frames.

A frame is a link, identified by its name. `frame=` selects one frame, `frames=` several in the
order of the list. Without either, a function returns all links in the order of `model.link_names`.
`reference=` selects the frame of a spatial vector: "local" (origin and axes of the link), "world"
(origin and axes of the world) or "local_world_aligned" (origin of the link, axes of the world);
aliases "body", "inertial", "mixed".
`relative_to=` replaces the world by another frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from ..algorithms import fk as _fk
from ..algorithms import frame_motion as _motion
from ..algorithms import jacobian as _jacobian
from ..algorithms import jacobian_derivative as _derivative
from ..algorithms import manipulability as _manipulability
from ..algorithms.frames import PARTS, Part, for_frames
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.base_velocity import BIAS, COLUMNS, RATE
from ..execution.request.call import Call
from ..model import Model
from ..model.params import Params
from ..model.reference_frames import Reference, one_of, reference_of
from .frame_options import (
    POINT,
    Algorithm,
    at_point,
    for_each_link,
    links_option,
    of_link,
    relative_option,
)


@batched
def fk(
    model: Model,
    q: Array[A],
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    relative_to: str | None = None,
    form: _fk.Form = "matrix",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Forward kinematics: poses of links in the world, or in the frame `relative_to`.

    q: (B, nq) [m, rad].
    Returns homogeneous matrices, link frame to world: (B, nlinks, 4, 4) in the order of
    `model.link_names`;
    with `frames=[...]` (B, len(frames), 4, 4); with `frame="name"` (B, 4, 4).
    With form="pose", [x y z qx qy qz qw] instead, qw >= 0: (B, nlinks, 7), (B, len(frames), 7), (B,
    7); always xyzw, whatever the model's own quaternion order.
    Craig, Introduction to Robotics, section 3.2; the quaternion by Shepperd, J. Guidance and
    Control 1 (1978).

    >>> model = wd.load_robot("panda")
    >>> q = wd.random_configuration(model, 100)
    >>> wd.fk(model, q, frame="panda_hand").shape, wd.fk(model, q, form="pose").shape
    ((100, 4, 4), (100, 13, 7))
    """
    algorithms, options = for_each_link((_fk.fk,), model, frame, frames)
    one_of("form", form, _fk.FORMS)
    options += (*relative_option(model, relative_to), ("form", form))
    return Call("fk", model, algorithms, {"q": q}, out=out, options=options, params=params)


@batched
def jacobian(
    model: Model,
    q: Array[A],
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: Reference = "local_world_aligned",
    relative_to: str | None = None,
    point: Sequence[float] | Array[A] | None = None,
    part: Part = "both",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Geometric Jacobian: J v is the spatial velocity of a link, linear part first.

    q: (B, nq) [m, rad].
    Returns (B, 6, nv) for `frame="name"`, (B, len(frames), 6, nv) for `frames=[...]`, (B, nlinks,
    6, nv) for neither.
    reference: "local", "world", "local_world_aligned" (see the module docstring).
    relative_to: the velocity is relative to this frame, which then replaces the world in
    `reference`; the rate of `fk(relative_to=...)`.
    point: replaces the origin of `frame`, in the frame's coordinates [m]: three numbers, which
    become part of the program, or an array (B, 3).
    part: "both", or three rows: "linear", "angular".
    RBDA section 3.3 (v = J q'); Lynch and Park, Modern Robotics, section 5.1.

    >>> model = wd.load_robot("panda")
    >>> q, v = model.neutral, np.ones(model.nv)
    >>> J = wd.jacobian(model, q, frame="panda_hand")
    >>> np.allclose(J @ v, wd.frame_velocity(model, q, v, frame="panda_hand"))
    True
    """
    chosen = reference_of(reference)
    options, several = links_option(model, frame, frames)
    options += (
        ("reference", chosen),
        ("part", one_of("part", part, PARTS)),
        *relative_option(model, relative_to),
    )
    algorithm, arrays, where = at_point(_jacobian.jacobian, point, several)
    algorithms: tuple[Algorithm, ...] = (for_frames(algorithm) if several else algorithm,)
    if several and chosen == "local" and relative_to is None:
        algorithms += (_jacobian.jacobians_from_the_root,)
    return Call(
        "jacobian",
        model,
        algorithms,
        {"q": q, **arrays},
        out=out,
        options=options + where,
        shapes=POINT,
        params=params,
        by_velocity={"out": COLUMNS},
    )


@batched
def pose_and_jacobian(
    model: Model,
    q: Array[A],
    *,
    frame: str,
    reference: Reference = "local_world_aligned",
    params: Params | None = None,
    out: tuple[Array[A], Array[A]] | None = None,
) -> Call[tuple[A, A]]:
    """Pose and Jacobian of a link in one pass: `fk(frame=...)` and `jacobian(frame=...)`.

    q: (B, nq) [m, rad].  Returns T: (B, 4, 4) and J: (B, 6, nv).
    """
    return Call.of(
        _jacobian.pose_and_jacobian,
        model,
        {"q": q},
        out=out,
        options=of_link(model, frame, reference),
        results=("pose", "jacobian"),
        params=params,
        by_velocity={"jacobian": COLUMNS},
    )


@batched
def frame_velocity(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: Reference = "local_world_aligned",
    relative_to: str | None = None,
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Spatial velocity of links: linear, then angular [m/s, rad/s].

    q: (B, nq).  v: (B, nv).
    Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for
    neither.
    reference, relative_to: as in `jacobian`.
    RBDA table 5.1: v_i = v_parent + S_i q'_i.

    >>> model = wd.load_robot("panda")
    >>> q, v = wd.random_configuration(model, 100), np.ones((100, model.nv))
    >>> wd.frame_velocity(model, q, v, frames=["panda_link4", "panda_hand"]).shape
    (100, 2, 6)
    """
    algorithms, options = for_each_link((_motion.frame_velocity,), model, frame, frames)
    options += (("reference", reference_of(reference)), *relative_option(model, relative_to))
    return Call(
        "frame_velocity",
        model,
        algorithms,
        {"q": q, "v": v},
        out=out,
        options=options,
        params=params,
    )


@batched
def frame_acceleration(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: Reference = "local_world_aligned",
    kind: _motion.AccelerationKind = "spatial",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Acceleration of links, without gravity: linear, then angular [m/s², rad/s²].

    q: (B, nq).  v, a: (B, nv).  Returns shapes as in `frame_velocity`.
    kind: "spatial", the derivative of the spatial velocity as a vector in space; J a + J' v with
    "local" or "world".
    "classical": the acceleration of the point at the reference's origin, linear + ω × v; J a + J' v
    with "local_world_aligned".
    RBDA table 5.1: a_i = a_parent + S_i q''_i + v_i × S_i q'_i; the classical one is equation 2.42.
    """
    one_of("kind", kind, get_args(_motion.AccelerationKind))
    chosen = reference_of(reference)
    algorithms: tuple[Algorithm, ...] = (_motion.frame_acceleration,)
    if chosen != "local" and (chosen, kind) != ("world", "classical"):
        algorithms += (_motion.frame_acceleration_turned,)
    algorithms, options = for_each_link(algorithms, model, frame, frames)
    options += (("reference", chosen), ("kind", kind))
    return Call(
        "frame_acceleration",
        model,
        algorithms,
        {"q": q, "v": v, "a": a},
        out=out,
        options=options,
        params=params,
    )


@batched
def frame_bias_acceleration(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: Reference = "local_world_aligned",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """J' v, the acceleration of links that is due to the velocities alone [m/s², rad/s²].

    q: (B, nq).  v: (B, nv).  Returns shapes as in `frame_velocity`.
    `frame_acceleration` at a = 0: spatial with "local" and "world", classical with
    "local_world_aligned".
    RBDA section 3.3, a = J q'' + J' q'.
    """
    chosen = reference_of(reference)
    algorithms: tuple[Algorithm, ...] = (_motion.frame_bias_acceleration,)
    if chosen != "local":
        algorithms += (_motion.frame_bias_acceleration_turned,)
    algorithms, options = for_each_link(algorithms, model, frame, frames)
    options += (("reference", chosen),)
    rate_of = _jacobian.jacobian if frame is not None else for_frames(_jacobian.jacobian)
    return Call(
        "frame_bias_acceleration",
        model,
        algorithms,
        {"q": q, "v": v},
        out=out,
        options=options,
        params=params,
        rate_of=rate_of,
        by_velocity={"out": BIAS},
    )


@batched
def jacobian_derivative(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: Reference = "local_world_aligned",
    point: Sequence[float] | Array[A] | None = None,
    part: Part = "both",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """dJ/dt along the motion v, J as in `jacobian` with the same options.

    q: (B, nq).  v: (B, nv).  Returns the shapes of `jacobian`.
    RBDA section 3.3; each column is a vector fixed in a moving body, 2.31.
    """
    options, several = links_option(model, frame, frames)
    options += (("reference", reference_of(reference)), ("part", one_of("part", part, PARTS)))
    algorithm, arrays, where = at_point(_derivative.jacobian_derivative, point, several)
    rate_of, _, _ = at_point(_jacobian.jacobian, point, several)
    algorithm, rate_of = (for_frames(each) if several else each for each in (algorithm, rate_of))
    return Call(
        "jacobian_derivative",
        model,
        (algorithm,),
        {"q": q, "v": v, **arrays},
        out=out,
        options=options + where,
        shapes=POINT,
        params=params,
        rate_of=rate_of,
        by_velocity={"out": RATE},
    )


@batched
def kinematic_hessian(
    model: Model,
    q: Array[A],
    *,
    frame: str,
    reference: Reference = "local_world_aligned",
    part: Part = "both",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Derivative of a link's Jacobian with respect to the configuration, in the tangent space.

    q: (B, nq).  Returns H: (B, 6, nv, nv), H[..., j, k] = d J[..., j] / d q_k; dJ/dt = sum of
    H[..., k] v_k.
    reference, part: as in `jacobian`. With "local_world_aligned" the linear part is symmetric in j
    and k if every joint has one coordinate: it is then the second derivative of the position.
    Each column is differentiated by RBDA 2.31.
    """
    return Call.of(
        _derivative.kinematic_hessian,
        model,
        {"q": q},
        out=out,
        options=of_link(model, frame, reference, part),
        shapes={"out": (6 if part == "both" else 3, model.nv, model.nv)},
        params=params,
        local_only="derivatives(wd.jacobian, model, q, frame=...)",
    )


@batched
def manipulability(
    model: Model,
    q: Array[A],
    *,
    frame: str,
    part: Part = "both",
    params: Params | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Yoshikawa's manipulability of a link: sqrt(det(J Jᵀ)), J at the link's origin.

    q: (B, nq).  Returns (B,), zero in singular configurations, where the link cannot move in some
    direction.
    part: "both", "linear" or "angular" rows of J. If fewer coordinates move the link than J has
    rows, det(J Jᵀ) is always zero. The function then returns sqrt(det(Jᵀ J)), the measure within
    the link's own freedom.
    Yoshikawa, Int. J. Robotics Research 4(2), 1985.
    """
    options = of_link(model, frame, part=part)
    return Call.of(
        _manipulability.manipulability, model, {"q": q}, out=out, options=options, params=params
    )
