"""URDF: robots whose root link carries them on a floating joint, loaded with a floating base."""

from __future__ import annotations

from ..model.description import Joint, Link
from ..model.joints import FLOATING
from ..model.remarks import links_held_by


def without_floating_root(
    source: str, links: list[Link], joints: list[Joint], remarks: list[str]
) -> tuple[list[Link], list[Joint]]:
    """The robot below a root that carries it on a floating joint, so that one base moves freely,
    not two. The root is a link without mass and shapes, or several of them on fixed joints.

    Removed parts are added to the remarks.
    """
    found = _floating_joint(links, joints)
    if found is None:
        return links, joints
    joint, held = found
    names = ", ".join(f'"{link.name}"' for link in links if link.name in held)
    remarks.append(
        f'joint "{joint.name}" is floating already: link "{joint.child}" is the free base, and '
        f"{'link' if len(held) == 1 else 'links'} {names} and the joint are left out"
    )
    return [x for x in links if x.name not in held], [x for x in joints if x.parent not in held]


def _floating_joint(links: list[Link], joints: list[Joint]) -> tuple[Joint, set[str]] | None:
    """The floating joint that alone moves on an empty root, and the links of the root."""
    carried = {joint.child for joint in joints}
    roots = [link.name for link in links if link.name not in carried]
    if len(roots) != 1:
        return None
    held = links_held_by(roots[0], joints)
    moving = [j for j in joints if j.parent in held and j.child not in held]
    if len(moving) != 1 or moving[0].kind is not FLOATING:
        return None
    root = (link for link in links if link.name in held)
    if any(link.mass or link.visuals or link.collisions for link in root):
        return None  # two bodies, each of which moves freely
    return moving[0], held
