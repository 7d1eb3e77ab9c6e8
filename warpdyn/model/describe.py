"""A model as text: the tree of its links."""

from __future__ import annotations

import math

from .description import Joint
from .structure import Structure


def summary(self: Structure) -> str:
    """The tree of links with their joints, limits and masses, as text."""
    return "\n".join([head(self), *_branches(self)])


def head(model: Structure) -> str:
    """A line on the whole."""
    base = "floating base" if model.floating_base else "fixed base"
    moving = f"{model.nlinks} links, {len(model.joint_names)} moving joints, nq = {model.nq}, nv = {model.nv}"
    return f"{model.name}: {moving}, {base}, {model.total_mass:.6g} kg"


def tree(model: Structure, width: int) -> list[str]:
    """The tree of links with their joints, without limits; in a line of more than `width` columns
    the link comes below its joint."""
    return _branches(model, width)


def _branches(model: Structure, width: int | None = None) -> list[str]:
    """A line for each link, below its parent."""
    by_parent: dict[str, list[Joint]] = {}
    for joint in model.joints:
        by_parent.setdefault(joint.parent, []).append(joint)
    lines, waiting = [], [(model.links[0], "", "")]
    while waiting:
        link, head, indent = waiting.pop()
        joints = by_parent.get(link.name, [])
        line = f"{head}{link.name}" + (f"  {link.mass:.4g} kg" if link.mass else "")
        above, rule, below = line.rpartition(" ─ ")
        if width is not None and rule and len(line) > width:
            lines.append(above)
            line = f"{indent}{'│' if joints else ' '}  {below}"
        lines.append(line)
        for joint in reversed(joints):
            corner, below = ("└─", "   ") if joint is joints[-1] else ("├─", "│  ")
            head = f"{indent}{corner} {_describe(model, joint, width is None)} ─ "
            waiting.append((model.link(joint.child), head, indent + below))
    return lines


def _describe(model: Structure, joint: Joint, limited: bool) -> str:
    """A joint's name, columns and kind; if `limited` its limits too."""
    if not joint.kind.nv:
        return f"({joint.kind.name})"
    if joint.mimic and not limited:
        return f"{joint.name} (mimics {joint.mimic.joint})"
    if joint.mimic:
        return f"{joint.name} (mimics {joint.mimic.joint} x {joint.mimic.multiplier:g} + {joint.mimic.offset:g})"
    columns = model.coordinates[joint.name].q
    column = f"q[{columns.start}]" if joint.kind.nq == 1 else f"q[{columns.start}:{columns.stop}]"
    limits = joint.limits
    bounds = (
        f" {limits.lower:.4g}..{limits.upper:.4g}"
        if limited and math.isfinite(limits.upper - limits.lower)
        else ""
    )
    return f"{joint.name} {column} ({joint.kind.name}{bounds})"
