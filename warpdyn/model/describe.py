"""A model as text, and as HTML for notebooks: the tree of its links."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterator
from html import escape
from importlib.util import find_spec

from .collision_points import collision_spheres
from .description import Geometry, Joint, Link
from .ground_contact import NOT_SIMULATED
from .joints import JointKind
from .mesh_files import MESH_READER, NO_READER, MeshError, mesh_file
from .names import count_with_noun, printable
from .poses_and_limits import Limits, Vector3
from .scene.free_bodies import free_joints
from .structure import Structure

DEEPEST = 40
"""Deepest nesting of branches that HTML folds: browsers handle at most a few hundred nested
elements. Deeper branches stay in the same list."""

WIDTH = 100
"""Width in columns of the lines below the tree."""

SHOWN = 40
"""Models with at most this many links have all branches open at first."""


def summary(self: Structure) -> str:
    """The tree of links with their joints, limits and masses, as text. Below it, if the model has
    them: contact points, shapes without contact points, closed loops, parts of the file that a `Simulation`
    ignores, and named configurations.

    Mesh files are located but not read: `ContactPoints` reads them.
    """
    more = (
        textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False)
        for line in remainder(self, between="\N{NO-BREAK SPACE}")
    )
    text = "\n".join([head(self), *_branches(self), *more])
    return text.replace("\N{NO-BREAK SPACE}", " ")


def remainder(model: Structure, between: str = " ") -> Iterator[str]:
    """One line each for contact points, shapes without them, loops, and named configurations; `between`
    stands between a number and its link."""
    meshes: list[str] = []

    def unread(shape: Geometry) -> list[Vector3]:
        mesh_file(shape)
        if find_spec(MESH_READER) is None:
            raise MeshError(NO_READER)
        meshes.append(shape.filename or "")
        return []

    spheres, left = collision_spheres(model, unread)
    counts = [
        f"{n}{between}on{between}{link}" for link, n in Counter(s.link for s in spheres).items()
    ]
    counts += [f"some of the mesh {name}" for name in meshes]
    if counts:
        yield printable(f"contact points: {', '.join(counts)}", kept=between)
    if left:
        without = "; ".join(f"{shape} of {link} ({why})" for link, shape, why in left)
        yield printable(f"without contact points: {without}")
    if model.loops:
        yield printable(f"loops: {'; '.join(map(str, model.loops))}")
    remarks = (line for line in model.warnings if line.startswith(NOT_SIMULATED))
    yield from (printable(line) for line in remarks)
    if model.configurations:
        yield printable(f"configurations: {', '.join(model.configurations)}")


def head(model: Structure) -> str:
    """One line that summarises the model."""
    free = len(free_joints(model))
    base = "floating base" if model.floating_base else "fixed base"
    if free and not model.floating_base:
        base = f"{free} free {'bodies' if free > 1 else 'body'} in the world"
    links = count_with_noun(model.nlinks, "link")
    joints = count_with_noun(len(model.joint_names), "moving joint")
    sizes = f"nq = {model.nq}, nv = {model.nv}"
    return f"{printable(model.name)}: {links}, {joints}, {sizes}, {base}, {model.total_mass:.6g} kg"


def tree(model: Structure, width: int) -> list[str]:
    """The tree of links with their joints, without limits. If a line would be wider than `width`
    columns, the link goes below its joint."""
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
        line = f"{head}{printable(link.name)}" + (f"  {link.mass:.4g} kg" if link.mass else "")
        above, rule, below = line.rpartition(" ─ ")
        if width is not None and rule and len(line) > width:
            lines.append(above)
            line = f"{indent}{'│' if joints else ' '}  {below}"
        lines.append(line)
        for joint in reversed(joints):
            corner, below = ("└─", "   ") if joint is joints[-1] else ("├─", "│  ")
            head = f"{indent}{corner} {printable(_describe(model, joint, width is None))} ─ "
            waiting.append((model.link(joint.child), head, indent + below))
    return lines


def _describe(model: Structure, joint: Joint, limited: bool) -> str:
    """A joint's name, columns and kind, and its limits if `limited`."""
    if not joint.kind.nv:
        return f"({joint.kind.name})"
    if joint.mimic and not limited:
        return f"{joint.name} (mimics {joint.mimic.joint})"
    if joint.mimic:
        return f"{joint.name} (mimics {joint.mimic.joint} x {joint.mimic.multiplier:g} + {joint.mimic.offset:g})"
    several = joint.v_limits if joint.kind.series else (joint.limits,)
    finite = any(math.isfinite(each.upper - each.lower) for each in several)
    bounds = ", ".join(f"{each.lower:.4g}..{each.upper:.4g}" for each in several)
    shown = f" {bounds}" if limited and finite else ""
    return f"{joint.name} {_columns(model, joint.name)} ({joint.kind.name}{shown})"


def _columns(model: Structure, joint: str) -> str:
    """The columns of a joint in q, as text."""
    q = model.coordinates[joint].q
    return f"q[{q.start}]" if q.stop - q.start == 1 else f"q[{q.start}:{q.stop}]"


def html(self: Structure) -> str:
    """The tree of links with their joints, limits and masses, which can be folded in a notebook.

    Links of one chain stand below each other; each branch is a list of its own.
    """
    by_parent: dict[str, list[Joint]] = {}
    for joint in self.joints:
        by_parent.setdefault(joint.parent, []).append(joint)
    name, _, numbers = head(self).partition(": ")
    shown = ' open="open"' if self.nlinks <= SHOWN else ""
    written = [
        f'<details open="open"><summary><b>{escape(name)}</b>: {escape(numbers)}</summary><ul>'
    ]
    base = f"free base {_columns(self, self.base_joint)}" if self.floating_base else "fixed base"
    # The stack holds each link with its row, its depth, and whether a new list begins with it, or
    # else the end of such a list. It is a stack because chains may be longer than calls may be
    # nested.
    root = _link_html(self.links[0], f"<i>{base}</i>")
    waiting: list[tuple[str, str, int, bool] | str] = [(self.root, root, 0, False)]
    while waiting:
        last = waiting.pop()
        if isinstance(last, str):
            written.append(last)
            continue
        link, row, depth, branches = last
        joints = by_parent.get(link, [])
        if branches and joints and depth < DEEPEST:
            depth += 1
            written.append(f"<li><details{shown}><summary>{row}</summary><ul>")
            waiting.append("</ul></details></li>")
        else:
            written.append(f"<li>{row}</li>")
        for joint in reversed(joints):
            row = _link_html(self.link(joint.child), _joint_html(self, joint))
            waiting.append((joint.child, row, depth, len(joints) > 1))
    more = [f"<div>{escape(line)}</div>" for line in remainder(self)]
    return "".join([*written, "</ul>", *more, "</details>"])


def _link_html(link: Link, joint: str) -> str:
    mass = f" {link.mass:.4g} kg" if link.mass else ""
    return f"{joint} → <b>{escape(link.name)}</b>{mass}"


def _joint_html(model: Structure, joint: Joint) -> str:
    """Name, kind, columns and limits of a joint, as HTML."""
    words = [escape(joint.name), f"<i>{escape(joint.kind.name)}</i>"]
    if joint.mimic is not None:
        leader, factor, offset = joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset
        words.append(f"= {factor:g} × {escape(leader)} + {offset:g}")
    elif joint.kind.nv:
        words.append(_columns(model, joint.name))
        several = joint.v_limits if joint.kind.series else (joint.limits,)
        words += [_limits_html(joint.kind, each) for each in several if each != Limits()]
    return " ".join(words)


def _limits_html(kind: JointKind, limits: Limits) -> str:
    length, speed, force = ("rad", "rad/s", "N·m") if kind.turns else ("m", "m/s", "N")
    if kind.turns and not all(kind.angles):
        length, speed, force = "rad or m", "rad/s or m/s", "N·m or N"
    bounds = []
    if math.isfinite(limits.lower) or math.isfinite(limits.upper):
        bounds.append(f"{limits.lower:.4g} … {limits.upper:.4g} {length}")
    if math.isfinite(limits.velocity):
        bounds.append(f"{limits.velocity:.4g} {speed}")
    if math.isfinite(limits.effort):
        bounds.append(f"{limits.effort:.4g} {force}")
    return f"[{', '.join(bounds)}]"
