"""The peers that are installed and read a robot as warpdyn does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from ..model import Model
from ..model.description import ModelError
from .mujoco import MuJoCo
from .peer import NotComparable, Peer, bare
from .pinocchio import Pinocchio

PEERS: Mapping[str, tuple[str, str, Callable[..., Peer]]] = {
    "pinocchio": ("Pinocchio", "pin", Pinocchio),
    "mujoco": ("MuJoCo", "mujoco", MuJoCo),
}
"""For each module its title, its package on PyPI, and the class that reads a robot with it."""


def find_peers(
    model: Model, path: Path, modules: Sequence[str] = tuple(PEERS), fused: bool = False
) -> tuple[list[Peer], list[str]]:
    """The peers that can be asked, and a line for each that cannot.

    `fused`: MuJoCo with links on fixed joints made one body.
    """
    peers: list[Peer] = []
    absent = []
    for module in modules:
        title, package, read = PEERS[module]
        if find_spec(module) is None:
            absent.append(f"{title} is not installed (pip install {package})")
            continue
        options = {"fused": fused} if read is MuJoCo else {}
        try:
            peers.append(read(model, urdf_of(model, path), **options))
        except NotComparable as why:
            absent.append(str(why))
        except ModelError as why:
            absent.append(f"{title} is given URDF: {why}")
    return peers, absent


def urdf_of(model: Model, path: Path) -> str:
    """The text of a URDF file; of a file in another format the URDF that warpdyn writes."""
    text = path.read_text(errors="replace")
    return text if bare(text).tag == "robot" else model.to_urdf()
