"""Vectors, matrices and rotations in space over any scalar: numbers or recorded symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from .scalar import Scalar, select_less


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
        x, y, z = self.rows
        return Vector(x.dot(u), y.dot(u), z.dot(u))

    def without(self, k: int) -> Symmetric:
        """This matrix with zeros in row and column k."""
        places = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
        return Symmetric(
            *(0.0 if k in place else x for place, x in zip(places, self.entries, strict=True))
        )

    def rate_of_momentum(self, w: Vector, dw: Vector) -> Vector:
        """J α + ω × J ω, Euler's equation for a body with this second moment, each entry of which
        is used three times."""
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
    def from_rows(cls, rows: Iterable[Iterable[Scalar]]) -> Symmetric:
        """The upper triangle of three rows; entries below it are ignored."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = rows
        return cls(xx, xy, xz, yy, yz, zz)

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
        x, y, z = self.rows
        return Vector(x.dot(u), y.dot(u), z.dot(u))

    @property
    def T(self) -> Matrix:
        a, b, c = self.rows
        return Matrix((Vector(a.x, b.x, c.x), Vector(a.y, b.y, c.y), Vector(a.z, b.z, c.z)))

    @classmethod
    def acceleration_tensor(cls, w: Vector, dw: Vector) -> Matrix:
        """W = [α]× + [ω]×[ω]×: points x of a body turning with ω and α accelerate by W x relative
        to its origin."""
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


# Rotations. Each kind has the same four methods; the cheap kinds exist because a joint turns about
# a coordinate axis.


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


def axes_about(u: Vector) -> Rotation:
    """A rotation whose third column is the unit vector `u`, for any direction of `u`.

    Duff et al., Building an Orthonormal Basis, Revisited, J. Computer Graphics Techniques 6 (2017).
    """
    s = select_less(u.z, 0.0, -1.0, 1.0)
    a = -1.0 / (s + u.z)
    b = u.x * u.y * a
    return Rotation(
        (
            Vector(1.0 + s * (u.x * u.x * a), b, u.x),
            Vector(s * b, s + u.y * u.y * a, u.y),
            Vector(-s * u.x, -u.y, u.z),
        )
    )


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
        """R J Rᵀ in 16 operations: with m = s (a - b) + 2 c d the turned block is
        (a - s m, c m - d, b + s m)."""
        k, c, s = self.axis, self.c, self.s
        i, j = (k + 1) % 3, (k + 2) % 3
        full = [list(row) for row in J.rows]
        a, b, d = full[i][i], full[j][j], full[i][j]
        m = s * (a - b) + 2.0 * (c * d)
        e, f = full[k][i], full[k][j]
        out: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
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
