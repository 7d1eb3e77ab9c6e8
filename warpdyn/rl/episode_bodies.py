"""Free bodies and contact forces of an episode, by the names of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..algebra.quaternions import quaternion_rotation
from ..algorithms.simulation.contact_rows import ContactPoint
from ..algorithms.simulation.contact_shapes import ContactPair
from ..functions.simulation.contact_pairs import pair_links, signs_between
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


class EpisodeContacts(NamedTuple):
    """The contacts of an episode: the points and pairs of its task, and the force on each point
    (points, 3) and on the second shape of each pair (pairs, 3), in the world's axes [N]."""

    points: Sequence[ContactPoint]
    pairs: Sequence[ContactPair]
    forces: Any
    pair_forces: Any

    def force_between(self, first: str, second: str) -> Any:
        """The force of one link on a second one through all their contacts (3,), in the world's
        axes [N]. Raises KeyError if they have none."""
        total: Any = 0.0
        for k, sign in signs_between(self.points, self.pairs, first, second).items():
            total = total + sign * self._force(k)
        return total

    def force_on(self, link: str) -> Any:
        """The net force of all contacts of a link (3,), in the world's axes [N]. Raises KeyError if
        it has none."""
        total: Any = 0.0
        for other in self._others(link):
            total = total + self.force_between(other, link)
        return total

    def in_contact(self, link: str, other: str | None, threshold: float) -> Any:
        """1 where the force between two links is above `threshold` [N], else 0. other: None: any link
        or the ground."""
        found: Any = 0.0
        for each in self._others(link) if other is None else [other]:
            force = self.force_between(each, link)
            found = np.maximum(found, np.where(np.sum(force**2) > threshold**2, 1.0, 0.0))
        return found

    def _force(self, k: int) -> Any:
        count = len(self.points)
        return self.forces[k] if k < count else self.pair_forces[k - count]

    def _others(self, link: str) -> list[str]:
        """The links that share contacts with a link, the ground among them."""
        links = [("ground", point.link) for point in self.points] + [*pair_links(self.pairs)]
        found = dict.fromkeys(a if b == link else b for a, b in links if link in (a, b))
        if not found:
            there = ", ".join(dict.fromkeys(name for both in links for name in both))
            raise KeyError(f"{link} has no contacts; links with contacts: {there or 'none'}")
        return [*found]
