"""Forward dynamics with its derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..linear import factorise, inverse_symmetric
from ..scalar import Scalar
from ..tree import Tree
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
    """qdd, and d qdd / dq, d qdd / dv, d qdd / dtau = M⁻¹.

    From M d qdd = -d rnea at a = qdd, one sparse solve a column (Carpentier and Mansard, RSS 2018, equation 12).
    """
    M = crba(tree, q)
    h = rnea(tree, q, v, [0.0] * tree.nv, gravity, f_ext)
    factors = factorise(M)
    qdd = factors.inverse_times([t - x for t, x in zip(tau, h, strict=True)])
    dtau_dq, dtau_dv, _ = rnea_derivatives(tree, q, v, qdd, gravity, f_ext)

    def solved(rows: Rows) -> Rows:
        columns = [factors.inverse_times([-x for x in column]) for column in zip(*rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]

    return qdd, solved(dtau_dq), solved(dtau_dv), inverse_symmetric(M)
