"""Search for the peers that are installed and read a robot in the same way as warpdyn."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from ..model import Model
from ..model.description import Joint
from ..model.names import ModelError
from ..model.writers.to_urdf import urdf_text
from .mujoco import MuJoCo
from .peer import NotComparable, Peer, bare
from .pinocchio import Pinocchio

PEERS: Mapping[str, tuple[str, str, Callable[..., Peer]]] = {
    "pinocchio": ("Pinocchio", "pin", Pinocchio),
    "mujoco": ("MuJoCo", "mujoco", MuJoCo),
}
"""The title of each module, its package on PyPI, and the class that reads a robot with it."""


def find_peers(
    model: Model, path: Path, modules: Sequence[str] = tuple(PEERS), fused: bool = False
) -> tuple[list[Peer], list[str]]:
    """The available peers, and one line for each that is not available.

    MuJoCo reads an MJCF file by itself. `fused`: MuJoCo merges the links on fixed joints of a URDF
    into one body.
    """
    peers: list[Peer] = []
    absent = []
    for module in modules:
        title, package, read = PEERS[module]
        if find_spec(module) is None:
            absent.append(f"{title} is not installed (pip install {package})")
            continue
        try:
            if read is MuJoCo:
                own = is_mjcf(path)  # MuJoCo reads it by itself
                peers.append(MuJoCo(model, path if own else urdf_of(model, path), fused))
            else:
                peers.append(read(model, urdf_of(model, path)))
        except NotComparable as why:
            absent.append(str(why))
        except ModelError as why:
            absent.append(f"{title} is given URDF: {why}")
    return peers, absent


def is_mjcf(path: Path) -> bool:
    """True if a file's outermost element is MJCF's."""
    return path.is_file() and bare(path.read_text(errors="replace")).tag == "mujoco"


def urdf_of(model: Model, path: Path) -> str:
    """The text of a URDF file. For a file in another format, the URDF that warpdyn writes, in which
    every joint has limits of velocity and effort, because Pinocchio's reader requires them."""
    text = path.read_text(errors="replace")
    if bare(text).tag == "robot":
        return text
    # Peers compute the functions of the tree, in which loops are open.
    return urdf_text(replace(model, joints=tuple(map(_with_all_limits, model.joints)), loops=()))


def _with_all_limits(joint: Joint) -> Joint:
    limits = joint.limits
    if not joint.kind.nv or math.isinf(limits.lower):
        return joint
    velocity, effort = min(limits.velocity, UNREACHED), min(limits.effort, UNREACHED)
    return replace(joint, limits=replace(limits, velocity=velocity, effort=effort))


UNREACHED = 1e9
"""A limit that has no effect."""
