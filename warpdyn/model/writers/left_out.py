"""Parts of a model that a written file cannot have: forces are refused, data is left out with a
warning."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from types import MappingProxyType

from ..closed_loops.loop import refuse_loops
from ..names import ModelError, ModelWarning
from ..poses_and_limits import Effects
from ..structure import Structure

WITHOUT_EFFECTS = (
    "with_friction(viscous=0, coulomb=0), with_springs(0, rest=0) and "
    "with_limit_springs(stiffness=0, damping=0) remove them"
)
"""The remedy for forces of joints that a format cannot express."""


def refuse_forces(model: Structure, words: str) -> None:
    """Raise for closed loops, and for forces and inertias of the dynamics that are in neither a
    joint nor a link: without them the file would describe another robot. words: the format's name."""
    refuse_loops(model.name, model.loops, words)
    acting = {
        "an armature of the free base": (
            model.base_armature,
            "dataclasses.replace(model, base_armature=0.0)",
        ),
        "springs of the free base": (
            model.base_effects,
            "dataclasses.replace(model, base_effects=())",
        ),
        "weight compensation": (
            any(link.borne for link in model.links),
            "with_gravity_compensation(0)",
        ),
        "armature and forces along tendons": (
            any(each.armature or each.effects != Effects() for each in model.tendons),
            "dataclasses.replace(model, tendons=())",
        ),
    }
    for what, (acts, remedy) in acting.items():
        if acts:
            raise ModelError(f"{model.name}: {words} cannot express {what}; {remedy} removes it")


def warn_of_left_out(
    model: Structure,
    words: str,
    shapes: Container[str],
    more: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> None:
    """Warn of data of the description that a simulation reads and the file does not have: springs
    and such, shapes other than `shapes`, and `more`, each with names of joints or links."""
    parts = [*_data_left_out(model, more)]
    kinds = Counter(
        shape.shape
        for link in model.links
        for shape in (*link.visuals, *link.collisions)
        if shape.shape not in shapes
    )
    parts += [f"shapes: {count} {kind}" for kind, count in kinds.items()]
    if parts:
        warning = f"{words} of {model.name} leaves out {'; '.join(parts)}"
        warnings.warn(warning, ModelWarning, stacklevel=3)


def _data_left_out(model: Structure, more: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Data of joints, links, tendons and actuators, with their names."""
    names: dict[str, Sequence[str]] = {
        "springs": [joint.name for joint in model.joints if joint.spring],
        "softness of limits": [joint.name for joint in model.joints if joint.soft_limit],
        "weight compensation": [link.name for link in model.links if link.gravcomp],
        "tendons": [tendon.name for tendon in model.tendons],
        "actuators": [actuator.name for actuator in model.actuators],
        **more,
    }
    if any(each.spring for each in model.base_springs):
        names["springs of the free base"] = [model.root]
    for what, owners in names.items():
        if owners:
            others = f" and {len(owners) - 3} more" if len(owners) > 3 else ""
            yield f"{what}: {', '.join(owners[:3])}{others}"
