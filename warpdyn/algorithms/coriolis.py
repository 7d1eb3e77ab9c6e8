"""The Coriolis matrix in closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..scalar import Scalar
from ..spatial import ZERO, ZERO_INERTIA, ZERO_MOTION, Force, Inertia, Motion, Placement, Symmetric, Vector
from ..tree import WORLD, Tree


@dataclass(frozen=True)
class MovingInertia:
    """An inertia and how its mass moves: momentum p = ∫ ẋ dm and Q = ∫ ẋ xᵀ dm, kept as its two parts: `turn` = half
    the moment of momentum, ∫ x × ẋ dm / 2, and K = tr(Q) 1 - (Q + Qᵀ) / 2, half the rate of J.

    Mass at x with velocity ẋ adds J_xᵀ J̇_x dm to C, J_x its Jacobian; gathered over a body, what does not stem from the
    rates of the joints' motion subspaces is B (a, w) = (-p × w, K w - turn × w).
    """

    inertia: Inertia
    p: Vector
    turn: Vector
    K: Symmetric

    @classmethod
    def of(cls, inertia: Inertia, v: Motion) -> MovingInertia:
        """Of a body with velocity v: ẋ = a + w × x, with the second moment P = ∫ x xᵀ dm = tr(J) / 2 1 - J."""
        P = (Symmetric.diagonal((inertia.J.xx + inertia.J.yy + inertia.J.zz) * 0.5) - inertia.J).rows
        a, h = v.linear, inertia.h
        columns = [v.angular.cross(row) + a * h_k for row, h_k in zip(P, h, strict=True)]
        (xx, yx, zx), (xy, yy, zy), (xz, yz, zz) = columns
        turn = Vector(zy - yz, xz - zx, yx - xy) * 0.5
        symmetric = Symmetric(xx, (xy + yx) * 0.5, (xz + zx) * 0.5, yy, (yz + zy) * 0.5, zz)
        return cls(inertia, a * inertia.mass + v.angular.cross(h), turn, Symmetric.diagonal(a.dot(h)) - symmetric)

    def __add__(self, other: MovingInertia) -> MovingInertia:
        return MovingInertia(self.inertia + other.inertia, self.p + other.p, self.turn + other.turn, self.K + other.K)

    def to_parent(self, X: Placement) -> MovingInertia:
        """About the parent's origin: Q becomes R Q Rᵀ + (R p) rᵀ, with r the child's origin in the parent."""
        p, half = X.R.to_parent(self.p), X.p * 0.5
        K = X.R.symmetric_to_parent(self.K) + Symmetric.diagonal(X.p.dot(p)) - Symmetric.product(half, p)
        return MovingInertia(X.inertia_to_parent(self.inertia), p, X.R.to_parent(self.turn) + half.cross(p), K)

    def B(self, m: Motion) -> Force:
        w = m.angular
        return Force(w.cross(self.p), self.K @ w + w.cross(self.turn))

    def B_transposed(self, m: Motion) -> Vector:
        """Bᵀ m is a pure couple."""
        return self.p.cross(m.linear) + self.K @ m.angular + self.turn.cross(m.angular)


def coriolis(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """C(q, v), nv by nv: C v = the velocity-product forces, and dM/dt = C + Cᵀ.

    C = sum over bodies of Jᵀ (I J̇ + B J), with B + Bᵀ the rate of I and Ṡ = v × S. The force I Ṡ + B S of each column
    and the row Bᵀ S climb the tree as I S does in the composite-rigid-body algorithm. Of all factorisations it is that
    of the Christoffel symbols (Echeandia and Wensing, ASME J. Computational and Nonlinear Dynamics 16, 2021,
    algorithm 1).
    """
    X: dict[int, Placement] = {}
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    moving: dict[int, MovingInertia] = {WORLD: MovingInertia(ZERO_INERTIA, ZERO, ZERO, Symmetric.diagonal(0.0))}
    for i, body in enumerate(tree.bodies):
        X[i] = body.placement(q)
        V[i] = X[i].motion_to_child(V[body.parent]) + body.motion(v)
        moving[i] = MovingInertia.of(body.inertia, V[i])

    C: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for i, body in reversed(list(enumerate(tree.bodies))):
        for k, S in body.subspace:
            momentum = moving[i].inertia @ S
            force = moving[i].inertia @ V[i].cross(S) + moving[i].B(S)
            couple = moving[i].B_transposed(S)
            for row, S_row in body.subspace:
                C[row][k] = C[row][k] + S_row.dot(force)
            j = i
            while tree.bodies[j].parent != WORLD:
                force, momentum = X[j].force_to_parent(force), X[j].force_to_parent(momentum)
                couple = X[j].R.to_parent(couple)
                j = tree.bodies[j].parent
                for other, S_other in tree.bodies[j].subspace:
                    C[other][k] = C[other][k] + S_other.dot(force)
                    C[k][other] = C[k][other] + V[j].cross(S_other).dot(momentum) + S_other.angular.dot(couple)
        if body.parent != WORLD:
            moving[body.parent] = moving[body.parent] + moving[i].to_parent(X[i])
    return C
