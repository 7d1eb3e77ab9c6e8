"""What motion takes without acceleration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra.scalar import Scalar
from ..model.tree import Tree
from .passive_forces import without_effects
from .rnea import rnea


def bias_forces(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
) -> list[Scalar]:
    """C(q, v) v + g(q) - Jᵀ f_ext, by recursive Newton-Euler with a = 0 (RBDA section 6.2); joint effects aside."""
    return rnea(without_effects(tree), q, v, [0.0] * tree.nv, gravity, f_ext)
