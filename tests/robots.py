"""The robots that tests run over: bundled, hand-made and random ones, and real ones if
example-robot-data is installed. A new joint kind adds one robot to `HAND_MADE`. Every algorithm's
tests then run on it."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from hand_made_urdf import (
    AXES,
    BALLS,
    BALLS_REMADE,
    BRANCHES,
    FREE_INSIDE,
    GEARS,
    GEARS_MESH,
    GEARS_REMADE,
    MASSLESS,
    MIMIC_BRANCHES,
    MIMIC_CHAIN,
    PLANAR,
    PLANAR_SLANTED,
    ROOTED,
    SINGLE,
    SLIDES,
    TWO_AXES,
    TWO_AXES_REMADE,
    joint,
    link,
    urdf,
)
from hypothesis import strategies as st

import warpdyn as wd
import warpdyn.robots


@dataclass(frozen=True)
class Robot:
    """A name, a URDF (path or text) and its load options. `remade` joints replace those that URDF
    cannot describe."""

    name: str
    source: str | Path
    floating: bool = False
    quaternion: str = "xyzw"
    remade: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False, compare=False)
    added: tuple[wd.Joint, ...] = ()

    @cached_property
    def model(self) -> wd.Model:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wd.ModelWarning)
            model = wd.load_urdf(
                self.source, floating_base=self.floating, quaternion=self.quaternion
            )
        if not self.remade:
            return model
        joints = [replace(joint, **self.remade.get(joint.name, {})) for joint in model.joints]
        joints += self.added
        options = {"floating_base": self.floating, "quaternion": self.quaternion}
        return wd.Model.assemble(model.name, model.links, joints, **options)  # type: ignore[arg-type]

    @cached_property
    def text(self) -> str:
        return self.source.read_text() if isinstance(self.source, Path) else self.source

    @property
    def has_mimic(self) -> bool:
        return any(joint.mimic for joint in self.model.joints)


HAND_MADE = (
    Robot("single", SINGLE),
    Robot("axes", AXES),
    Robot("slides", SLIDES),
    Robot("planar", PLANAR),
    Robot("planar_slanted", PLANAR_SLANTED),
    Robot("free_inside", FREE_INSIDE),
    Robot("mimic_chain", MIMIC_CHAIN),
    Robot("mimic_chain_floating", MIMIC_CHAIN, floating=True),
    Robot("mimic_branches", MIMIC_BRANCHES),
    Robot("rooted", ROOTED),
    Robot("rooted_floating", ROOTED, floating=True),
    Robot("massless", MASSLESS),
    Robot("branches", BRANCHES),
    Robot("branches_wxyz", BRANCHES, floating=True, quaternion="wxyz"),
    Robot("free_inside_wxyz", FREE_INSIDE, floating=True, quaternion="wxyz"),
    Robot("balls", BALLS, remade=BALLS_REMADE),
    Robot("balls_wxyz", BALLS, floating=True, quaternion="wxyz", remade=BALLS_REMADE),
    Robot("two_axes", TWO_AXES, remade=TWO_AXES_REMADE),
    Robot("gears", GEARS, remade=GEARS_REMADE, added=(GEARS_MESH,)),
)


# Random robots.

KIND_CHOICES = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")


def random_tree(
    parents: Sequence[int], kinds: Sequence[str], seed: int, floating: bool = False
) -> Robot:
    """A tree in which link i + 1 is attached to link parents[i] <= i. The numbers follow from the
    seed."""
    draw = random.Random(seed)

    def spread(size: float, n: int = 3) -> list[float]:
        return [draw.uniform(-size, size) for _ in range(n)]

    parts = [link("l0", draw.choice([0.0, 3.0]) if not floating else 3.0, spread(0.2))]
    singles: list[str] = []
    for i, (parent, kind) in enumerate(zip(parents, kinds, strict=True)):
        mass = 0.0 if kind == "fixed" and draw.random() < 0.5 else draw.uniform(0.3, 3.0)
        axis = draw.choice([(1, 0, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), spread(1.0)])
        mimic = None
        if kind in ("revolute", "continuous", "prismatic"):
            if singles and draw.random() < 0.15:
                mimic = (draw.choice(singles), draw.uniform(-2, 2), draw.uniform(-0.5, 0.5))
            singles.append(f"j{i}")
        angles = draw.choice([(0, 0, 0), (math.pi / 2, 0, 0), (0, 0, -math.pi / 2), spread(3.0)])
        parts.append(link(f"l{i + 1}", mass, spread(0.3)))
        parts.append(
            joint(f"j{i}", kind, f"l{parent}", f"l{i + 1}", spread(0.5), angles, axis, mimic)
        )
    return Robot(f"random_{seed}", urdf(f"random_{seed}", *parts), floating)


def seeded_tree(seed: int, size: int, floating: bool = False) -> Robot:
    draw = random.Random(seed)
    parents = [draw.randint(max(0, i - 2), i) for i in range(size)]
    kinds = [draw.choices(KIND_CHOICES, (6, 3, 3, 2, 1, 1))[0] for _ in range(size)]
    kinds[0] = "revolute"
    return random_tree(parents, kinds, seed, floating)


@st.composite
def random_trees(draw: st.DrawFn, most: int = 6) -> Robot:
    """Trees of up to `most` joints of every kind, including mimic joints, with a fixed or floating
    base."""
    size = draw(st.integers(1, most))
    parents = [draw(st.integers(0, i)) for i in range(size)]
    kinds = [draw(st.sampled_from(KIND_CHOICES)) for _ in range(size)]
    floating = draw(st.booleans())
    if not floating and all(kind == "fixed" for kind in kinds):
        kinds[-1] = "revolute"
    return random_tree(parents, kinds, draw(st.integers(0, 2**31)), floating)


RANDOM = (seeded_tree(11, 7), seeded_tree(5, 9, floating=True))


# Bundled robots and real ones.


def bundled_robot(name: str, floating: bool = False) -> Robot:
    path = Path(warpdyn.robots.__file__).with_name(f"{name}.urdf")
    return Robot(name + ("_floating" if floating else ""), path, floating)


BUNDLED = (
    bundled_robot("panda"),
    bundled_robot("ur5e"),
    bundled_robot("cartpole"),
    bundled_robot("double_pendulum"),
    bundled_robot("quadruped", floating=True),
    bundled_robot("humanoid", floating=True),
)

EXAMPLE_ROBOT_DATA = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "talos_reduced": "talos_data/robots/talos_reduced.urdf",
    "tiago_no_hand": "tiago_description/robots/tiago_no_hand.urdf",
    "solo12": "solo_description/robots/solo12.urdf",
    "anymal_b": "anymal_b_simple_description/robots/anymal.urdf",
    "anymal_c": "anymal_c_simple_description/urdf/anymal.urdf",
    "icub": "icub_description/robots/icub.urdf",
    "g1": "g1_description/urdf/g1_29dof_rev_1_0.urdf",
    "g1_hands": "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "romeo": "romeo_description/urdf/romeo.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "pr2": "pr2_description/urdf/pr2.urdf",
    "tiago_dual": "tiago_description/robots/tiago_dual.urdf",
    "double_pendulum_continuous": "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
}


def example_robot_data() -> Path | None:
    """The folder of the PyPI package example-robot-data, if it is installed."""
    try:
        distribution = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        return None
    return Path(str(distribution.locate_file("cmeel.prefix/share/example-robot-data/robots")))


def real(name: str, floating: bool = False) -> Robot | None:
    """A robot of example-robot-data, or None if that is not installed."""
    folder = example_robot_data()
    path = folder / EXAMPLE_ROBOT_DATA[name] if folder else None
    if path is None or not path.exists():
        return None
    return Robot(f"erd_{name}" + ("_floating" if floating else ""), path, floating)


REAL = tuple(filter(None, (real("ur5"), real("solo12", floating=True), real("panda"))))

ROBOTS = (*BUNDLED, *HAND_MADE, *RANDOM, *REAL)
"""What the laws run over by default."""


def by_name(name: str) -> Robot:
    return next(robot for robot in ROBOTS if robot.name == name)
