"""URDF: robots whose root link carries them on a floating joint, loaded with a floating base."""

from __future__ import annotations

from ..model.description import Joint, Link
from ..model.joints import FLOATING


def without_floating_root(
    source: str, links: list[Link], joints: list[Joint], remarks: list[str]
) -> tuple[list[Link], list[Joint]]:
    """The robot below a root link that carries it on a floating joint, so that one base moves
    freely, not two.

    Removed parts are added to the remarks.
    """
    carried = {joint.child for joint in joints}
    roots = [link for link in links if link.name not in carried]
    own = [joint for joint in joints if len(roots) == 1 and joint.parent == roots[0].name]
    if len(own) != 1 or own[0].kind is not FLOATING:
        return links, joints
    (root,), (joint,) = roots, own
    if root.mass or root.visuals or root.collisions:
        return links, joints  # two bodies, each of which moves freely
    remarks.append(
        f'joint "{joint.name}" is floating already: link "{joint.child}" is the free base, and link '
        f'"{root.name}" and the joint are left out'
    )
    return [x for x in links if x is not root], [x for x in joints if x is not joint]
