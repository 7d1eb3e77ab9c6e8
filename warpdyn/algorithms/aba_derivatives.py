"""Forward dynamics with its derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.linear import dot, factorise, inverse_symmetric
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
    From M d qdd = -d rnea at a = qdd, one sparse solve per column (Carpentier and Mansard, RSS
    2018, equation 12).
    """
    M = crba(tree, q)
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    factors = factorise(M)
    qdd = factors.inverse_times([t - x for t, x in zip(tau, h, strict=True)])
    dtau_dq, dtau_dv, _ = rnea_derivatives(tree, q, v, qdd, gravity, f_ext)

    nv, inverse = tree.nv, factors.inverse()

    def solve(shared: Sequence[Scalar], column: Sequence[Scalar]) -> list[Scalar]:
        """-L⁻¹ D⁻¹ L⁻ᵀ column. `shared`: the rows of L⁻¹ one after the other, then 1 / D."""
        rows = [shared[k * (k + 1) // 2 : (k + 1) * (k + 2) // 2] for k in range(nv)]
        carried = [dot([row[i] for row in rows[i:]], column[i:]) for i in range(nv)]
        scaled = [-x * r for x, r in zip(carried, shared[-nv:], strict=True)]
        return [dot(row, scaled[: len(row)]) for row in rows]

    # A long solve is recorded once for all columns of one limb, because they have their zeros in
    # the same rows, and is called for each of them.
    columns = each(
        solve,
        [*(x for row in inverse for x in row), *factors.reciprocal],
        [*zip(*dtau_dq, strict=True), *zip(*dtau_dv, strict=True)],
    )
    by_q, by_v = (
        [list(row) for row in zip(*part, strict=True)] for part in (columns[:nv], columns[nv:])
    )
    return qdd, by_q, by_v, inverse_symmetric(M)
