"""The part of the articulated-body algorithm that concerns one joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .linear import solve_symmetric
from .scalar import Scalar, is_number, is_zero
from .spatial import ZERO_FORCE, ArticulatedInertia, Force, Motion


@dataclass(frozen=True)
class ArticulatedJoint:
    """U = Iᴬ S, D = Sᵀ U, and u, the part of the joint force that is free to accelerate the joint
    (RBDA 7.43 to 7.45)."""

    U: list[Force]
    D: list[list[Scalar]]
    u: list[Scalar]
    felt: int | None = None
    """Index of the only entry of a motion that the joint changes, if there is just one and the
    joint has no rotor. The parent feels no inertia in this entry."""

    @classmethod
    def of(
        cls,
        IA: ArticulatedInertia,
        pA: Force,
        S: Sequence[Motion],
        tau: Sequence[Scalar],
        rotor_inertia: Scalar,
    ) -> ArticulatedJoint:
        U = [IA @ column for column in S]
        D = [[column.dot(force) for column in S] for force in U]
        for n in range(len(S)):
            D[n][n] = D[n][n] + rotor_inertia
        u = [t - column.dot(pA) for t, column in zip(tau, S, strict=True)]
        felt = None
        if len(S) == 1 and is_zero(rotor_inertia):
            entries = [*S[0].linear, *S[0].angular]
            moved = [k for k, x in enumerate(entries) if not is_zero(x)]
            if len(moved) == 1 and is_number(entries[moved[0]]):
                felt = moved[0]
        return cls(U, D, u, felt)

    def passed_on(
        self, IA: ArticulatedInertia, pA: Force, c: Motion
    ) -> tuple[ArticulatedInertia, Force]:
        """The inertia and the force that the parent feels through the joint, in the body's frame.

        I^a = I^A - U D⁻¹ Uᵀ and p^a = p^A + I^a c + U D⁻¹ u, one column of D⁻¹ at a time: no
        product is a whole 6x6 matrix, and a joint of one coordinate needs one reciprocal.
        """
        Ia, pa = IA, pA
        for n, force in enumerate(self.U):
            column = solve_symmetric(self.D, [float(n == m) for m in range(len(self.U))])
            weighted = ZERO_FORCE
            for other, weight in zip(self.U, column, strict=True):
                weighted = weighted + other * weight
            Ia = Ia.minus_outer(force, weighted)
            if self.felt is not None:
                Ia = Ia.without(self.felt)
            pa = pa + weighted * self.u[n]
        return Ia, pa + Ia @ c

    def accelerations(self, A: Motion) -> list[Scalar]:
        """The joint's accelerations, D⁻¹ (u - Uᵀ A), where A is the body's acceleration without
        them."""
        rest = [free - A.dot(force) for free, force in zip(self.u, self.U, strict=True)]
        return list(solve_symmetric(self.D, rest))
