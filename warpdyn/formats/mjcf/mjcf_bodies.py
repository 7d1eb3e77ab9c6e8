"""MJCF: bodies as the file has them, and which of them is a free base, never moves, or is
aligned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ...algebra.pose_forms import rotation_quaternion
from ...algebra.quaternions import quaternion_log
from ...algebra.spatial import Placement
from ...model.description import Link
from ...model.names import ModelError
from ...model.poses_and_limits import ORIGIN, matrix3, vector3
from ..robot_source import tag_name
from .mjcf_inertia import Matter, Part
from .mjcf_values import Element, MjcfValues

WORLD = "world"
"""MuJoCo's name for the root body."""


@dataclass
class BodyElement:
    """A body as the file has it: its pose in the body `parent`, and its children, each with
    its frame."""

    name: str
    parent: str
    X: Placement
    joints: list[Part] = field(default_factory=list)
    matter: Matter = field(default_factory=Matter)
    sites: list[Part] = field(default_factory=list)
    gravcomp: float = 0.0
    carries: bool = False

    @property
    def free(self) -> bool:
        """True if it has a free joint."""
        return any(written.get("type") == "free" for _, written, _ in self.joints)


def children(
    values: MjcfValues, element: Element, X: Placement, childclass: str | None
) -> Iterator[tuple[Element, str | None, Placement]]:
    """Children of a <body>, and of each <frame> in it, with their default class and their frame.

    X: frame of the body or <frame>.
    """
    childclass = element.get("childclass", childclass)
    values.defaults(element, childclass)
    for child in element:
        if tag_name(child) == "frame":
            inner = X.compose(values.placement(child, dict(child.attrib)))  # type: ignore[arg-type]
            yield from children(values, child, inner.as_matrix(), childclass)
        else:
            yield child, childclass, X


def free_rest(X: Placement) -> tuple[float, ...]:
    """The pose `X` as the slack position of a free joint's spring: position [m] and rotation vector
    [rad]."""
    return (*vector3(X.p), *vector3(quaternion_log(rotation_quaternion(X.R))))


def base_of(
    values: MjcfValues, bodies: Mapping[str, BodyElement], floating_base: bool | None
) -> str:
    """Name of the body that is a free base; "" if the world is the root."""
    tops = [body for body in bodies.values() if body.parent == WORLD]
    free = [body for body in tops if body.free]
    if floating_base:
        if len(tops) != 1 or (tops[0].joints and not free):
            moved = (
                f'"{tops[0].name}" has a joint there'
                if len(tops) == 1
                else f"there are {len(tops)} bodies"
            )
            raise ModelError(
                f"{values.source}: a free base is the one body of <worldbody>, without a joint or "
                f"with a free one, but {moved}; leave floating_base out"
            )
    elif floating_base is False or len(tops) != 1 or not free:
        return ""
    if free:
        check_free(values, free[0])
    return tops[0].name


def check_free(values: MjcfValues, body: BodyElement) -> None:
    """Refuse a free joint in a body that is not a child of the world, or has more joints."""
    if body.parent != WORLD or len(body.joints) > 1:
        raise values.refusal(
            body.joints[0][0], "a free joint must be the one joint of a body in <worldbody>"
        )


def bodies_at_rest(
    bodies: Mapping[str, BodyElement], base: str, floating_base: bool | None
) -> set[str]:
    """Bodies that no joint moves, parents before children."""
    still = {WORLD}
    for name, body in bodies.items():
        held = all(
            floating_base is False and written.get("type") == "free"
            for _, written, _ in body.joints
        )
        if body.parent in still and held and name != base:
            still.add(name)
    return still


def refuse_fused(
    values: MjcfValues, bodies: Mapping[str, BodyElement], links: Iterable[Link], still: set[str]
) -> None:
    """Raise for settings of <compiler> that mean other bodies after MuJoCo's fusestatic, which joins
    bodies without joints to their parents."""
    if not values.compiler.fusestatic:
        return
    heavy = [link.name for link in links if link.name in still and link.mass]
    if values.compiler.settotalmass > 0 and heavy:
        raise ModelError(
            f"{values.source}: <compiler>: with fusestatic, settotalmass does not count body "
            f'"{heavy[0]}", which nothing moves; leave fusestatic out, or write the masses'
        )
    bounds = max(values.compiler.boundmass, values.compiler.boundinertia)
    for body in bodies.values():
        empty = not (body.joints or body.matter.geoms or body.matter.inertial)
        if bounds > 0 and empty and body.name != WORLD:
            raise ModelError(
                f"{values.source}: <compiler>: with fusestatic, boundmass and boundinertia do not "
                f'count body "{body.name}"; leave fusestatic out, or remove that body'
            )
        parent = bodies.get(body.parent)
        if parent is not None and not body.joints and parent.name not in still:
            _refuse_joined(values, bodies, parent, body)


def _refuse_joined(
    values: MjcfValues, bodies: Mapping[str, BodyElement], parent: BodyElement, body: BodyElement
) -> None:
    """Raise if fusestatic changes the inertia or the frame of a body to which another one is joined."""
    written = [each.name for each in (parent, body) if _uses_inertial_without_geoms(each)]
    if written:
        raise ModelError(
            f'{values.source}: <compiler>: with fusestatic and inertiafromgeom="true", body "{written[0]}" '
            f'has other geoms after "{body.name}" is joined to "{parent.name}"; leave fusestatic out'
        )
    if parent.free and _wants_alignment(values, parent) and not _moves_below(bodies, parent):
        raise ModelError(
            f'{values.source}: <compiler>: with fusestatic, body "{parent.name}" has no child, so that MuJoCo '
            f'moves its frame to its principal axes; leave fusestatic out, or write align="false"'
        )


def _uses_inertial_without_geoms(body: BodyElement) -> bool:
    """True if the <inertial> counts only because the body has no geoms."""
    matter = body.matter
    rule = matter.compiler.inertiafromgeom
    return rule == "true" and matter.inertial is not None and not matter.geoms


def _moves_below(bodies: Mapping[str, BodyElement], top: BodyElement) -> bool:
    """True if a body below `top` has a joint."""
    below = {top.name}
    for body in bodies.values():
        if body.parent in below:
            if body.joints:
                return True
            below.add(body.name)
    return False


def _wants_alignment(values: MjcfValues, body: BodyElement) -> bool:
    """True if the file asks for alignment of a body with one free joint."""
    element, written, _ = body.joints[0]
    word = values.choice(element, "align", written, "auto", ("auto", "true", "false"))
    return word == "true" or (word == "auto" and values.compiler_of(element).alignfree)


def align_to_principal_axes(values: MjcfValues, body: BodyElement, link: Link) -> Link:
    """The link, moved to its principal axes if it belongs to an aligned free body without children:
    MuJoCo then moves the body's frame there, and q with it."""
    if [written.get("type") for _, written, _ in body.joints] != ["free"]:
        return link
    if not _wants_alignment(values, body) or body.carries:
        return link
    principal = body.matter.principal
    back = principal.inverse()
    body.X = body.X.compose(principal).as_matrix()
    for parts in (body.matter.geoms, body.sites):
        parts[:] = [(e, w, back.compose(X).as_matrix()) for e, w, X in parts]
    J = back.R.symmetric_to_parent(link.symmetric)
    return replace(link, com=ORIGIN, inertia=matrix3(J.rows))
