"""Joint forces required by motion without acceleration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar
from ..model.tree import Tree
from .passive_forces import without_passive_forces
from .rnea import rnea


def bias_forces(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """Joint forces C(q, v) v + g(q) - Jᵀ f_ext, without passive forces.

    q: nq [m, rad].  v: nv.  gravity, f_ext: as in `rnea`.  Returns nv [N, N·m].
    Recursive Newton-Euler with a = 0 (RBDA section 6.2).
    """
    return rnea(without_passive_forces(tree), q, v, [0.0] * tree.nv, gravity, f_ext)
