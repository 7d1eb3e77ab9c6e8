"""Poses, velocities, accelerations and Jacobians of frames.

A frame is a link by its name. `frame=` asks for one, `frames=` for several, in the order given; neither for all links,
in the order of `model.link_names`. `reference=` says where a spatial vector is taken: "local" (origin and axes of the
link), "world" (origin and axes of the world) or "local_world_aligned" (origin of the link, axes of the world); aliases
"body", "inertial", "mixed". `relative_to=` puts another frame in the world's place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..algorithms import fk as _fk
from ..algorithms import frame_motion as _motion
from ..algorithms import jacobian as _jacobian
from ..algorithms import jacobian_derivative as _derivative
from ..algorithms import manipulability as _manipulability
from ..algorithms.frames import PARTS, of_one, of_several, with_point
from ..arrays import Array
from ..execution.call import Call
from ..execution.launch import batched
from ..model import Model
from ..model.reference_frames import one_of, reference_of

Text = Callable[..., Any]
Options = tuple[tuple[str, Any], ...]


@batched
def fk(
    model: Model,
    q: Array,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    relative_to: str | None = None,
    form: str = "matrix",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Forward kinematics: poses of links in the world, or in the frame `relative_to`.

    q: (B, nq) [m, rad].
    Returns homogeneous matrices, link frame to world: (B, nlinks, 4, 4) in the order of `model.link_names`;
    with `frames=[...]` (B, len(frames), 4, 4); with `frame="name"` (B, 4, 4).
    With form="pose", [x y z qx qy qz qw] instead, qw >= 0: (B, nlinks, 7), (B, len(frames), 7), (B, 7); xyzw whichever
    order the model's own quaternions have.
    Craig, Introduction to Robotics, section 3.2; the quaternion by Shepperd, J. Guidance and Control 1 (1978).
    """
    texts, options = _each((_fk.fk,), model, frame, frames)
    one_of("form", form, _fk.FORMS)
    options += (*_relative(model, relative_to), ("form", form))
    return Call("fk", model, texts, {"q": q}, out, options, params=params)


@batched
def jacobian(
    model: Model,
    q: Array,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: str = "local_world_aligned",
    relative_to: str | None = None,
    point: Sequence[float] | Array | None = None,
    part: str = "both",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Geometric Jacobian: J v is the spatial velocity of a link, linear part first.

    q: (B, nq) [m, rad].
    Returns (B, 6, nv) for `frame="name"`, (B, len(frames), 6, nv) for `frames=[...]`, (B, nlinks, 6, nv) for neither.
    reference: "local", "world", "local_world_aligned" (see the module).
    relative_to: the velocity relative to another frame, which then is what "world" means above; rate of
    `fk(relative_to=...)`.
    point: takes the place of the origin of `frame`, in its coordinates [m]: three numbers, which become part of the
    program, or an array (B, 3).
    part: "both", or three rows: "linear", "angular".
    RBDA section 3.3 (v = J q'); Lynch and Park, Modern Robotics, section 5.1.
    """
    chosen = reference_of(reference)
    options, several = _named(model, frame, frames)
    options += (
        ("reference", chosen),
        ("part", one_of("part", part, PARTS)),
        *_relative(model, relative_to),
    )
    text, arrays, where = _at_point(_jacobian.jacobian, point, several)
    texts: tuple[Text, ...] = (of_several(text) if several else text,)
    if several and chosen == "local" and relative_to is None:
        texts += (_jacobian.jacobians_from_the_root,)
    return Call(
        "jacobian",
        model,
        texts,
        {"q": q, **arrays},
        out,
        options + where,
        shapes=_POINT,
        params=params,
    )


@batched
def pose_and_jacobian(
    model: Model,
    q: Array,
    *,
    frame: str,
    reference: str = "local_world_aligned",
    params: Any = None,
    out: tuple[Array, Array] | None = None,
) -> Any:
    """Pose and Jacobian of a link in one pass: `fk(frame=...)` and `jacobian(frame=...)`.

    q: (B, nq) [m, rad].  Returns T: (B, 4, 4) and J: (B, 6, nv).
    """
    texts, options = (_jacobian.pose_and_jacobian,), of_link(model, frame, reference)
    return Call(
        "pose_and_jacobian",
        model,
        texts,
        {"q": q},
        out,
        options,
        results=("pose", "jacobian"),
        params=params,
    )


@batched
def frame_velocity(
    model: Model,
    q: Array,
    v: Array,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: str = "local_world_aligned",
    relative_to: str | None = None,
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Spatial velocity of links: linear, then angular [m/s, rad/s].

    q: (B, nq).  v: (B, nv).
    Returns (B, 6) for `frame="name"`, (B, len(frames), 6) for `frames=[...]`, (B, nlinks, 6) for neither.
    reference, relative_to: as in `jacobian`.
    RBDA table 5.1: v_i = v_parent + S_i q'_i.
    """
    texts, options = _each((_motion.frame_velocity,), model, frame, frames)
    options += (("reference", reference_of(reference)), *_relative(model, relative_to))
    return Call("frame_velocity", model, texts, {"q": q, "v": v}, out, options, params=params)


@batched
def frame_acceleration(
    model: Model,
    q: Array,
    v: Array,
    a: Array,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: str = "local_world_aligned",
    kind: str = "spatial",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Acceleration of links, without gravity: linear, then angular [m/s², rad/s²].

    q: (B, nq).  v, a: (B, nv).  Returns shapes as in `frame_velocity`.
    kind: "spatial", the derivative of the spatial velocity as a vector in space; J a + J' v with "local" or "world".
    "classical": of the point at the reference's origin, linear + ω × v; J a + J' v with "local_world_aligned".
    RBDA table 5.1: a_i = a_parent + S_i q''_i + v_i × S_i q'_i; the classical one is equation 2.42.
    """
    one_of("kind", kind, ("spatial", "classical"))
    chosen = reference_of(reference)
    texts: tuple[Text, ...] = (_motion.frame_acceleration,)
    if chosen != "local" and (chosen, kind) != ("world", "classical"):
        texts += (_motion.frame_acceleration_turned,)
    texts, options = _each(texts, model, frame, frames)
    options += (("reference", chosen), ("kind", kind))
    return Call(
        "frame_acceleration", model, texts, {"q": q, "v": v, "a": a}, out, options, params=params
    )


@batched
def frame_bias_acceleration(
    model: Model,
    q: Array,
    v: Array,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: str = "local_world_aligned",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """J' v, the acceleration of links that velocities alone give [m/s², rad/s²].

    q: (B, nq).  v: (B, nv).  Returns shapes as in `frame_velocity`.
    `frame_acceleration` at a = 0: spatial with "local" and "world", classical with "local_world_aligned".
    RBDA section 3.3, a = J q'' + J' q'.
    """
    chosen = reference_of(reference)
    texts: tuple[Text, ...] = (_motion.frame_bias_acceleration,)
    if chosen != "local":
        texts += (_motion.frame_bias_acceleration_turned,)
    texts, options = _each(texts, model, frame, frames)
    options += (("reference", chosen),)
    rate_of = _jacobian.jacobian if frame is not None else of_several(_jacobian.jacobian)
    arrays = {"q": q, "v": v}
    return Call(
        "frame_bias_acceleration",
        model,
        texts,
        arrays,
        out,
        options,
        params=params,
        rate_of=rate_of,
    )


@batched
def jacobian_derivative(
    model: Model,
    q: Array,
    v: Array,
    *,
    frame: str | None = None,
    frames: Sequence[str] | None = None,
    reference: str = "local_world_aligned",
    point: Sequence[float] | Array | None = None,
    part: str = "both",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """dJ/dt along the motion v, J as in `jacobian` with the same options.

    q: (B, nq).  v: (B, nv).  Returns the shapes of `jacobian`.
    RBDA section 3.3; each column is a vector fixed in a moving body, 2.31.
    """
    options, several = _named(model, frame, frames)
    options += (("reference", reference_of(reference)), ("part", one_of("part", part, PARTS)))
    text, arrays, where = _at_point(_derivative.jacobian_derivative, point, several)
    rate_of, _, _ = _at_point(_jacobian.jacobian, point, several)
    text, rate_of = (of_several(each) if several else each for each in (text, rate_of))
    return Call(
        "jacobian_derivative",
        model,
        (text,),
        {"q": q, "v": v, **arrays},
        out,
        options + where,
        shapes=_POINT,
        params=params,
        rate_of=rate_of,
    )


@batched
def kinematic_hessian(
    model: Model,
    q: Array,
    *,
    frame: str,
    reference: str = "local_world_aligned",
    part: str = "both",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Derivative of the Jacobian of a link by the configuration, over the tangent space.

    q: (B, nq).  Returns H: (B, 6, nv, nv), H[..., j, k] = d J[..., j] / d q_k; dJ/dt = sum of H[..., k] v_k.
    reference, part: as in `jacobian`. With "local_world_aligned" the linear part is symmetric in j and k where joints
    have one coordinate each: the second derivative of the position.
    Columns by columns: RBDA 2.31.
    """
    options = of_link(model, frame, reference, part)
    shapes = {"out": (6 if part == "both" else 3, model.nv, model.nv)}
    texts = (_derivative.kinematic_hessian,)
    return Call(
        "kinematic_hessian", model, texts, {"q": q}, out, options, shapes=shapes, params=params
    )


@batched
def manipulability(
    model: Model,
    q: Array,
    *,
    frame: str,
    part: str = "both",
    params: Any = None,
    out: Array | None = None,
) -> Any:
    """Yoshikawa's measure of how freely a link can move: sqrt(det(J Jᵀ)), J at the link's origin.

    q: (B, nq).  Returns (B,), zero where a direction is lost.
    part: "both", "linear" or "angular" rows of J. Where fewer coordinates move the link than J has rows, det(J Jᵀ) is
    always zero, and sqrt(det(Jᵀ J)) is given: what is left of its own freedom.
    Yoshikawa, Int. J. Robotics Research 4(2), 1985.
    """
    options = of_link(model, frame, part=part)
    return Call(
        "manipulability",
        model,
        (_manipulability.manipulability,),
        {"q": q},
        out,
        options,
        params=params,
    )


# What the options may be.


def of_link(
    model: Model, frame: str, reference: str | None = None, part: str | None = None
) -> Options:
    """The options of what is asked of one link."""
    model.link_index(frame)
    options: Options = (("frame", frame),)
    if reference is not None:
        options += (("reference", reference_of(reference)),)
    return options if part is None else (*options, ("part", one_of("part", part, PARTS)))


def _named(model: Model, frame: str | None, frames: Sequence[str] | None) -> tuple[Options, bool]:
    """The option that names the links, and whether it names several."""
    if frame is not None and frames is not None:
        raise ValueError("give frame= (one name) or frames= (a list of names), not both")
    if isinstance(frame, (list, tuple)):
        raise TypeError(
            f"frame must be the name of one link, got {frame!r}; for several give frames=[...]"
        )
    if frame is not None:
        return of_link(model, frame), False
    names = model.link_names if frames is None else tuple(frames)
    if isinstance(frames, str) or not names:
        raise ValueError(
            f'frames must be a list of link names, got {frames!r}; for one frame use frame="name"'
        )
    model.link_indices(names)
    return (("frames", names),), True


def _each(
    texts: tuple[Text, ...], model: Model, frame: str | None, frames: Sequence[str] | None
) -> tuple[tuple[Text, ...], Options]:
    """Texts for several links, or made for one if one is asked for, and the option that names the links."""
    options, several = _named(model, frame, frames)
    return (texts if several else tuple(of_one(text) for text in texts)), options


def _relative(model: Model, relative_to: str | None) -> Options:
    if relative_to is None:
        return ()
    model.link_index(relative_to)
    return (("relative_to", relative_to),)


_POINT = {"point": (3,)}


def _at_point(
    text: Text, point: Sequence[float] | Array | None, several: bool
) -> tuple[Text, dict[str, Any], Options]:
    """The text with a point as an input array, or as a constant of the program."""
    if point is None:
        return text, {}, ()
    if several:
        raise ValueError('a point is fixed to one frame: give frame="name" with point=')
    if not isinstance(point, (list, tuple)):
        return with_point(text), {"point": point}, ()
    if len(point) != 3:
        raise ValueError(f"point must be three numbers or an array (B, 3), got {point!r}")
    return text, {}, (("point", tuple(float(x) for x in point)),)
