"""A robot hand of four fingers and sixteen joints, its palm upwards.

Lengths, masses and limits are those of the Allegro hand, version 3 (Wonik Robotics, data sheet).
Shapes are simpler: the palm is a box, and each phalanx is a capsule.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...functions.simulation.drives import PD
from ...model import Model
from ...model.builder import ModelBuilder
from ...model.description import Geometry, Pose
from ...model.scene.solids import Box

FINGERS = ("index", "middle", "ring", "thumb")
JOINTS = 16

PALM, PALM_CENTRE, PALM_MASS = (0.0408, 0.113, 0.095), (-0.0093, 0.0, -0.0475), 0.4154
"""Lengths of the palm's box [m], its centre [m], and its mass [kg]. The palm's axis x is its normal,
and z points along the fingers."""

RADIUS = 0.012
"""Radius of the phalanges and fingertips [m]."""

TIP_MASS = 0.0168

SPREAD, ANGLE = 0.0435, math.radians(5.0)
"""Distance between two fingers [m], and the angle between them [rad]."""

FINGER = (
    ("spread", (0, 0, 1), 0.0, (-0.47, 0.47), 0.0164, 0.0119),
    ("base", (0, 1, 0), 0.0164, (-0.196, 1.61), 0.054, 0.065),
    ("middle", (0, 1, 0), 0.054, (-0.174, 1.709), 0.0384, 0.0355),
    ("end", (0, 1, 0), 0.0384, (-0.227, 1.618), 0.0267, 0.0096),
)
"""Joints of a finger: name, axis, distance from the joint before [m], limits [rad], and length [m]
and mass [kg] of the phalanx."""

THUMB = (
    ("spread", (-1, 0, 0), 0.0, (0.263, 1.396), 0.0, 0.0176),
    ("base", (0, 0, 1), 0.0399, (-0.105, 1.163), 0.0177, 0.0119),
    ("middle", (0, 1, 0), 0.0177, (-0.189, 1.644), 0.0514, 0.038),
    ("end", (0, 1, 0), 0.0514, (-0.162, 1.719), 0.0423, 0.0388),
)

THUMB_POSE = Pose.at((-0.0182, 0.019333, -0.045987), (0.0, -1.65806278845, -math.pi / 2))
THUMB_OFFSET = (-0.027, 0.005)
"""Pose of the thumb's first joint in the palm, and x and y of its second joint in the first link."""

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

    Links are "palm" and "index_base", "index_middle", "index_end" ... of `FINGERS`; the fingers'
    tips are the links "index_tip" ...
    """
    c, s = math.cos(slope), math.sin(slope)
    palm = Pose((0.0, 0.0, height), ((s, 0.0, c), (0.0, -1.0, 0.0), (c, 0.0, -s)))
    shape = Geometry("box", PALM, pose=Pose(PALM_CENTRE))
    moments = Box(*PALM).moments
    builder = ModelBuilder("hand").add_link("stand")
    builder.add_link(
        "palm",
        PALM_MASS,
        PALM_CENTRE,
        np.diag(moments[1]) * (PALM_MASS / moments[0]),
        visuals=[shape],
        collisions=[shape],
    ).add_joint("mount", "fixed", "stand", "palm", palm)
    for name, side in zip(FINGERS[:3], (1.0, 0.0, -1.0), strict=True):
        place = (0.0, side * SPREAD, -0.001542 if side else 0.0007)
        _add_finger(builder, name, FINGER, Pose.at(place, (-side * ANGLE, 0.0, 0.0)))
    _add_finger(builder, FINGERS[3], THUMB, THUMB_POSE)
    return builder.build().with_armature(ROTORS)


def _add_finger(builder: ModelBuilder, finger: str, joints: Sequence[tuple], first: Pose) -> None:
    parent, end = "palm", 0.0
    for k, (name, axis, distance, (lower, upper), length, mass) in enumerate(joints):
        offset = THUMB_OFFSET if k == 1 and joints is THUMB else (0.0, 0.0)
        pose = Pose((*offset, distance)) if k else first
        link = f"{finger}_{name}"
        shapes = _phalanx(length) if k or joints is not THUMB else []
        slender = max(length, 0.03)
        inertia = np.diag(np.array(Box(0.0196, 0.0275, slender).moments[1]))
        inertia *= mass / Box(0.0196, 0.0275, slender).moments[0]
        builder.add_link(
            link,
            mass,
            (0.0, 0.0, length / 2),
            inertia,
            visuals=shapes,
            collisions=shapes if k else [],
        )
        builder.add_joint(
            link,
            "revolute",
            parent,
            link,
            pose,
            axis,
            lower=lower,
            upper=upper,
            velocity=SPEED,
            effort=EFFORT,
        )
        parent, end = link, length
    ball = 0.4 * TIP_MASS * RADIUS**2
    builder.add_link(f"{finger}_tip", TIP_MASS, inertia=np.diag([ball, ball, ball]))
    builder.add_joint(f"{finger}_tip", "fixed", parent, f"{finger}_tip", (0.0, 0.0, end))


def _phalanx(length: float) -> list[Geometry]:
    """The capsule of a phalanx, from its joint to its end."""
    return [Geometry("capsule", (RADIUS, length), pose=Pose((0.0, 0.0, length / 2)))]
