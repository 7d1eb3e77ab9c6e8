"""The robots that come with warpdyn: URDF files written from published parameters, each naming its
source, with their configuration "home" in accompanying SRDF files."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ..formats.urdf import load_urdf
from ..model import Model
from ..model.reference_frames import Reference
from ..model.structure import QuaternionOrder

FLOATING = ("humanoid", "quadruped")
"""Robots whose base is free by default."""


def robot_names() -> list[str]:
    """Names that `load_robot` accepts, in alphabetical order."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.urdf"))


def load_robot(
    name: str,
    *,
    floating_base: bool | None = None,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
) -> Model:
    """A robot that comes with warpdyn, by name; options as for `load_urdf`.

    The bases of humanoid and quadruped are free unless `floating_base=False` is given;
    `robot_names()` has all names. Each has a configuration "home", in which it stands, or holds its
    arm, under drives (`docs/simulation.md` has gains). Calls with equal options return the same
    model.

    >>> wd.load_robot("panda").floating_base, wd.load_robot("quadruped").floating_base
    (False, True)
    """
    floating_base = name in FLOATING if floating_base is None else floating_base
    return _read(name, floating_base, quaternion, base_velocity)


@lru_cache(maxsize=64, typed=True)
def _read(
    name: str, floating_base: bool, quaternion: QuaternionOrder, base_velocity: Reference
) -> Model:
    """A bundled robot from its file, which takes 2 to 20 ms to read."""
    names = robot_names()
    if name not in names:
        raise ValueError(
            f"there is no robot {name!r}; choose one of {', '.join(names)}, or read a file with load"
        )
    path = Path(__file__).with_name(f"{name}.urdf")
    return load_urdf(
        path,
        floating_base=floating_base,
        quaternion=quaternion,
        base_velocity=base_velocity,
        srdf=path.with_suffix(".srdf"),
    )
