"""The robots that come with warpdyn: URDF files written from published parameters, each naming its
source."""

from __future__ import annotations

from pathlib import Path

from ..formats.urdf import load_urdf
from ..model import Model
from ..model.reference_frames import Reference
from ..model.structure import QuaternionOrder

FLOATING = ("humanoid", "quadruped")
"""Robots whose base is free unless `floating_base=False` is said."""


def robot_names() -> list[str]:
    """Names that `load_robot` knows, in alphabetical order."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*.urdf"))


def load_robot(
    name: str,
    *,
    floating_base: bool | None = None,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
) -> Model:
    """A robot that comes with warpdyn, by name; options as for `load_urdf`.

    The bases of humanoid and quadruped are free unless `floating_base=False` is said;
    `robot_names()` has all names.

    >>> wd.load_robot("panda").floating_base, wd.load_robot("quadruped").floating_base
    (False, True)
    """
    names = robot_names()
    if name not in names:
        raise ValueError(
            f"there is no robot {name!r}; choose one of {', '.join(names)}, or read a file with load"
        )
    return load_urdf(
        Path(__file__).with_name(f"{name}.urdf"),
        floating_base=name in FLOATING if floating_base is None else floating_base,
        quaternion=quaternion,
        base_velocity=base_velocity,
    )
