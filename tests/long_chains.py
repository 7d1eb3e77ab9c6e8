"""Robots with long branches of revolute joints."""

from __future__ import annotations

from collections.abc import Callable

from hand_made_urdf import joint, link, urdf
from robots import random_tree
from states import without_mimic

import warpdyn as wd


def snake(joints: int) -> wd.Model:
    """A chain whose axes alternate between y and z, like those of a snake."""
    links = [link(f"l{k}", 0.5, (0.05, 0, 0), [1e-4, 0, 0, 4e-4, 0, 4e-4]) for k in range(joints)]
    axes = [(0, 1, 0), (0, 0, 1)]
    turns = [
        joint(
            f"j{k}",
            "continuous",
            f"l{k - 1}" if k else "base",
            f"l{k}",
            (0.1, 0, 0),
            axis=axes[k % 2],
        )
        for k in range(joints)
    ]
    return wd.load(urdf(f"snake{joints}", link("base"), *links, *turns))


def branched_chain(floating: bool = False, root: str = "revolute") -> wd.Model:
    """A trunk of eight joints with limbs of nine, six and one, in random directions."""
    parents = [*range(8), 8, *range(9, 17), 8, *range(18, 23), 3]
    kinds = [root, *["revolute"] * (len(parents) - 1)]
    return without_mimic(random_tree(parents, kinds, 5, floating).model)


def chain(joints: int) -> wd.Model:
    """A chain in random directions."""
    return without_mimic(random_tree(list(range(joints)), ["revolute"] * joints, 3).model)


SWEPT: dict[str, Callable[[], wd.Model]] = {
    "snake": lambda: snake(21),
    "chain": lambda: chain(12),
    "branched": branched_chain,
    "floating": lambda: branched_chain(floating=True).with_armature(0.02),
    "rail": lambda: branched_chain(root="prismatic").with_armature(0.02),
}
"""Robots for both forms of an algorithm, by name."""
