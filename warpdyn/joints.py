"""Every joint kind: its coordinates, pose, motion subspace and step on the manifold.

The one file that names kinds. A kind moves about or along coordinate axis 0, 1 or 2 of its own frame; a joint whose
axis points elsewhere gets a turned frame when the tree is built (`warpdyn.tree`). Motion subspaces are constant in the
child frame, so velocities of planar and floating joints are the child's own twist in its own frame.

RBDA table 4.1; quaternions are x, y, z, w.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

from .scalar import Scalar, cos, sin
from .spatial import (
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


@dataclass(frozen=True)
class JointKind:
    """What is particular to one kind of joint.

    `q_names`, `v_names` name the coordinates; `placement(axis, q)` is the pose of the child side in the parent side;
    `subspace(axis)` its motion for unit velocities; `step(axis, q, d)` the configuration reached from `q` by the
    tangent step `d`.
    """

    name: str
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    neutral: tuple[float, ...]
    placement: Callable[[int, Sequence[Scalar]], tuple[AnyRotation, Vector]]
    subspace: Callable[[int], tuple[Motion, ...]]
    step: Callable[[int, Sequence[float], Sequence[float]], list[float]]
    unfelt: Callable[[int, Inertia], Inertia] = lambda axis, inertia: ZERO_INERTIA
    """The part of an inertia that acts the same on either side of the joint, for `Tree.regrouped`."""
    has_axis: bool = True
    needs_limits: bool = False
    quaternion: int | None = None
    """Where in `q` a unit quaternion (x, y, z, w) begins; None where there is none."""
    series: tuple[str, ...] = ()
    """Kinds of one axis, one after the other, that the tree makes of a joint of two axes."""
    perpendicular: bool = False
    """The two axes must be."""
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
        """One coordinate, which a mimic joint may follow."""
        return self.nq == self.nv == 1

    @property
    def turns(self) -> bool:
        """It turns the child, so that a single coordinate is an angle."""
        return bool(self.series) or any(x != 0.0 for S in self.subspace(2) for x in S.angular)

    @property
    def parts(self) -> tuple[JointKind, ...]:
        """The kinds that the tree makes bodies of: itself, or those in series."""
        return tuple(KINDS[name] for name in self.series) or (self,)

    def with_pitch(self, pitch: float) -> JointKind:
        """This kind advancing `pitch` [m/rad]; a kind without thread as it is."""
        return screw(pitch) if self.threaded else self

    def __reduce__(self) -> tuple[Callable[[str, float], JointKind], tuple[str, float]]:
        return _kind_named, (self.name, self.pitch)  # a copied or pickled model keeps the one record of its kind


def unit(axis: int) -> Vector:
    return Vector(*(float(k == axis) for k in range(3)))


def aligned(kind: JointKind, direction: Sequence[float]) -> tuple[int, float, Rotation]:
    """The coordinate axis that a joint of this direction moves along, its sign, and the turn of the joint frame that
    brings it there."""
    if not kind.has_axis:
        return 2, 1.0, IDENTITY
    for k in range(3):
        if abs(direction[k]) == 1.0 and (kind.single or direction[k] > 0):
            return k, direction[k], IDENTITY
    z = Vector(*direction)
    smallest = min(range(3), key=lambda k: abs(direction[k]))
    x = unit(smallest).cross(z)
    x = x * (1.0 / x.dot(x) ** 0.5)
    y = z.cross(x)
    return 2, 1.0, Rotation((Vector(x.x, y.x, z.x), Vector(x.y, y.y, z.y), Vector(x.z, y.z, z.z)))


def _turn(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return AxisRotation(axis, cos(q[0]), sin(q[0])), ZERO


def _slide(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return IDENTITY, unit(axis) * q[0]


def _add(axis: int, q: Sequence[float], d: Sequence[float]) -> list[float]:
    return [x + y for x, y in zip(q, d, strict=True)]


def _turn_subspace(axis: int) -> tuple[Motion, ...]:
    return (Motion(ZERO, unit(axis)),)


def _slide_subspace(axis: int) -> tuple[Motion, ...]:
    return (Motion(unit(axis), ZERO),)


def _unfelt_turning(axis: int, inertia: Inertia) -> Inertia:
    """Mass on the axis, moment along it, and a rod along it: symmetric about the axis, as the joint turns nothing."""
    diagonal = (inertia.J.xx, inertia.J.yy, inertia.J.zz)
    rod = 0.5 * sum(diagonal) - diagonal[axis]
    a, b, c = (0.0 if k == axis else rod for k in range(3))
    along = unit(axis)
    return Inertia(inertia.mass, along * inertia.h.dot(along), Symmetric(a, 0.0, 0.0, b, 0.0, c))


def _unfelt_screwing(axis: int, inertia: Inertia) -> Inertia:
    """The rod along the axis alone: the screw does not feel it, and without mass it is the same however far it went."""
    return Inertia(0.0, ZERO, _unfelt_turning(axis, inertia).J)


def _unfelt_around(axis: int, inertia: Inertia) -> Inertia:
    """A point mass at the centre."""
    return Inertia(inertia.mass, ZERO, Symmetric.diagonal(0.0))


def _unfelt_sliding(axis: int, inertia: Inertia) -> Inertia:
    """All second moments: the joint does not turn the body."""
    return Inertia(0.0, ZERO, inertia.J)


def _plane(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    first, second = unit((axis + 1) % 3), unit((axis + 2) % 3)
    return AxisRotation(axis, cos(q[2]), sin(q[2])), first * q[0] + second * q[1]


def _plane_subspace(axis: int) -> tuple[Motion, ...]:
    return (*_slide_subspace((axis + 1) % 3), *_slide_subspace((axis + 2) % 3), *_turn_subspace(axis))


def _plane_step(axis: int, q: Sequence[float], d: Sequence[float]) -> list[float]:
    x, y, angle = q
    u, w, turn = d
    # Exact for a constant twist: the arc of length |d| that turns by `turn`.
    a, b = (math.sin(turn) / turn, (1 - math.cos(turn)) / turn) if abs(turn) > 1e-8 else (1.0, turn / 2)
    u, w = a * u - b * w, b * u + a * w
    c, s = math.cos(angle), math.sin(angle)
    return [x + c * u - s * w, y + s * u + c * w, angle + turn]


def quaternion_rotation(quaternion: Sequence[Scalar]) -> Rotation:
    """Rotation matrix of a unit quaternion (x, y, z, w), RBDA 4.12."""
    x, y, z, w = quaternion
    xx, yy, zz = 2.0 * (x * x), 2.0 * (y * y), 2.0 * (z * z)
    xy, xz, yz = 2.0 * (x * y), 2.0 * (x * z), 2.0 * (y * z)
    wx, wy, wz = 2.0 * (w * x), 2.0 * (w * y), 2.0 * (w * z)
    return Rotation(
        (
            Vector(1.0 - (yy + zz), xy - wz, xz + wy),
            Vector(xy + wz, 1.0 - (xx + zz), yz - wx),
            Vector(xz - wy, yz + wx, 1.0 - (xx + yy)),
        )
    )


def quaternion_product(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Hamilton product of quaternions (x, y, z, w)."""
    u, v = Vector(*a[:3]), Vector(*b[:3])
    return [*(v * a[3] + u * b[3] + u.cross(v)), a[3] * b[3] - u.dot(v)]


def quaternion_exp(rotation_vector: Sequence[float]) -> list[float]:
    """Unit quaternion (x, y, z, w) of a rotation vector [rad]."""
    u = Vector(*rotation_vector)
    angle = math.sqrt(u.dot(u))
    scale = math.sin(angle / 2) / angle if angle > 1e-8 else 0.5 - angle * angle / 48
    return [*(u * scale), math.cos(angle / 2)]


def _float(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return quaternion_rotation(q[3:7]), Vector(*q[:3])


def _float_subspace(axis: int) -> tuple[Motion, ...]:
    return tuple(Motion(unit(k), ZERO) for k in range(3)) + tuple(Motion(ZERO, unit(k)) for k in range(3))


def _float_step(axis: int, q: Sequence[float], d: Sequence[float]) -> list[float]:
    """Position moved by R d_linear, orientation turned by exp(d_angular): the retraction of Pinocchio's derivatives."""
    moved = quaternion_rotation(q[3:7]).to_parent(Vector(*d[:3]))
    turned = quaternion_product(q[3:7], quaternion_exp(d[3:]))
    norm = math.sqrt(sum(x * x for x in turned))
    return [*(x + y for x, y in zip(q[:3], moved, strict=True)), *(x / norm for x in turned)]


def _ball(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return quaternion_rotation(q), ZERO


def _ball_subspace(axis: int) -> tuple[Motion, ...]:
    return tuple(Motion(ZERO, unit(k)) for k in range(3))


def _ball_step(axis: int, q: Sequence[float], d: Sequence[float]) -> list[float]:
    return _float_step(axis, [0.0, 0.0, 0.0, *q], [0.0, 0.0, 0.0, *d])[3:]


@cache
def screw(pitch: float) -> JointKind:
    """A turn by q about the axis and an advance of pitch * q along it (RBDA table 4.1, helical)."""

    def placement(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
        return _turn(axis, q)[0], unit(axis) * (q[0] * pitch)

    def subspace(axis: int) -> tuple[Motion, ...]:
        return (Motion(unit(axis) * pitch, unit(axis)),)

    return JointKind(
        "screw", ("",), ("",), (0.0,), placement, subspace, _add, _unfelt_screwing, threaded=True, pitch=pitch
    )


def _two_turns(*_: object) -> NoReturn:
    raise TypeError(
        "a joint of two axes has no constant motion subspace; the tree makes two bodies of it, see `series`"
    )


def _still(axis: int, q: Sequence[Scalar]) -> tuple[AnyRotation, Vector]:
    return IDENTITY, ZERO


_TWO = ("angle1", "angle2"), ("rate1", "rate2"), (0.0, 0.0), _two_turns, _two_turns, _add
_ANGLE = ("",), ("",), (0.0,), _turn, _turn_subspace, _add, _unfelt_turning

KINDS: dict[str, JointKind] = {
    kind.name: kind
    for kind in (
        JointKind("revolute", *_ANGLE, needs_limits=True),
        JointKind("continuous", *_ANGLE),
        JointKind("gearbox", *_ANGLE, geared=True),
        JointKind("universal", *_TWO, series=("continuous", "continuous"), perpendicular=True),
        JointKind("revolute2", *_TWO, series=("continuous", "continuous")),
        screw(0.0),
        JointKind("prismatic", ("",), ("",), (0.0,), _slide, _slide_subspace, _add, _unfelt_sliding, needs_limits=True),
        JointKind("fixed", (), (), (), _still, lambda axis: (), lambda axis, q, d: [], has_axis=False),
        JointKind(
            "planar", ("u", "w", "angle"), ("vu", "vw", "rate"), (0.0,) * 3, _plane, _plane_subspace, _plane_step
        ),
        JointKind(
            "floating",
            ("x", "y", "z", "qx", "qy", "qz", "qw"),
            ("vx", "vy", "vz", "wx", "wy", "wz"),
            (0.0,) * 6 + (1.0,),
            _float,
            _float_subspace,
            _float_step,
            has_axis=False,
            quaternion=3,
        ),
        JointKind(
            "ball",
            ("qx", "qy", "qz", "qw"),
            ("wx", "wy", "wz"),
            (0.0, 0.0, 0.0, 1.0),
            _ball,
            _ball_subspace,
            _ball_step,
            _unfelt_around,
            has_axis=False,
            quaternion=0,
        ),
    )
}


def _kind_named(name: str, pitch: float = 0.0) -> JointKind:
    return KINDS[name].with_pitch(pitch)


FIXED, FLOATING = KINDS["fixed"], KINDS["floating"]
