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
    carried = {joint.child for joint in joints}
    roots = [link.name for link in links if link.name not in carried]
    if len(roots) != 1:
        return links, joints
    held = links_held_by(roots[0], joints)
    moving = [j for j in joints if j.parent in held and j.child not in held]
    root = [link for link in links if link.name in held]
    if len(moving) != 1 or moving[0].kind is not FLOATING:
        return links, joints
    if any(link.mass or link.visuals or link.collisions for link in root):
        return links, joints  # two bodies, each of which moves freely
    (joint,) = moving
    names = ", ".join(f'"{link.name}"' for link in root)
    remarks.append(
        f'joint "{joint.name}" is floating already: link "{joint.child}" is the free base, and '
        f"{'link' if len(root) == 1 else 'links'} {names} and the joint are left out"
    )
    return [x for x in links if x.name not in held], [x for x in joints if x.parent not in held]
