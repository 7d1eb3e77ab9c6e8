"""Every joint kind: its coordinates, pose, motion subspace and step on the manifold.

Algorithms use these records and name no kind. A kind moves about or along coordinate axis 0, 1 or 2
of its own frame; a joint whose axis points elsewhere gets a turned frame when the tree is built
(`warpdyn.model.tree`). Motion subspaces are constant in the child frame, so velocities of planar
and floating joints are the child's own twist in its own frame.

RBDA table 4.1; quaternions are x, y, z, w.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, NoReturn, TypeVar

from ..algebra.quaternions import quaternion_rotation
from ..algebra.rotations import axes_about
from ..algebra.scalar import Scalar, as_number, cos, is_number, sin
from ..algebra.spatial import (
    IDENTITY,
    ZERO,
    ZERO_INERTIA,
    AnyRotation,
    AxisRotation,
    Inertia,
    Motion,
    Rotation,
    Symmetric,
    Vector,
)
from .joint_manifolds import LINE, PLANE, SPACE, SPHERE, Manifold
from .old_members import OldMember

T = TypeVar("T")


@dataclass(frozen=True)
class JointKind:
    """A kind of joint: its coordinates and its motion.

    `q_names`, `v_names` name the coordinates; `placement(axis, q)` is the pose of the child side in
    the parent side; `subspace(axis)` its motion for unit velocities; `manifold` how the coordinates
    move.
    """

    name: str
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    neutral: tuple[float, ...]
    placement: Callable[[int, Sequence[Scalar]], tuple[AnyRotation, Vector]]
    subspace: Callable[[int], tuple[Motion, ...]]
    manifold: Manifold
    unfelt: Callable[[int, Inertia], Inertia] = lambda axis, inertia: ZERO_INERTIA
    """The part of an inertia that acts the same on both sides of the joint, for `Tree.regroup`."""
    has_axis: bool = True
    needs_limits: bool = False
    quaternion: int | None = None
    """Index, among the coordinates, at which a unit quaternion (x, y, z, w) begins, or None."""
    series: tuple[str, ...] = ()
    """Joint kinds of one axis, in order, into which the tree splits a joint of two axes."""
    perpendicular: bool = False
    """The two axes must be perpendicular."""
    geared: bool = False
    threaded: bool = False
    pitch: float = 0.0
    """Advance of a threaded joint [m/rad]."""

    @property
    def nq(self) -> int:
        return len(self.q_names)

    @property
    def nv(self) -> int:
        return len(self.v_names)

    @property
    def single(self) -> bool:
        """True if the kind has one coordinate, which a mimic joint may follow."""
        return self.nq == self.nv == 1

    @property
    def elastic(self) -> bool:
        """True if a spring can act on it: it has one coordinate, or an orientation."""
        return self.single or self.quaternion is not None

    @property
    def turns(self) -> bool:
        """True if it turns the child, so that a single coordinate is an angle."""
        return bool(self.series) or any(x != 0.0 for S in self.subspace(2) for x in S.angular)

    @property
    def angles(self) -> tuple[bool, ...]:
        """True for an angle [rad], False for a length [m]: each coordinate outside quaternions."""
        if self.series:
            return (True,) * self.nq
        columns = self.subspace(2)[: self.quaternion]
        return tuple(any(x != 0.0 for x in S.angular) for S in columns)

    @property
    def endless(self) -> bool:
        """True for a single unbounded angle, which some libraries write as a cosine and a sine."""
        return (
            self.single and self.turns and not (self.needs_limits or self.geared or self.threaded)
        )

    @property
    def axis_names(self) -> tuple[str, ...]:
        """Fields of a joint of this kind that must hold a direction."""
        return ("axis", "axis2") if self.series else ("axis",) if self.has_axis else ()

    def each_coordinate(self, first: T, second: T) -> tuple[T, ...]:
        """`first` and `second`, entries for the two axes, for each velocity coordinate."""
        return (first, second) if self.series else (first,) * self.nv

    def reorder(self, coordinates: Sequence[T], order: str) -> tuple[T, ...]:
        """The coordinates with a quaternion's x y z w in the order "xyzw" or "wxyz"."""
        k = self.quaternion
        if k is None:
            return tuple(coordinates)
        return (*coordinates[:k], *(coordinates[k + "xyzw".index(letter)] for letter in order))

    reordered = OldMember("reordered", "reorder")

    def scalar_last(self, coordinates: Sequence[T], order: str) -> tuple[T, ...]:
        """The coordinates with a quaternion in the given order put back as x y z w."""
        k = self.quaternion
        if k is None:
            return tuple(coordinates)
        return (*coordinates[:k], *(coordinates[k + order.index(letter)] for letter in "xyzw"))

    @property
    def parts(self) -> tuple[JointKind, ...]:
        """The kinds that become bodies of the tree: itself, or those in series."""
        return tuple(KINDS[name] for name in self.series) or (self,)

    def with_pitch(self, pitch: float) -> JointKind:
        """This kind with the advance `pitch` [m/rad]; a kind without thread stays the same."""
        return screw(pitch) if self.threaded else self

    def __reduce__(self) -> tuple[Callable[[str, float], JointKind], tuple[str, float]]:
        # A copied or pickled model keeps the one record of its kind.
        return _find_kind, (self.name, self.pitch)


def unit(axis: int) -> Vector:
    return Vector(*(float(k == axis) for k in range(3)))


def align_axis(kind: JointKind, direction: Sequence[float]) -> tuple[int, float, Rotation]:
    """The coordinate axis for a joint of this direction, its sign, and the turn of the joint frame
    that brings the axis there."""
    if not kind.has_axis:
        return 2, 1.0, IDENTITY
    if not all(map(is_number, direction)):
        return 2, 1.0, axes_about(Vector(*direction))
    for k in range(3):
        if abs(direction[k]) == 1.0 == sum(map(abs, direction)) and (
            kind.single or direction[k] > 0
        ):
            return k, direction[k], IDENTITY
    z = Vector(*direction)
    smallest = min(range(3), key=lambda k: abs(direction[k]))
    x = unit(smallest).cross(z)
    x = x * (1.0 / as_number(x.dot(x)) ** 0.5)
    y = z.cross(x)
    return 2, 1.0, Rotation((Vector(x.x, y.x, z.x), Vector(x.y, y.y, z.y), Vector(x.z, y.z, z.z)))


# Placements of the child by the coordinates.


def _turn(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return AxisRotation(axis, cos(q[0]), sin(q[0])), ZERO


def _slide(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return IDENTITY, unit(axis) * q[0]


def _turn_subspace(axis: int) -> tuple[Motion, ...]:
    return (Motion(ZERO, unit(axis)),)


def _slide_subspace(axis: int) -> tuple[Motion, ...]:
    return (Motion(unit(axis), ZERO),)


def _unfelt_turning(axis: int, inertia: Inertia) -> Inertia:
    """Mass on the axis, moment along it, and a rod along it: symmetric about the axis, so that
    turning changes nothing."""
    diagonal = (inertia.J.xx, inertia.J.yy, inertia.J.zz)
    rod = 0.5 * sum(diagonal) - diagonal[axis]
    a, b, c = (0.0 if k == axis else rod for k in range(3))
    along = unit(axis)
    return Inertia(inertia.mass, along * inertia.h.dot(along), Symmetric(a, 0.0, 0.0, b, 0.0, c))


def _unfelt_screwing(axis: int, inertia: Inertia) -> Inertia:
    """The rod along the axis alone: the screw does not feel it, and because it has no mass, it is
    the same however far the screw advances."""
    return Inertia(0.0, ZERO, _unfelt_turning(axis, inertia).J)


def _unfelt_around(axis: int, inertia: Inertia) -> Inertia:
    """A point mass at the centre."""
    return Inertia(inertia.mass, ZERO, Symmetric.diagonal(0.0))


def _unfelt_sliding(axis: int, inertia: Inertia) -> Inertia:
    """All second moments, because the joint does not turn the body."""
    return Inertia(0.0, ZERO, inertia.J)


def _plane(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    first, second = unit((axis + 1) % 3), unit((axis + 2) % 3)
    return AxisRotation(axis, cos(q[2]), sin(q[2])), first * q[0] + second * q[1]


def _plane_subspace(axis: int) -> tuple[Motion, ...]:
    return (
        *_slide_subspace((axis + 1) % 3),
        *_slide_subspace((axis + 2) % 3),
        *_turn_subspace(axis),
    )


def _float(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return quaternion_rotation(q[3:7]), Vector(*q[:3])


def _float_subspace(axis: int) -> tuple[Motion, ...]:
    return tuple(Motion(unit(k), ZERO) for k in range(3)) + tuple(
        Motion(ZERO, unit(k)) for k in range(3)
    )


def _ball(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return quaternion_rotation(q), ZERO


def _ball_subspace(axis: int) -> tuple[Motion, ...]:
    return tuple(Motion(ZERO, unit(k)) for k in range(3))


@cache
def screw(pitch: float) -> JointKind:
    """A turn by q about the axis and an advance of pitch * q along it (RBDA table 4.1, helical)."""

    def placement(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
        return _turn(axis, q)[0], unit(axis) * (q[0] * pitch)

    def subspace(axis: int) -> tuple[Motion, ...]:
        return (Motion(unit(axis) * pitch, unit(axis)),)

    return JointKind(
        name="screw",
        q_names=("",),
        v_names=("",),
        neutral=(0.0,),
        placement=placement,
        subspace=subspace,
        manifold=LINE,
        unfelt=_unfelt_screwing,
        threaded=True,
        pitch=pitch,
    )


def _two_turns(*_: object) -> NoReturn:
    raise TypeError(
        "a joint of two axes has no constant motion subspace; the tree makes two bodies of it, see `series`"
    )


def _fixed_placement(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return IDENTITY, ZERO


CONTINUOUS = JointKind(
    name="continuous",
    q_names=("",),
    v_names=("",),
    neutral=(0.0,),
    placement=_turn,
    subspace=_turn_subspace,
    manifold=LINE,
    unfelt=_unfelt_turning,
)

PRISMATIC = JointKind(
    name="prismatic",
    q_names=("",),
    v_names=("",),
    neutral=(0.0,),
    placement=_slide,
    subspace=_slide_subspace,
    manifold=LINE,
    unfelt=_unfelt_sliding,
    needs_limits=True,
)

TWO_AXES = JointKind(
    name="revolute2",
    q_names=("angle1", "angle2"),
    v_names=("rate1", "rate2"),
    neutral=(0.0, 0.0),
    placement=_two_turns,
    subspace=_two_turns,
    manifold=LINE,
    series=("continuous", "continuous"),
)

FIXED = JointKind(
    name="fixed",
    q_names=(),
    v_names=(),
    neutral=(),
    placement=_fixed_placement,
    subspace=lambda axis: (),
    manifold=LINE,
    has_axis=False,
)

PLANAR = JointKind(
    name="planar",
    q_names=("u", "w", "angle"),
    v_names=("vu", "vw", "rate"),
    neutral=(0.0,) * 3,
    placement=_plane,
    subspace=_plane_subspace,
    manifold=PLANE,
)

FLOATING = JointKind(
    name="floating",
    q_names=("x", "y", "z", "qx", "qy", "qz", "qw"),
    v_names=("vx", "vy", "vz", "wx", "wy", "wz"),
    neutral=(0.0,) * 6 + (1.0,),
    placement=_float,
    subspace=_float_subspace,
    manifold=SPACE,
    has_axis=False,
    quaternion=3,
)

BALL = JointKind(
    name="ball",
    q_names=("qx", "qy", "qz", "qw"),
    v_names=("wx", "wy", "wz"),
    neutral=(0.0, 0.0, 0.0, 1.0),
    placement=_ball,
    subspace=_ball_subspace,
    manifold=SPHERE,
    unfelt=_unfelt_around,
    has_axis=False,
    quaternion=0,
)

KINDS: dict[str, JointKind] = {
    kind.name: kind
    for kind in (
        replace(CONTINUOUS, name="revolute", needs_limits=True),
        CONTINUOUS,
        replace(CONTINUOUS, name="gearbox", geared=True),
        replace(TWO_AXES, name="universal", perpendicular=True),
        TWO_AXES,
        screw(0.0),
        PRISMATIC,
        FIXED,
        PLANAR,
        FLOATING,
        BALL,
    )
}
"""Joint kinds by name; `docs/joint_kinds.md` has a picture of each."""

KindName = Literal[
    "revolute",
    "continuous",
    "gearbox",
    "universal",
    "revolute2",
    "screw",
    "prismatic",
    "fixed",
    "planar",
    "floating",
    "ball",
]

URDF_KINDS = {
    k: KINDS[k] for k in ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")
}
"""Joint kinds that URDF has a word for, by that word, for its reader and its writer."""


def _find_kind(name: str, pitch: float = 0.0) -> JointKind:
    return KINDS[name].with_pitch(pitch)
