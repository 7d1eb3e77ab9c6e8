"""Spatial (6-D) vector algebra over any scalar: numbers or recorded symbols.

Vectors are linear part first, then angular. A *motion* is a velocity or an acceleration (m/s,
rad/s), a *force* a force and a couple (N, N·m); both belong to a coordinate frame whose origin is
the reference point. `Placement` is the pose of a child frame in its parent frame; its methods name
their direction: `motion_to_child`, `force_to_parent`. The vectors and rotations that these consist
of (`rotations`) can be imported from here too.

Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2 and appendix A; there the angular
part comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .rotations import (
    IDENTITY,
    ZERO,
    AnyRotation,
    AxisRotation,
    Matrix,
    Rotation,
    Symmetric,
    TwoRotations,
    Vector,
    as_matrix,
)
from .scalar import Scalar

__all__ = [
    "HERE",
    "IDENTITY",
    "ZERO",
    "ZERO_FORCE",
    "ZERO_INERTIA",
    "ZERO_MOTION",
    "AnyRotation",
    "ArticulatedInertia",
    "AxisRotation",
    "Force",
    "Inertia",
    "Matrix",
    "Motion",
    "Placement",
    "Rotation",
    "Symmetric",
    "TwoRotations",
    "Vector",
    "as_matrix",
]


@dataclass(frozen=True, slots=True)
class Motion:
    """A spatial motion vector: velocity or acceleration of a body, at the frame's origin, in its
    axes."""

    linear: Vector
    angular: Vector

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.linear + other.linear, self.angular + other.angular)

    def __neg__(self) -> Motion:
        return Motion(-self.linear, -self.angular)

    def __sub__(self, other: Motion) -> Motion:
        return Motion(self.linear - other.linear, self.angular - other.angular)

    def __mul__(self, scale: Scalar) -> Motion:
        return Motion(self.linear * scale, self.angular * scale)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((*self.linear, *self.angular))

    def dot(self, f: Force) -> Scalar:
        """Power of the force on the motion."""
        return self.linear.dot(f.linear) + self.angular.dot(f.angular)

    def cross(self, m: Motion) -> Motion:
        """v × m, the derivative of a motion carried along (RBDA 2.31)."""
        return Motion(
            self.angular.cross(m.linear) + self.linear.cross(m.angular),
            self.angular.cross(m.angular),
        )

    def cross_force(self, f: Force) -> Force:
        """v ×* f, the derivative of a force carried along (RBDA 2.32)."""
        return Force(
            self.angular.cross(f.linear),
            self.angular.cross(f.angular) + self.linear.cross(f.linear),
        )


@dataclass(frozen=True, slots=True)
class Force:
    """A spatial force: force, and couple about the frame's origin."""

    linear: Vector
    angular: Vector

    def __add__(self, other: Force) -> Force:
        return Force(self.linear + other.linear, self.angular + other.angular)

    def __sub__(self, other: Force) -> Force:
        return Force(self.linear - other.linear, self.angular - other.angular)

    def __mul__(self, scale: Scalar) -> Force:
        return Force(self.linear * scale, self.angular * scale)

    def __iter__(self) -> Iterator[Scalar]:
        return iter((*self.linear, *self.angular))


ZERO_MOTION = Motion(ZERO, ZERO)
ZERO_FORCE = Force(ZERO, ZERO)


def motion_of(entries: Sequence[Scalar]) -> Motion:
    """The motion of the first six entries, linear then angular."""
    return Motion(Vector(*entries[:3]), Vector(*entries[3:6]))


def force_of(entries: Sequence[Scalar]) -> Force:
    """The force of the first six entries, linear then angular."""
    return Force(Vector(*entries[:3]), Vector(*entries[3:6]))


@dataclass(frozen=True, slots=True)
class Inertia:
    """Rigid-body inertia about the frame's origin: mass, first moment h = m c, second moment J
    (RBDA 2.62)."""

    mass: Scalar
    h: Vector
    J: Symmetric

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.h + other.h, self.J + other.J)

    def __sub__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass - other.mass, self.h - other.h, self.J - other.J)

    def __matmul__(self, m: Motion) -> Force:
        return Force(
            m.linear * self.mass - self.h.cross(m.angular),
            self.J @ m.angular + self.h.cross(m.linear),
        )

    def rate_of_momentum(self, a: Vector, W: Matrix) -> Force:
        """The force that gives a body the classical acceleration `a` of its origin and angular
        acceleration tensor W.

        A point x of the body accelerates by a + W x, W = [α]× + [ω]×[ω]×. Summed over its mass with
        the second moment P = ∫ x xᵀ dm: f = m a + W h, n = h × a + ∫ x × W x dm (Balafoutis, Patel,
        Misra, IEEE J. Robotics and Automation 4, 1988).
        """
        J = self.J
        half_trace = (J.xx + J.yy + J.zz) * 0.5
        P = (Symmetric.diagonal(half_trace) - J).rows
        n = [W.rows[z].dot(P[y]) - W.rows[y].dot(P[z]) for y, z in ((1, 2), (2, 0), (0, 1))]
        return Force(a * self.mass + W @ self.h, Vector(*n) + self.h.cross(a))

    @classmethod
    def at_com(cls, mass: Scalar, com: Vector, J_com: Symmetric) -> Inertia:
        """The inertia about the origin from that about the centre of mass, by the parallel-axis
        theorem."""
        h = com * mass
        xx, yy, zz = h.x * com.x, h.y * com.y, h.z * com.z
        return cls(
            mass,
            h,
            J_com + Symmetric(yy + zz, -h.x * com.y, -h.x * com.z, xx + zz, -h.y * com.z, xx + yy),
        )


ZERO_INERTIA = Inertia(0.0, ZERO, Symmetric.diagonal(0.0))


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """A symmetric 6x6 inertia [[M, H], [Hᵀ, J]]: the inertia of a subtree whose joints are free
    (RBDA 7.1)."""

    M: Symmetric
    H: Matrix
    J: Symmetric

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.M + other.M, self.H + other.H, self.J + other.J)

    def __matmul__(self, m: Motion) -> Force:
        return Force(
            self.M @ m.linear + self.H @ m.angular, self.H.T @ m.linear + self.J @ m.angular
        )

    def minus_outer(self, u: Force, w: Force) -> ArticulatedInertia:
        """This inertia minus u wᵀ, where u wᵀ is symmetric."""
        (a, b), (c, d) = (tuple(u.linear), tuple(u.angular)), (tuple(w.linear), tuple(w.angular))
        upper = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        return ArticulatedInertia(
            self.M - Symmetric(*(a[i] * c[j] for i, j in upper)),
            self.H - Matrix((w.angular * a[0], w.angular * a[1], w.angular * a[2])),
            self.J - Symmetric(*(b[i] * d[j] for i, j in upper)),
        )

    def without(self, entry: int) -> ArticulatedInertia:
        """This inertia with zeros in the row and column of an entry of a motion."""
        k = entry % 3
        if entry < 3:
            rows = [ZERO if i == k else row for i, row in enumerate(self.H.rows)]
            H = Matrix((rows[0], rows[1], rows[2]))
            return ArticulatedInertia(self.M.without(k), H, self.J)
        columns = [ZERO if i == k else row for i, row in enumerate(self.H.T.rows)]
        H = Matrix((columns[0], columns[1], columns[2])).T
        return ArticulatedInertia(self.M, H, self.J.without(k))

    @classmethod
    def of(cls, inertia: Inertia) -> ArticulatedInertia:
        return cls(Symmetric.diagonal(inertia.mass), Matrix.cross(-inertia.h), inertia.J)


@dataclass(frozen=True, slots=True)
class Placement:
    """The pose of a child frame in its parent frame: rotation R and origin p."""

    R: AnyRotation
    p: Vector

    def motion_to_child(self, m: Motion) -> Motion:
        return Motion(
            self.R.to_child(m.linear + m.angular.cross(self.p)), self.R.to_child(m.angular)
        )

    def motion_to_parent(self, m: Motion) -> Motion:
        angular = self.R.to_parent(m.angular)
        return Motion(self.R.to_parent(m.linear) + self.p.cross(angular), angular)

    def force_to_parent(self, f: Force) -> Force:
        linear = self.R.to_parent(f.linear)
        return Force(linear, self.R.to_parent(f.angular) + self.p.cross(linear))

    def force_to_child(self, f: Force) -> Force:
        return Force(self.R.to_child(f.linear), self.R.to_child(f.angular - self.p.cross(f.linear)))

    def point_to_parent(self, u: Vector) -> Vector:
        return self.p + self.R.to_parent(u)

    def inertia_to_parent(self, inertia: Inertia) -> Inertia:
        """The inertia in the parent, RBDA 2.66, the rotation first: J' = J + (c·h') 1 - sym(p, R h
        + h') / 2 with h' = R h + m p."""
        m, p = inertia.mass, self.p
        Rh = self.R.to_parent(inertia.h)
        h = Rh + p * m
        w = Rh + h  # p·w = 2 p·Rh + m p·p, the trace part of both parallel-axis shifts
        J = (
            self.R.symmetric_to_parent(inertia.J)
            + Symmetric.diagonal(p.dot(w))
            - Symmetric.product(p * 0.5, w)
        )
        return Inertia(m, h, J)

    def articulated_to_parent(self, inertia: ArticulatedInertia) -> ArticulatedInertia:
        """The inertia X* Iᴬ X⁻¹ (RBDA 2.66 for a full 6x6): turned into the parent's axes, then
        H' = H - M [p]×, J' = J - Hᵀ [p]× + [p]× H'."""
        p = self.p
        M = self.R.symmetric_to_parent(inertia.M)
        H = self.R.matrix_to_parent(inertia.H)
        J = self.R.symmetric_to_parent(inertia.J)
        H_moved = H - Matrix(tuple(row.cross(p) for row in M.rows))  # type: ignore[arg-type]
        left = Matrix(tuple(column.cross(p) for column in H.T.rows)).rows  # type: ignore[arg-type]
        right = Matrix(tuple(p.cross(column) for column in H_moved.T.rows)).T.rows  # type: ignore[arg-type]
        shift = [right[i] - left[i] for i in range(3)]
        return ArticulatedInertia(M, H_moved, J + Symmetric.from_rows(shift))

    def compose(self, inner: Placement) -> Placement:
        """The placement of `inner`'s child in this parent."""
        return Placement(TwoRotations(self.R, inner.R), self.point_to_parent(inner.p))

    def as_matrix(self) -> Placement:
        """The same placement with its rotation as one matrix."""
        return Placement(as_matrix(self.R), self.p)

    def inverse(self) -> Placement:
        transposed = Rotation(as_matrix(self.R).matrix.T.rows)
        return Placement(transposed, -transposed.to_parent(self.p))


HERE = Placement(IDENTITY, ZERO)
