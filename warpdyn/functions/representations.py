"""Velocities, accelerations, forces and configurations in other conventions: the three
representations of a twist, and the states of MuJoCo, Newton, Drake and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..algorithms import configurations as _configurations
from ..algorithms import representations as _representations
from ..arrays import A, Array
from ..execution.batched import batched
from ..execution.request.call import Call
from ..model import Model
from ..model.conventions import CONVENTIONS, ColumnMap, OtherLibrary, column_map
from ..model.reference_frames import REFERENCES, Reference, reference_of
from .poses import SPACE

OWN: Literal["warpdyn"] = "warpdyn"
"""Coordinates of all other functions of warpdyn."""

Side = Literal["warpdyn"] | OtherLibrary
Representation = Reference | Side
"""A representation of a free base's velocity, or a library whose coordinates are meant."""

VELOCITIES, FORCES = ("v_to", "v_from"), ("tau_to", "tau_from")
"""Fields of a column map: to the library, and from it."""


@batched
def convert_configuration(
    model: Model,
    q: Array[A],
    *,
    source: Side = OWN,
    target: Side = OWN,
    joints: Sequence[str] | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The configuration in the coordinates of another library, converted to them or from them.

    source, target: one "warpdyn", the other "mujoco", "newton", "drake" or "pinocchio".
    q: (B, nq) [m, rad] in the source's coordinates.  Returns (B, n) in the target's.
    Free base: MuJoCo [p, wxyz], Newton and Pinocchio [p, xyzw], Drake [wxyz, p]. Pinocchio's
    continuous joints are [cos, sin]; from it the angle is atan2(sin, cos), between -π and π.
    joints: names in the order of the other library's columns. By default every moving joint,
    including mimic joints, in the order of the description (MuJoCo, Newton, Drake), or siblings
    sorted by name (Pinocchio). Mimic joints get multiplier * q + offset, and are left out on the
    way back.
    """
    chosen, to = _sides(model, source, target, joints)
    entries = chosen.q_to if to else chosen.q_from
    shape = (model.nq if to else len(chosen.q_to),)
    return Call.of(
        _configurations.convert_configuration,
        model,
        {"q": q},
        out=out,
        options=(("entries", entries),),
        shapes={"q": shape, "out": (len(entries),)},
        by_velocity=None,
    )


@batched
def convert_velocity(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    *,
    source: Representation = OWN,
    target: Representation = OWN,
    joints: Sequence[str] | None = None,
    com: Sequence[float] | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The generalized velocity with the free base's twist in another representation; joint columns
    are unchanged.

    q: (B, nq) [m, rad], always in warpdyn's coordinates.  v: (B, nv) [m/s, rad/s].  Returns (B,
    nv).
    source, target: a representation or a library.
    - "local" ("body"): linear and angular velocity of the root link in its own axes, warpdyn's own;
    - "local_world_aligned" ("mixed"): the same in the world's axes;
    - "world" ("inertial"): velocity of the body's point that is at the world's origin, v + p × ω,
    in the world's axes;
    - "mujoco": linear in the world's axes, angular in the body's;
    - "newton": linear velocity of the root link's centre of mass, and angular, in the world's axes;
    - "drake": angular first, then linear, in the world's axes;
    - "pinocchio": "local".
    If one side is a library, the joint columns follow its order; see `convert.configuration` for
    `joints`.
    com: the point of Newton's linear velocity, in the root link's frame; by default the link's
    centre of mass. If Newton has merged links at fixed joints into the root, give the centre of
    mass of the merged body.
    Featherstone, Rigid Body Dynamics Algorithms (2008), section 2.8.
    """
    return _whole(
        _representations.convert_velocity,
        model,
        {"q": q, "v": v},
        out=out,
        convention=(source, target, joints, com),
        which=VELOCITIES,
    )


@batched
def convert_acceleration(
    model: Model,
    q: Array[A],
    v: Array[A] | None,
    a: Array[A] | None,
    *,
    source: Representation = OWN,
    target: Representation = OWN,
    joints: Sequence[str] | None = None,
    com: Sequence[float] | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """The rate of the target's velocity components, from the source's velocity `v` and its rate
    `a`.

    q: (B, nq), warpdyn's.  v, a: (B, nv) in the source's convention, named as in
    `convert.velocity`.
    Returns (B, nv) [m/s², rad/s²].
    Between "local" and "world", accelerations transform like twists. If the linear part is that of
    a moving point in the world's axes, ω × v of that point is added (RBDA section 2.10; classical
    acceleration, RBDA 2.51).
    """
    return _whole(
        _representations.convert_acceleration,
        model,
        {"q": q, "v": v, "a": a},
        out=out,
        convention=(source, target, joints, com),
        which=VELOCITIES,
    )


@batched
def convert_force(
    model: Model,
    q: Array[A],
    tau: Array[A],
    *,
    source: Representation = OWN,
    target: Representation = OWN,
    joints: Sequence[str] | None = None,
    com: Sequence[float] | None = None,
    out: Array[A] | None = None,
) -> Call[A]:
    """Generalized forces with the same power, with the free base's wrench in another
    representation.

    q: (B, nq), warpdyn's.  tau: (B, nv) [N, N·m] in the source's convention, named as in
    `convert.velocity`.
    Returns (B, nv): tau' = T⁻ᵀ tau where v' = T v. Forces on another library's mimic joints are
    added to the joint that they follow, times their multiplier. In the other direction they are
    zero.
    RBDA 2.27, 2.29.
    """
    return _whole(
        _representations.convert_force,
        model,
        {"q": q, "tau": tau},
        out=out,
        convention=(source, target, joints, com),
        which=FORCES,
    )


def _whole(
    algorithm: Callable[..., Any],
    model: Model,
    arrays: Mapping[str, Array[A] | None],
    *,
    out: Array[A] | None,
    convention: tuple[str, str, Sequence[str] | None, Sequence[float] | None],
    which: tuple[str, str],
) -> Call[A]:
    """Call of a conversion of all velocity coordinates; its inputs and results are labelled with
    their representations."""
    source, target, joints, com = convention
    columns = None
    widths: dict[str, tuple[int, ...]] = {}
    if source in CONVENTIONS or target in CONVENTIONS:
        chosen, to = _sides(model, source, target, joints)
        columns = getattr(chosen, which[0] if to else which[1])
        wide = 6 * model.floating_base + len(chosen.v_to)
        widths = {name: (model.nv if to else wide,) for name in arrays if name != "q"}
        widths["out"] = (wide if to else model.nv,)
    elif joints is not None:
        raise ValueError(
            "joints= is the order of another library's columns; source or target must name the library"
        )
    conversion = _representations.BaseConversion(
        model.root,
        _representation(model, "source", source),
        _representation(model, "target", target),
        model.link(model.root).com if com is None else tuple(float(x) for x in com),
        columns,
    )
    options = (("conversion", conversion),)
    return Call.of(
        algorithm, model, arrays, out=out, options=options, shapes=widths, by_velocity=None
    )


def _sides(
    model: Model, source: str, target: str, joints: Sequence[str] | None
) -> tuple[ColumnMap, bool]:
    """The other library's columns, and True if the conversion goes to it."""
    libraries = [side for side in (source, target) if side in CONVENTIONS]
    if len(libraries) != 1:
        raise ValueError(
            f"one of source and target must be a library ({', '.join(CONVENTIONS)}) and the other warpdyn's own, "
            f"got {source!r} and {target!r}; convert from one library to another in two steps"
        )
    order = None if joints is None else tuple(joints)
    return column_map(model, libraries[0], order), target in CONVENTIONS


def _representation(model: Model, side: str, name: str) -> str:
    """The name of a twist's representation; for a library, its own."""
    if name in CONVENTIONS:
        return CONVENTIONS[name].base
    if name == OWN:
        return model.base_velocity
    return reference_of(name, side, (*REFERENCES, OWN, *CONVENTIONS))


# Six-vectors of any frame.


def _between(source: str, target: str) -> tuple[tuple[str, Any], ...]:
    return (("source", reference_of(source, "source")), ("target", reference_of(target, "target")))


@batched
def convert_twist(
    pose: Array[A],
    twist: Array[A],
    *,
    source: Reference,
    target: Reference,
    out: Array[A] | None = None,
) -> Call[A]:
    """A frame's twist from one representation to another, given the frame's pose.

    pose: (B, 7) [x y z qx qy qz qw] of the frame in the world, or in any other frame, which then
    replaces the world.
    twist: (B, 6) [m/s, rad/s], linear then angular.  Returns (B, 6).
    source, target: "local" ("body"), "local_world_aligned" ("mixed") or "world" ("inertial").
    From "local" to "world" this is the general transform of motions: v' = R v + p × R ω, ω' = R ω;
    RBDA 2.24.
    """
    return Call.of(
        _representations.convert_twist,
        SPACE,
        {"pose": pose, "twist": twist},
        out=out,
        options=_between(source, target),
        shapes={"pose": (7,), "twist": (6,)},
    )


@batched
def convert_wrench(
    pose: Array[A],
    wrench: Array[A],
    *,
    source: Reference,
    target: Reference,
    out: Array[A] | None = None,
) -> Call[A]:
    """A wrench on a frame from one representation to another, given the frame's pose; arguments as
    in `convert.twist`.

    wrench: (B, 6) [N, N·m], force then couple about the representation's point.  Returns (B, 6).
    From "local" to "world" this is the general transform of forces: f' = R f, n' = R n + p × R f;
    RBDA 2.25.
    """
    return Call.of(
        _representations.convert_wrench,
        SPACE,
        {"pose": pose, "wrench": wrench},
        out=out,
        options=_between(source, target),
        shapes={"pose": (7,), "wrench": (6,)},
    )


@batched
def motion_transform(pose: Array[A], *, out: Array[A] | None = None) -> Call[A]:
    """The 6x6 matrix that maps twists in a frame to twists in the frame in which its pose is given.

    pose: (B, 7) [x y z qx qy qz qw].  Returns X = [[R, [p]× R], [0, R]]: (B, 6, 6), linear rows
    first.
    RBDA 2.24 and 2.26; the adjoint of Lynch and Park, Modern Robotics, 3.20 (there angular first).
    """
    return Call.of(
        _representations.motion_transform, SPACE, {"pose": pose}, out=out, shapes={"pose": (7,)}
    )


@batched
def force_transform(pose: Array[A], *, out: Array[A] | None = None) -> Call[A]:
    """The 6x6 matrix that maps wrenches in a frame to wrenches in the frame in which its pose is
    given.

    pose: (B, 7) [x y z qx qy qz qw].  Returns X* = X⁻ᵀ = [[R, 0], [[p]× R, R]]: (B, 6, 6), force
    rows first.
    RBDA 2.25 and 2.27.
    """
    return Call.of(
        _representations.force_transform, SPACE, {"pose": pose}, out=out, shapes={"pose": (7,)}
    )
