"""The inertia of a moving rigid body with its rates, for velocity products."""

from __future__ import annotations

from dataclasses import dataclass

from .spatial import ZERO, ZERO_INERTIA, Force, Inertia, Motion, Placement, Symmetric, Vector


def second_moment_rate(inertia: Inertia, v: Motion) -> Symmetric:
    """Rate of the second moment of a body with velocity v = [a, w], seen from a frame at rest.

    J' = [w] J - J [w] + 2 (a·h) 1 - (a hᵀ + h aᵀ).
    """
    J, h, a, w = inertia.J, inertia.h, v.linear, v.angular
    h2 = h * 2.0
    x, y, z = a.x * h2.x, a.y * h2.y, a.z * h2.z
    turn_xx = w.y * (2.0 * J.xz) - w.z * (2.0 * J.xy)
    turn_yy = w.z * (2.0 * J.xy) - w.x * (2.0 * J.yz)
    return Symmetric(
        turn_xx + (y + z),
        w.z * (J.xx - J.yy) + w.y * J.yz - w.x * J.xz - (a.x * h.y + a.y * h.x),
        w.y * (J.zz - J.xx) + w.x * J.xy - w.z * J.yz - (a.x * h.z + a.z * h.x),
        turn_yy + (x + z),
        w.x * (J.yy - J.zz) + w.z * J.xz - w.y * J.xy - (a.y * h.z + a.z * h.y),
        (x + y) - (turn_xx + turn_yy),  # turning keeps the trace, moving adds 2 (x + y + z)
    )


@dataclass(frozen=True)
class MovingInertia:
    """An inertia and its rates: twice the linear momentum, the angular momentum `n` about
    the frame's origin, and the rate J' of the second moment, as the motion carries the mass along.

    These thirteen numbers give the matrix B of the closed form of C and of the derivatives of
    inverse dynamics, here doubled: 2B (a, w) = (2 w × p, J' w + w × n), with B + Bᵀ the rate of the
    inertia. They add up over bodies.
    Echeandia and Wensing, ASME J. Computational and Nonlinear Dynamics 16 (2021), equation 15;
    Singh, Russell and Wensing, IEEE RA-L 7 (2022), equation 11.
    """

    inertia: Inertia
    p_twice: Vector
    n: Vector
    J_rate: Symmetric

    @classmethod
    def of(cls, inertia: Inertia, v: Motion) -> MovingInertia:
        """Moving inertia of a body with velocity v."""
        J, h, a, w = inertia.J, inertia.h, v.linear, v.angular
        rate = second_moment_rate(inertia, v)
        return cls(inertia, a * (2.0 * inertia.mass) + w.cross(h * 2.0), J @ w + h.cross(a), rate)

    def __add__(self, other: MovingInertia) -> MovingInertia:
        return MovingInertia(
            self.inertia + other.inertia,
            self.p_twice + other.p_twice,
            self.n + other.n,
            self.J_rate + other.J_rate,
        )

    @property
    def momentum(self) -> Force:
        return Force(self.p_twice * 0.5, self.n)

    def to_parent(self, X: Placement) -> MovingInertia:
        """The same about the parent's origin: n gains r × p, J' gains 2 (r·p) 1 - (r pᵀ + p rᵀ), r
        the child's origin."""
        p_twice, half = X.R.to_parent(self.p_twice), X.p * 0.5
        shift = Symmetric.diagonal(X.p.dot(p_twice)) - Symmetric.product(half, p_twice)
        J_rate = X.R.symmetric_to_parent(self.J_rate) + shift
        return MovingInertia(
            X.inertia_to_parent(self.inertia),
            p_twice,
            X.R.to_parent(self.n) + half.cross(p_twice),
            J_rate,
        )

    def twice_B_times(self, m: Motion) -> Force:
        """The product 2B m."""
        w = m.angular
        return Force(w.cross(self.p_twice), self.J_rate @ w + w.cross(self.n))

    def twice_B_transposed_times(self, m: Motion) -> Vector:
        """The product 2Bᵀ m, a pure couple."""
        return self.p_twice.cross(m.linear) + self.J_rate @ m.angular + self.n.cross(m.angular)


AT_REST = MovingInertia(ZERO_INERTIA, ZERO, ZERO, Symmetric.diagonal(0.0))
