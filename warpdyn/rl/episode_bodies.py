"""Free bodies and contact forces of an episode, by the names of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra.quaternions import quaternion_rotation
from ..algorithms.simulation.contact_shapes import ContactPair
from ..functions.simulation.contact_pairs import pairs_between
from ..model import Model
from ..model.scene.free_bodies import free_joint_of
from ..model.structure import start_of


class BodyState(NamedTuple):
    """The state of a free body.

    pose (7,): position of its link's origin in the world [m], and quaternion in the model's order.
    velocity (6,): linear and angular, in the link's axes [m/s, rad/s].
    """

    pose: Any
    velocity: Any
    rotation: Any
    """Rotation matrix (3, 3), link to world."""

    @property
    def position(self) -> Any:
        """Position of its link's origin in the world (3,) [m]."""
        return self.pose[:3]


def body_state(model: Model, q: Any, v: Any, name: str) -> BodyState:
    """The state of the free body whose link has this name."""
    joint = free_joint_of(model, name)
    at = model.coordinates[joint.name]
    pose = q[at.q]
    quaternion = joint.kind.scalar_last([pose[k] for k in range(7)], model.quaternion)[3:]
    rows = quaternion_rotation(list(quaternion)).matrix.rows
    return BodyState(pose, v[at.v], np.stack([np.stack([*row]) for row in rows]))


def configuration(model: Model, joints: Any, bodies: Mapping[str, Any]) -> Any:
    """q (nq,) with these joints (joints,) in the order of targets, None for those of the model's
    start, and with the poses (7,) of free bodies by the names of their links; other bodies are as
    in the model's start."""
    start = np.asarray(start_of(model), dtype=float)
    entries: list[Any] = [float(x) for x in start]
    columns = model.joint_position_columns
    if joints is not None:
        if np.shape(joints) != (len(columns),):
            raise ValueError(
                f"joints must be (joints,) = ({len(columns)},) for {model.name}, got {np.shape(joints)}"
            )
        for k, column in enumerate(columns):
            entries[column] = joints[k]
    for name, pose in bodies.items():
        if np.shape(pose) != (7,):
            raise ValueError(
                f"the pose of {name} must be (7,), position and quaternion, got {np.shape(pose)}"
            )
        at = model.coordinates[free_joint_of(model, name).name]
        entries[at.q] = [pose[k] for k in range(7)]
    return np.stack(entries)


def force_between(pairs: Sequence[ContactPair], forces: Any, first: str, second: str) -> Any:
    """The force of one link on a second one through the contacts of all their pairs (3,), in the
    world's axes [N].

    forces: (pairs, 3) on the second shape of each pair. Raises KeyError if the links have no pair.
    """
    total: Any = 0.0
    for k, sign in pairs_between(pairs, first, second).items():
        total = total + sign * forces[k]
    return total
