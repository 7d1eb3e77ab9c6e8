"""Refusal of models with a joint that moves no inertia."""

from __future__ import annotations

from collections.abc import Collection

from ..algorithms.aba import unmoved_joint
from ..execution.request.evaluate import tree_of
from ..model.names import ModelError
from ..model.remarks import remark_double_freedom
from ..model.structure import Structure


def refuse_unmoved(model: Structure, held: Collection[int] = ()) -> None:
    """Raise if a joint moves no inertia, because M is then singular. `held`: coordinates that
    implicit forces hold in a step."""
    joint = unmoved_joint(tree_of(model), held)
    if joint is not None:
        remedy = "give the links beyond it mass and inertia"
        if joint == model.base_joint:
            remedy = next(remark_double_freedom(model.links, model.joints), remedy)
        else:
            remedy += f', or add rotor inertia: model.with_armature({{"{joint}": 1e-4}})'
        raise ModelError(
            f'{model.name}: joint "{joint}" moves no inertia, so forward dynamics is not defined; {remedy}'
        )
