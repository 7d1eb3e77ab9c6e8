"""Robots of the cases. warpdyn and its peers read the same URDF."""

from __future__ import annotations

import random
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path

from lxml import etree

import warpdyn as wd
from warpdyn.peers.peer import bare

REAL = {
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "talos_reduced": "talos_data/robots/talos_reduced.urdf",
}
"""Files of the PyPI package example-robot-data."""

JOINTS_OF_TREE = 60


@dataclass(frozen=True)
class Robot:
    """A robot with a fixed or a free base."""

    name: str
    urdf: str
    floating: bool = False

    @cached_property
    def model(self) -> wd.Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wd.ModelWarning)
            return wd.load_urdf(self.urdf, floating_base=self.floating)

    @cached_property
    def bare(self) -> str:
        """The URDF without shapes, mimic joints and joint dynamics."""
        return etree.tostring(bare(self.urdf), encoding="unicode")


@cache
def robot(name: str) -> Robot:
    """A robot by name. The suffix `_floating` stands for a free base."""
    plain = name.removesuffix("_floating")
    return Robot(name, _text(plain), name != plain or plain in wd.robots.FLOATING)


def _text(name: str) -> str:
    if name == "tree60":
        return tree(JOINTS_OF_TREE)
    if name not in REAL:
        return (Path(wd.robots.__file__).parent / f"{name}.urdf").read_text()
    folder = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix")))
    text = (folder / "share/example-robot-data/robots" / REAL[name]).read_text()
    if name == "panda":  # fixed fingers: seven joints for every library
        text = text.replace('type="prismatic"', 'type="fixed"')
    return text


@cache
def tree(joints: int) -> str:
    """A random tree of revolute joints with five joints per limb."""
    draw = random.Random(joints)

    def vector(size: float) -> list[float]:
        return [round(draw.uniform(-size, size), 3) for _ in range(3)]

    builder = wd.ModelBuilder(f"tree{joints}").add_link("base")
    parents = ["base"]
    for k in range(joints):
        parent = parents[-1] if k % 5 else draw.choice(parents)
        mass = round(draw.uniform(0.5, 3.0), 3)
        inertia = [
            [mass * x * (i == j) for j in range(3)] for i, x in enumerate((0.02, 0.03, 0.025))
        ]
        parents.append(f"link{k}")
        builder.add_link(parents[-1], mass, vector(0.1), inertia)
        pose = [*vector(0.2), *(0.0, 0.0, 0.0, 1.0)]
        axis = [float(i == k % 3) for i in range(3)]
        builder.add_joint(
            f"joint{k}",
            "revolute",
            parent,
            parents[-1],
            pose,
            axis,
            lower=-3,
            upper=3,
            velocity=3,
            effort=50,
        )
    return builder.build().to_urdf()


def is_installed(names: Mapping[str, str] = REAL) -> bool:
    """True if example-robot-data is installed."""
    try:
        metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        return False
    return True
