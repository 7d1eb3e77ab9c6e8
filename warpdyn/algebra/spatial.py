"""Spatial (6-D) vector algebra over any scalar: numbers or recorded symbols.

Vectors are linear part first, then angular. A *motion* is a velocity or an acceleration (m/s, rad/s), a *force* a force
and a couple (N, N·m); both belong to a coordinate frame whose origin is the reference point. `Placement` is the pose of
a child frame in its parent frame; its verbs name their direction: `motion_to_child`, `force_to_parent`.

Featherstone, Rigid Body Dynamics Algorithms (2008), chapter 2 and appendix A; there the angular part comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .scalar import Scalar


class Vector:
    """Three scalars."""

    __slots__ = ("x", "y", "z")

    def __init__(self, x: Scalar, y: Scalar, z: Scalar):
        self.x, self.y, self.z = x, y, z

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, scale: Scalar) -> Vector:
        return Vector(self.x * scale, self.y * scale, self.z * scale)

    def __repr__(self) -> str:
        return f"Vector({self.x!r}, {self.y!r}, {self.z!r})"

    def dot(self, other: Vector) -> Scalar:
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )


ZERO = Vector(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Symmetric:
    """A symmetric 3x3 matrix."""

    xx: Scalar
    xy: Scalar
    xz: Scalar
    yy: Scalar
    yz: Scalar
    zz: Scalar

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a + b for a, b in zip(self.entries, other.entries, strict=True)))

    def __sub__(self, other: Symmetric) -> Symmetric:
        return Symmetric(*(a - b for a, b in zip(self.entries, other.entries, strict=True)))

    def __matmul__(self, u: Vector) -> Vector:
        return Vector(*(row.dot(u) for row in self.rows))

    def rate_of_momentum(self, w: Vector, dw: Vector) -> Vector:
        """J α + ω × J ω, Euler's equation of a body of this second moment, each entry of which is used thrice."""
        xx, yy, zz, xy, xz, yz = w.x * w.x, w.y * w.y, w.z * w.z, w.x * w.y, w.x * w.z, w.y * w.z
        Jxx, Jxy, Jxz, Jyy, Jyz, Jzz = self.entries
        return Vector(
            Jxx * dw.x + (Jzz - Jyy) * yz + Jyz * (yy - zz) + Jxz * (xy + dw.z) - Jxy * (xz - dw.y),
            Jyy * dw.y + (Jxx - Jzz) * xz + Jxz * (zz - xx) + Jxy * (yz + dw.x) - Jyz * (xy - dw.z),
            Jzz * dw.z + (Jyy - Jxx) * xy + Jxy * (xx - yy) + Jyz * (xz + dw.y) - Jxz * (yz - dw.x),
        )

    @property
    def entries(self) -> tuple[Scalar, ...]:
        return self.xx, self.xy, self.xz, self.yy, self.yz, self.zz

    @property
    def rows(self) -> tuple[Vector, Vector, Vector]:
        return (
            Vector(self.xx, self.xy, self.xz),
            Vector(self.xy, self.yy, self.yz),
            Vector(self.xz, self.yz, self.zz),
        )

    @classmethod
    def diagonal(cls, d: Scalar) -> Symmetric:
        return cls(d, 0.0, 0.0, d, 0.0, d)

    @classmethod
    def product(cls, u: Vector, w: Vector) -> Symmetric:
        """u wᵀ + w uᵀ."""
        return cls(
            2.0 * (u.x * w.x),
            u.x * w.y + u.y * w.x,
            u.x * w.z + u.z * w.x,
            2.0 * (u.y * w.y),
            u.y * w.z + u.z * w.y,
            2.0 * (u.z * w.z),
        )


@dataclass(frozen=True, slots=True)
class Matrix:
    """A 3x3 matrix by its rows."""

    rows: tuple[Vector, Vector, Vector]

    def __add__(self, other: Matrix) -> Matrix:
        a, b = self.rows, other.rows
        return Matrix((a[0] + b[0], a[1] + b[1], a[2] + b[2]))

    def __sub__(self, other: Matrix) -> Matrix:
        a, b = self.rows, other.rows
        return Matrix((a[0] - b[0], a[1] - b[1], a[2] - b[2]))

    def __matmul__(self, u: Vector) -> Vector:
        return Vector(*(row.dot(u) for row in self.rows))

    @property
    def T(self) -> Matrix:
        a, b, c = self.rows
        return Matrix((Vector(a.x, b.x, c.x), Vector(a.y, b.y, c.y), Vector(a.z, b.z, c.z)))

    @classmethod
    def acceleration_tensor(cls, w: Vector, dw: Vector) -> Matrix:
        """W = [α]× + [ω]×[ω]×: points x of a body turning with ω and α accelerate by W x against its origin."""
        xx, yy, zz, xy, xz, yz = w.x * w.x, w.y * w.y, w.z * w.z, w.x * w.y, w.x * w.z, w.y * w.z
        return cls(
            (
                Vector(-(yy + zz), xy - dw.z, xz + dw.y),
                Vector(xy + dw.z, -(xx + zz), yz - dw.x),
                Vector(xz - dw.y, yz + dw.x, -(xx + yy)),
            )
        )

    @classmethod
    def cross(cls, u: Vector) -> Matrix:
        """[u]×, so that Matrix.cross(u) @ w = u × w."""
        return cls((Vector(0.0, -u.z, u.y), Vector(u.z, 0.0, -u.x), Vector(-u.y, u.x, 0.0)))


# Rotations. Each kind has the same four verbs; the cheap kinds exist because a joint turns about a coordinate axis.


def _both_sides(turn: Callable[[Vector], Vector], H: Matrix) -> Matrix:
    """R H Rᵀ, where turn(u) is R u: the rows turned, then the columns."""
    columns = Matrix(tuple(turn(row) for row in H.rows)).T  # type: ignore[arg-type]
    return Matrix(tuple(turn(column) for column in columns.rows)).T  # type: ignore[arg-type]


class Rotation:
    """A rotation matrix R, child to parent."""

    __slots__ = ("matrix",)

    def __init__(self, rows: Sequence[Vector]):
        self.matrix = Matrix((rows[0], rows[1], rows[2]))

    def to_parent(self, u: Vector) -> Vector:
        return self.matrix @ u

    def to_child(self, u: Vector) -> Vector:
        return self.matrix.T @ u

    def matrix_to_parent(self, H: Matrix) -> Matrix:
        """R H Rᵀ."""
        return _both_sides(self.to_parent, H)

    def symmetric_to_parent(self, J: Symmetric) -> Symmetric:
        """R J Rᵀ."""
        half = Matrix(tuple(self.to_parent(row) for row in J.rows)).T.rows  # type: ignore[arg-type]
        r = self.matrix.rows
        return Symmetric(
            *(half[i].dot(r[j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        )


IDENTITY = Rotation((Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0)))


class AxisRotation:
    """A rotation about coordinate axis 0, 1 or 2 by an angle of cosine `c` and sine `s`."""

    __slots__ = ("axis", "c", "s")

    def __init__(self, axis: int, c: Scalar, s: Scalar):
        self.axis, self.c, self.s = axis, c, s

    def _turn(self, u: Vector, s: Scalar) -> Vector:
        k, c = self.axis, self.c
        e = list(u)
        a, b = e[k - 2], e[k - 1]
        e[k - 2], e[k - 1] = c * a - s * b, s * a + c * b
        return Vector(*e)

    def to_parent(self, u: Vector) -> Vector:
        return self._turn(u, self.s)

    def to_child(self, u: Vector) -> Vector:
        return self._turn(u, -self.s)

    def matrix_to_parent(self, H: Matrix) -> Matrix:
        return _both_sides(self.to_parent, H)

    def symmetric_to_parent(self, J: Symmetric) -> Symmetric:
        """R J Rᵀ in 16 operations: with m = s (a - b) + 2 c d the turned block is (a - s m, c m - d, b + s m)."""
        k, c, s = self.axis, self.c, self.s
        i, j = (k + 1) % 3, (k + 2) % 3
        full = [list(row) for row in J.rows]
        a, b, d = full[i][i], full[j][j], full[i][j]
        m = s * (a - b) + 2.0 * (c * d)
        e, f = full[k][i], full[k][j]
        out = [[0.0] * 3 for _ in range(3)]
        out[k][k] = full[k][k]
        out[i][i], out[j][j], out[i][j] = a - s * m, b + s * m, c * m - d
        out[j][i] = out[i][j]
        out[k][i] = out[i][k] = c * e - s * f
        out[k][j] = out[j][k] = s * e + c * f
        return Symmetric(out[0][0], out[0][1], out[0][2], out[1][1], out[1][2], out[2][2])


class TwoRotations:
    """`outer` after `inner`, kept apart because each is sparse while their product is not."""

    __slots__ = ("inner", "outer")

    def __init__(self, outer: AnyRotation, inner: AnyRotation):
        self.outer, self.inner = outer, inner

    def to_parent(self, u: Vector) -> Vector:
        return self.outer.to_parent(self.inner.to_parent(u))

    def to_child(self, u: Vector) -> Vector:
        return self.inner.to_child(self.outer.to_child(u))

    def matrix_to_parent(self, H: Matrix) -> Matrix:
        return self.outer.matrix_to_parent(self.inner.matrix_to_parent(H))

    def symmetric_to_parent(self, J: Symmetric) -> Symmetric:
        return self.outer.symmetric_to_parent(self.inner.symmetric_to_parent(J))


AnyRotation = Rotation | AxisRotation | TwoRotations


def as_matrix(R: AnyRotation) -> Rotation:
    """The same rotation as one matrix."""
    return (
        R
        if isinstance(R, Rotation)
        else Rotation([R.to_child(row) for row in IDENTITY.matrix.rows])
    )


@dataclass(frozen=True, slots=True)
class Motion:
    """A spatial motion vector: velocity or acceleration of a body, at the frame's origin, in its axes."""

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


@dataclass(frozen=True, slots=True)
class Inertia:
    """Rigid-body inertia about the frame's origin: mass, first moment h = m c, second moment J (RBDA 2.62)."""

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
        """The force that gives a body the classical acceleration `a` of its origin and angular acceleration tensor W.

        A point x of the body accelerates by a + W x, W = [α]× + [ω]×[ω]×. Summed over its mass with the second moment
        P = ∫ x xᵀ dm: f = m a + W h, n = h × a + ∫ x × W x dm (Balafoutis, Patel, Misra, IEEE J. Robotics and
        Automation 4, 1988).
        """
        J = self.J
        half_trace = (J.xx + J.yy + J.zz) * 0.5
        P = (Symmetric.diagonal(half_trace) - J).rows
        n = [W.rows[z].dot(P[y]) - W.rows[y].dot(P[z]) for y, z in ((1, 2), (2, 0), (0, 1))]
        return Force(a * self.mass + W @ self.h, Vector(*n) + self.h.cross(a))

    @classmethod
    def at_com(cls, mass: Scalar, com: Vector, J_com: Symmetric) -> Inertia:
        """From the inertia about the centre of mass, by the parallel-axis theorem."""
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
    """A symmetric 6x6 inertia [[M, H], [Hᵀ, J]]: what a subtree with free joints opposes (RBDA 7.1)."""

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
        """This inertia less u wᵀ, where u wᵀ is symmetric."""
        (a, b), (c, d) = (tuple(u.linear), tuple(u.angular)), (tuple(w.linear), tuple(w.angular))
        upper = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        return ArticulatedInertia(
            self.M - Symmetric(*(a[i] * c[j] for i, j in upper)),
            self.H - Matrix((w.angular * a[0], w.angular * a[1], w.angular * a[2])),
            self.J - Symmetric(*(b[i] * d[j] for i, j in upper)),
        )

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
        """RBDA 2.66, the rotation first: J' = J + (c·h') 1 - sym(p, R h + h') / 2 with h' = R h + m p."""
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
        """X* Iᴬ X⁻¹ (RBDA 2.66 for a full 6x6): turned into the parent's axes, then H' = H - M [p]×, J' = J - Hᵀ [p]× +
        [p]× H'."""
        p = self.p
        M = self.R.symmetric_to_parent(inertia.M)
        H = self.R.matrix_to_parent(inertia.H)
        J = self.R.symmetric_to_parent(inertia.J)
        H_moved = H - Matrix(tuple(row.cross(p) for row in M.rows))  # type: ignore[arg-type]
        left = Matrix(tuple(column.cross(p) for column in H.T.rows)).rows  # type: ignore[arg-type]
        right = Matrix(tuple(p.cross(column) for column in H_moved.T.rows)).T.rows  # type: ignore[arg-type]
        shift = [right[i] - left[i] for i in range(3)]
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = shift
        return ArticulatedInertia(M, H_moved, J + Symmetric(xx, xy, xz, yy, yz, zz))

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
