"""URDF text of hand-made robots, each with an unusual feature, and functions that write the
elements."""

from __future__ import annotations

import math
from collections.abc import Sequence

import warpdyn as wd
from warpdyn.model.description import Gearbox
from warpdyn.model.joints import KINDS


def numbers(values: Sequence[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


def link(
    name: str,
    mass: float = 0.0,
    com: Sequence[float] = (0, 0, 0),
    inertia: Sequence[float] | None = None,
) -> str:
    """A link. `inertia` is ixx ixy ixz iyy iyz izz about the centre of mass, by default that of an
    asymmetric body."""
    if not mass and inertia is None:
        return f'<link name="{name}"/>'
    values = inertia or [mass * x for x in (0.02, 0.001, -0.002, 0.03, 0.0015, 0.025)]
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    entries = " ".join(f'{key}="{value!r}"' for key, value in zip(keys, values, strict=True))
    body = f'<origin xyz="{numbers(com)}"/><mass value="{mass!r}"/><inertia {entries}/>'
    return f'<link name="{name}"><inertial>{body}</inertial></link>'


def joint(
    name: str,
    kind: str,
    parent: str,
    child: str,
    xyz: Sequence[float] = (0, 0, 0),
    rpy: Sequence[float] = (0, 0, 0),
    axis: Sequence[float] = (0, 0, 1),
    mimic: tuple[str, float, float] | None = None,
) -> str:
    follow = (
        f'<mimic joint="{mimic[0]}" multiplier="{mimic[1]!r}" offset="{mimic[2]!r}"/>'
        if mimic
        else ""
    )
    limit = (
        '<limit lower="-3" upper="3" effort="100" velocity="10"/>'
        if kind in ("revolute", "prismatic")
        else ""
    )
    line = f'<axis xyz="{numbers(axis)}"/>' if kind not in ("fixed", "floating") else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>{line}{limit}{follow}</joint>'
    )


def urdf(name: str, *parts: str) -> str:
    return f'<robot name="{name}">{"".join(parts)}</robot>'


# Hand-made robots, each with an unusual feature.

SINGLE = urdf(
    "single",
    link("base"),
    link("arm", 1.5, (0.3, 0.1, -0.2)),
    joint("turn", "continuous", "base", "arm"),
)

AXES = urdf(
    "axes",
    link("base", 4.0),
    *(link(f"l{k}", 1.0 + 0.3 * k, (0.1 * k, -0.05, 0.2 - 0.1 * k)) for k in range(6)),
    joint("slanted", "revolute", "base", "l0", (0.1, 0, 0.3), (0.2, -0.4, 1.1), axis=(1, 2, -2)),
    joint("minus_x", "revolute", "l0", "l1", (0, 0.2, 0.1), (math.pi / 2, 0, 0), axis=(-1, 0, 0)),
    joint("minus_y", "continuous", "l1", "l2", (0.3, 0, 0), (0, 0, -1.5708), axis=(0, -3, 0)),
    joint("minus_z", "revolute", "l2", "l3", (0, 0, 0.25), axis=(0, 0, -1)),
    joint("in_plane", "continuous", "l3", "l4", (0.1, 0.1, 0), (3.1, 0, 0), axis=(0.6, 0, 0.8)),
    joint("plus_y", "revolute", "l4", "l5", (0, -0.15, 0.2), axis=(0, 1, 0)),
)

SLIDES = urdf(
    "slides",
    link("base"),
    *(link(f"l{k}", 0.5 + k, (0.05, 0.1 * k, -0.1)) for k in range(4)),
    joint("along_x", "prismatic", "base", "l0", (0, 0, 0.5), axis=(1, 0, 0)),
    joint("slanted", "prismatic", "l0", "l1", (0.2, 0, 0), (0.5, 0.3, -0.2), axis=(1, -1, 0.5)),
    joint("turn", "revolute", "l1", "l2", (0, 0.1, 0), (0, 1.0, 0), axis=(0, 0, 1)),
    joint("backwards", "prismatic", "l2", "l3", (0, 0, 0.3), axis=(0, -1, 0)),
)

PLANAR = urdf(
    "planar",
    link("floor"),
    link("cart", 8.0, (0.1, 0.05, 0.2)),
    link("mast", 2.0, (0, 0.1, 0.4)),
    link("puck", 0.5, (0.02, 0, 0.01)),
    joint("drive", "planar", "floor", "cart", (0.3, 0, 0.1), (0.1, 0, 0.4), axis=(0, 0, 1)),
    joint("tilt", "revolute", "cart", "mast", (0, 0, 0.3), axis=(0, 1, 0)),
    joint("slip", "planar", "mast", "puck", (0, 0.2, 0.6), (0.3, 0.2, 0), axis=(1, 0, 0)),
)

PLANAR_SLANTED = urdf(
    "planar_slanted",
    link("floor"),
    link("cart", 3.0, (0.1, 0.05, 0.2)),
    link("wheel", 1.0, (0, 0.1, 0)),
    joint("drive", "planar", "floor", "cart", (0.3, 0, 0.1), axis=(0, -1, 0)),
    joint("slip", "planar", "cart", "wheel", (0, 0.2, 0.6), axis=(1, 1, 0.3)),
)

FREE_INSIDE = urdf(
    "free_inside",
    link("hand", 1.0),
    link("arm", 2.0, (0, 0, 0.3)),
    link("ball", 0.7, (0.01, 0.02, -0.03)),
    link("flap", 0.4, (0.1, 0, 0.05)),
    joint("shoulder", "revolute", "hand", "arm", (0, 0.1, 0.2), axis=(1, 0, 0)),
    joint("thrown", "floating", "arm", "ball", (0, 0.2, 0.5), (0.4, 0.1, -0.3)),
    joint("hinge", "revolute", "ball", "flap", (0.1, 0, 0), axis=(0, 1, 1)),
)

MIMIC_CHAIN = urdf(
    "mimic_chain",
    link("base"),
    *(link(f"l{k}", 0.8 + 0.2 * k, (0.2, 0.02 * k, -0.05)) for k in range(5)),
    joint("lead", "revolute", "base", "l0", (0, 0, 0.2), axis=(0, 0, 1)),
    joint(
        "second",
        "revolute",
        "l0",
        "l1",
        (0.3, 0, 0),
        (0.3, 0, 0),
        axis=(0, 1, 0),
        mimic=("lead", -0.5, 0.3),
    ),
    joint(
        "third", "revolute", "l1", "l2", (0.3, 0, 0), axis=(0, -1, 0), mimic=("second", 2.0, -0.1)
    ),
    joint("own", "revolute", "l2", "l3", (0.25, 0, 0), (0, 0.7, 0), axis=(1, 0, 0)),
    joint("slide", "prismatic", "l3", "l4", (0.1, 0, 0), axis=(1, 0, 0), mimic=("lead", 0.1, 0.05)),
)

MIMIC_BRANCHES = urdf(
    "mimic_branches",
    link("base"),
    link("palm", 1.0, (0, 0, 0.05)),
    link("left", 0.2, (0, 0.03, 0.02)),
    link("right", 0.2, (0, -0.03, 0.02)),
    link("tip", 0.1, (0, 0.01, 0.03)),
    joint("wrist", "revolute", "base", "palm", (0, 0, 0.4), (0.3, 0.5, 0), axis=(0, 1, 0)),
    joint(
        "right_finger",
        "prismatic",
        "palm",
        "right",
        (0, 0, 0.1),
        axis=(0, -1, 0),
        mimic=("left_finger", 1.0, 0.0),
    ),
    joint("left_finger", "prismatic", "palm", "left", (0, 0, 0.1), axis=(0, 1, 0)),
    joint(
        "curl",
        "revolute",
        "left",
        "tip",
        (0, 0, 0.05),
        axis=(1, 0, 0),
        mimic=("left_finger", 3.0, 0.2),
    ),
)

ROOTED = urdf(
    "rooted",
    link("pedestal", 20.0, (0.1, 0, 0.2)),
    link("cabinet", 7.0, (0, 0.3, 0)),
    link("arm", 1.2, (0.2, 0, 0.1)),
    link("tool", 0.6, (0, 0.05, 0.1)),
    link("tip"),
    joint("bolted", "fixed", "pedestal", "cabinet", (0.2, 0.1, 0), (0, 0, 0.5)),
    joint("elbow", "revolute", "cabinet", "arm", (0, 0, 0.6), (0.2, 0, 0), axis=(0, 1, 0)),
    joint("flange", "fixed", "arm", "tool", (0.4, 0, 0), (0.5, -0.3, 0.2)),
    joint("point", "fixed", "tool", "tip", (0, 0, 0.2), (0, 0.4, 0)),
)

MASSLESS = urdf(
    "massless",
    link("world"),
    link("yaw"),
    link("pitch"),
    link("roll", 2.0, (0.1, 0.05, 0.3)),
    link("mount"),
    link("head", 0.9, (0, 0, 0.1)),
    link("rotor", 0.0, (0, 0, 0), (0.01, 0, 0, 0.01, 0, 0.02)),
    joint("j_yaw", "revolute", "world", "yaw", (0, 0, 0.5), axis=(0, 0, 1)),
    joint("j_pitch", "revolute", "yaw", "pitch", axis=(0, 1, 0)),
    joint("j_roll", "revolute", "pitch", "roll", (0.05, 0, 0), axis=(1, 0, 0)),
    joint("j_mount", "fixed", "roll", "mount", (0, 0, 0.5), (0.4, 0, 0)),
    joint("j_head", "revolute", "mount", "head", (0, 0.1, 0), axis=(0, 0, 1)),
    joint("j_rotor", "continuous", "roll", "rotor", (0.1, 0.1, 0.1), (0.3, 0.2, 0), axis=(0, 0, 1)),
)

BRANCHES = urdf(
    "branches",
    link("trunk", 5.0, (0, 0, 0.2)),
    *(
        link(name, 1.0 + 0.1 * k, (0.02 * k, 0.1, -0.2))
        for k, name in enumerate(("a1", "a2", "b1", "b2", "b3", "c1"))
    ),
    joint("b_1", "revolute", "trunk", "b1", (0.2, -0.1, 0), axis=(1, 0, 0)),
    joint("a_1", "continuous", "trunk", "a1", (0.2, 0.1, 0), (0, 0.2, 0), axis=(0, 1, 0)),
    joint("a_2", "prismatic", "a1", "a2", (0, 0, -0.3), axis=(0, 0, 1)),
    joint("b_2", "revolute", "b1", "b2", (0, 0, -0.3), axis=(0, 1, 0)),
    joint("b_3", "revolute", "b1", "b3", (0, 0.1, -0.3), (0.3, 0, 0), axis=(0, 0, 1)),
    joint("c_1", "revolute", "b2", "c1", (0, 0, -0.3), axis=(1, 1, 1)),
)

BALLS = urdf(
    "balls",
    link("base", 3.0),
    *(link(f"l{k}", 0.6 + 0.3 * k, (0.1, -0.05 * k, 0.15)) for k in range(4)),
    joint("hip", "continuous", "base", "l0", (0.1, 0, 0.3), (0.2, -0.4, 1.1)),
    joint("knee", "revolute", "l0", "l1", (0, 0.1, 0.4), axis=(0, -1, 0)),
    joint("ankle", "continuous", "l1", "l2", (0.3, 0, 0), (0, 0.5, 0)),
    joint("toe", "prismatic", "l0", "l3", (0, 0.2, 0), (0.3, 0, 0), axis=(1, 1, 0)),
)
BALLS_REMADE = {name: {"kind": KINDS["ball"]} for name in ("hip", "ankle")}

TWO_AXES = urdf(
    "two_axes",
    link("base"),
    *(link(f"l{k}", 0.6 + 0.3 * k, (0.1, -0.05 * k, 0.15)) for k in range(5)),
    joint("cardan", "continuous", "base", "l0", (0, 0, 0.5), (0.2, -0.4, 1.1), axis=(1, 2, -2)),
    joint("feed", "continuous", "l0", "l1", (0, 0.2, 0.1), axis=(0, 0, -1)),
    joint("fork", "continuous", "l1", "l2", (0.3, 0, 0), (0, 0.4, 0), axis=(0, -1, 0)),
    joint("bolt", "continuous", "l2", "l3", (0, 0.1, 0.1), (0.1, 0, 0.3), axis=(1, -2, 2)),
    joint(
        "nut", "continuous", "base", "l4", (0.5, 0, 0), axis=(0, 1, 0), mimic=("bolt", -0.5, 0.1)
    ),
)
TWO_AXES_REMADE = {
    "cardan": {"kind": KINDS["universal"], "axis2": (2 / 3, 1 / 3, 2 / 3)},
    "fork": {"kind": KINDS["revolute2"], "axis2": (0.6, 0.0, 0.8)},
    "feed": {"kind": KINDS["screw"], "pitch": 0.05},
    "bolt": {"kind": KINDS["screw"], "pitch": -0.02},
    "nut": {"kind": KINDS["screw"], "pitch": 0.1},
}

GEARS = urdf(
    "gears",
    link("base"),
    *(
        link(name, 0.5 + 0.2 * k, (0.1, 0.02 * k, -0.05))
        for k, name in enumerate(("arm", "motor", "tip"))
    ),
    link("planet", 0.3, (0.02, 0, 0.1)),
    joint("crank", "revolute", "base", "arm", (0, 0, 0.4), (0.3, 0, 0), axis=(0, 0, -1)),
    joint("drive", "continuous", "arm", "motor", (0.3, 0, 0), (0.5, 0, 0), axis=(0, 1, 0)),
    joint(
        "driven",
        "revolute",
        "arm",
        "tip",
        (0.4, 0, 0),
        (1.2, 0, 0),
        axis=(0, math.cos(0.7), -math.sin(0.7)),
    ),
    joint("rolling", "continuous", "arm", "planet", (0, 0.2, 0), (math.pi, 0, 0), axis=(0, 0, 1)),
)
GEARS_REMADE = {"rolling": {"kind": KINDS["gearbox"], "gearbox": Gearbox(2.5, "base")}}
GEARS_MESH = wd.Joint(
    "mesh",
    KINDS["gearbox"],
    "motor",
    "tip",
    axis=(0.0, 1.0, 0.0),
    axis2=(0.0, -1.0, 0.0),
    gearbox=Gearbox(0.2, "arm"),
)
