"""Models built in Python and the poses of their links, for the tests of the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import warpdyn as wd
from warpdyn.model import Model
from warpdyn.model.description import Geometry, Joint, Link, Mimic
from warpdyn.model.joints import KINDS
from warpdyn.model.poses_and_limits import Limits, Pose

ROUND_OFF = 1e-12
"""Relative; the same few sums and products in another order."""


TURN = Pose.at((0.1, -0.2, 0.3), (0.4, -0.5, 0.6))


def joint(name: str, parent: str, child: str, kind: str = "revolute", **more: object) -> Joint:
    return Joint(name, KINDS[kind], parent, child, **more)  # type: ignore[arg-type]


def hand(**options: object) -> Model:
    """A wrist with two fingers, the second a mimic of the first, a camera, and a puck that slides
    on a plane."""
    links = [
        Link(name, mass)
        for name, mass in [
            ("puck", 0.1),
            ("palm", 1.0),
            ("left", 0.2),
            ("right", 0.2),
            ("eye", 0.3),
            ("base", 5),
        ]
    ]
    joints = [
        joint("slide", "palm", "puck", "planar", limits=Limits(velocity=3, effort=4)),
        joint("finger", "palm", "left", "prismatic", limits=Limits(0, 0.04, 1, 20)),
        joint("follower", "palm", "right", "prismatic", mimic=Mimic("finger")),
        joint("mount", "base", "eye", "fixed"),
        joint("wrist", "base", "palm", limits=Limits(-1, 2, 5, 30)),
    ]
    return Model.assemble("hand", links, joints, **options)  # type: ignore[arg-type]


def ball_arm() -> Model:
    """A ball joint whose quaternion is stored as "wxyz", and a box on the last link."""
    links = [Link("base"), Link("upper", 1.0, (0, 0, 0.2)), Link("lower", 0.5, (0.1, 0, 0))]
    links[2] = replace(links[2], visuals=(Geometry("box", (0.1, 0.2, 0.3), pose=TURN),))
    joints = [
        Joint("shoulder", KINDS["ball"], "base", "upper", TURN),
        Joint("elbow", KINDS["revolute"], "upper", "lower", TURN),
    ]
    return Model.assemble("ball_arm", links, joints, quaternion="wxyz")


def fk(model: Model, q: np.ndarray, frame: str) -> np.ndarray:
    return wd.oracle(wd.fk, model, q, frame=frame)


def homogeneous(pose: Pose) -> np.ndarray:
    return np.block(
        [
            [np.array(pose.rotation), np.array(pose.position)[:, None]],
            [np.zeros((1, 3)), np.ones((1, 1))],
        ]
    )
