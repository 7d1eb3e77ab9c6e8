"""Forward dynamics with its derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.linear import Factors, factorise, inverse_symmetric
from ..algebra.scalar import Scalar, each
from ..model.tree import Tree
from .crba import crba
from .rnea import rnea
from .rnea_derivatives import Rows, rnea_derivatives


def aba_derivatives(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> tuple[list[Scalar], Rows, Rows, Rows]:
    """Joint accelerations qdd, and their derivatives d qdd / dq, d qdd / dv, d qdd / dtau = M⁻¹.

    q: nq [m, rad].  v: nv.  tau: nv [N, N·m].  Returns nv, and three times nv by nv.
    From M d qdd = -d rnea at a = qdd, one sparse solve a column (Carpentier and Mansard, RSS 2018,
    equation 12).
    """
    M = crba(tree, q)
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    factors = factorise(M)
    qdd = factors.inverse_times([t - x for t, x in zip(tau, h, strict=True)])
    dtau_dq, dtau_dv, _ = rnea_derivatives(tree, q, v, qdd, gravity, f_ext)

    # A solve is recorded once and called for each column where it is long: its inputs are flat
    # lists, the rows of L below the diagonal one after the other.
    nv, below = tree.nv, [factors.L[k][i] for k in range(tree.nv) for i in range(k)]

    def solve(shared: Sequence[Scalar], column: Sequence[Scalar]) -> list[Scalar]:
        rows = [list(shared[k * (k - 1) // 2 : k * (k + 1) // 2]) for k in range(nv)]
        return Factors(rows, list(shared[-nv:])).inverse_times([-x for x in column])

    columns = each(
        solve,
        [*below, *factors.reciprocal],
        [*zip(*dtau_dq, strict=True), *zip(*dtau_dv, strict=True)],
    )
    by_q, by_v = (
        [list(row) for row in zip(*part, strict=True)] for part in (columns[:nv], columns[nv:])
    )
    return qdd, by_q, by_v, inverse_symmetric(M)
