"""A robot hand of four fingers and sixteen joints, its palm upwards.

Lengths, masses and limits are those of the Allegro hand, version 3 (the URDF of Wonik Robotics).
Shapes are simpler: the palm is a box, and each phalanx is a capsule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...functions.simulation.drives import PD
from ...model import Model
from ...model.builder import ModelBuilder
from ...model.description import Geometry
from ...model.poses_and_limits import Pose
from ...model.scene.solids import Box

FINGERS = ("index", "middle", "ring", "thumb")
JOINTS = 16

PALM, PALM_CENTRE, PALM_MASS = (0.0408, 0.113, 0.095), (-0.0093, 0.0, -0.0475), 0.4154
"""Lengths of the palm's box [m], its centre [m], and its mass [kg]. The palm's axis x is its normal,
and z points along the fingers."""

RADIUS, TIP_MASS = 0.012, 0.0168
"""Radius of the phalanges and fingertips [m], and mass of a fingertip [kg]."""

WIDTH, LEAST_LENGTH = (0.0196, 0.0275), 0.03
"""Width of the box whose inertia a phalanx has, and its least length [m]."""

SPREAD, ANGLE = 0.0435, math.radians(5.0)
"""Distance between two fingers [m], and the angle between them [rad]."""


class Phalanx(NamedTuple):
    """A joint and its link: the axis, the limits [rad], the joint's place in the link before [m], and
    length [m] and mass [kg] of the link."""

    name: str
    axis: tuple[int, int, int]
    limits: tuple[float, float]
    place: tuple[float, float, float]
    length: float
    mass: float


FINGER = (
    Phalanx("spread", (0, 0, 1), (-0.47, 0.47), (0.0, 0.0, 0.0), 0.0164, 0.0119),
    Phalanx("base", (0, 1, 0), (-0.196, 1.61), (0.0, 0.0, 0.0164), 0.054, 0.065),
    Phalanx("middle", (0, 1, 0), (-0.174, 1.709), (0.0, 0.0, 0.054), 0.0384, 0.0355),
    Phalanx("end", (0, 1, 0), (-0.227, 1.618), (0.0, 0.0, 0.0384), 0.0267, 0.0096),
)

THUMB = (
    Phalanx("spread", (-1, 0, 0), (0.263, 1.396), (0.0, 0.0, 0.0), 0.0, 0.0176),
    Phalanx("base", (0, 0, 1), (-0.105, 1.163), (-0.027, 0.005, 0.0399), 0.0177, 0.0119),
    Phalanx("middle", (0, 1, 0), (-0.189, 1.644), (0.0, 0.0, 0.0177), 0.0514, 0.038),
    Phalanx("end", (0, 1, 0), (-0.162, 1.719), (0.0, 0.0, 0.0514), 0.0423, 0.0388),
)

THUMB_POSE = Pose.at((-0.0182, 0.019333, -0.045987), (0.0, -1.65806278845, -math.pi / 2))
"""Pose of the thumb's first joint in the palm."""

EFFORT, SPEED = 0.7, 7.0
"""Largest torque [N·m] and speed [rad/s] of a joint."""

ROTORS = 1e-3
"""Inertia of a drive's rotor at its joint [kg·m²]."""

DRIVES = PD(3.0, 0.1, effort=EFFORT)

CURLED = (*(0.0, 0.7, 0.7, 0.7) * 3, 0.8, 0.5, 0.6, 0.6)
"""Joints of a hand that holds an object of the size of a fist [rad]."""


def allegro_hand(height: float, slope: float) -> Model:
    """The hand on a stand: the origin of the palm is at a height [m], and the fingers point down by
    the angle `slope` [rad].

    Links are "palm", and for each of `FINGERS` "index_spread", "index_base", "index_middle",
    "index_end" and "index_tip".
    """
    c, s = math.cos(slope), math.sin(slope)
    pose = Pose((0.0, 0.0, height), ((s, 0.0, c), (0.0, -1.0, 0.0), (c, 0.0, -s)))
    shape = Geometry("box", PALM, pose=Pose(PALM_CENTRE))
    builder = ModelBuilder("hand").add_link("stand")
    builder.add_link(
        "palm",
        PALM_MASS,
        PALM_CENTRE,
        _inertia(Box(*PALM), PALM_MASS),
        visuals=[shape],
        collisions=[shape],
    )
    builder.add_joint("mount", "fixed", "stand", "palm", pose)
    for finger, side in zip(FINGERS[:3], (1.0, 0.0, -1.0), strict=True):
        place = (0.0, side * SPREAD, -0.001542 if side else 0.0007)
        _add_finger(builder, finger, FINGER, Pose.at(place, (-side * ANGLE, 0.0, 0.0)))
    _add_finger(builder, FINGERS[3], THUMB, THUMB_POSE)
    return builder.build().with_armature(ROTORS)


def _add_finger(
    builder: ModelBuilder, finger: str, phalanges: Sequence[Phalanx], pose: Pose
) -> None:
    """Joints, links and the tip of a finger, whose first joint has a pose in the palm."""
    parent = "palm"
    for k, phalanx in enumerate(phalanges):
        link = f"{finger}_{phalanx.name}"
        _add_phalanx(builder, link, phalanx, touches=k > 0)
        builder.add_joint(
            link,
            "revolute",
            parent,
            link,
            Pose(phalanx.place) if k else pose,
            phalanx.axis,
            lower=phalanx.limits[0],
            upper=phalanx.limits[1],
            velocity=SPEED,
            effort=EFFORT,
        )
        parent = link
    tip, end = f"{finger}_tip", (0.0, 0.0, phalanges[-1].length)
    builder.add_link(tip, TIP_MASS, inertia=np.eye(3) * (0.4 * TIP_MASS * RADIUS**2))
    builder.add_joint(tip, "fixed", parent, tip, end)


def _add_phalanx(builder: ModelBuilder, link: str, phalanx: Phalanx, touches: bool) -> None:
    """A link with a capsule from its joint to its end."""
    middle = (0.0, 0.0, phalanx.length / 2)
    capsule = Geometry("capsule", (RADIUS, phalanx.length), pose=Pose(middle))
    solid = Box(*WIDTH, max(phalanx.length, LEAST_LENGTH))
    shapes = [capsule] if phalanx.length else []
    builder.add_link(
        link,
        phalanx.mass,
        middle,
        _inertia(solid, phalanx.mass),
        visuals=shapes,
        collisions=shapes if touches else [],
    )


def _inertia(box: Box, mass: float) -> np.ndarray:
    """The inertia of a box of this mass about its centre (3, 3) [kg·m²]."""
    volume, moments = box.moments
    return np.diag(moments) * (mass / volume)
