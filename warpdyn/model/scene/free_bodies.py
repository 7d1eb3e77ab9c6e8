"""Bodies that move freely in the world, and the joints and coordinates of the rest of a model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...algebra.pose_forms import rotation_quaternion
from ...algebra.scalar import as_number
from ...algebra.spatial import Placement
from ..description import Joint
from ..joints import FLOATING
from ..named_configurations import Configuration
from ..names import look_up
from ..poses_and_limits import vector3
from ..structure import DRAWN, Structure


def free_joints(model: Structure) -> tuple[Joint, ...]:
    """The joints by which bodies move freely in the world, in their order: a floating base's, or
    floating joints on links that are fixed in the world."""
    if model.floating_base:
        return model.moving_joints[:1]
    still = links_on(model, model.root)
    return tuple(j for j in model.moving_joints if j.kind is FLOATING and j.parent in still)


def free_joint_of(model: Structure, link: str) -> Joint:
    """The joint by which the body of this link moves freely; raises KeyError for another link."""
    return look_up({each.child: each for each in free_joints(model)}, link, "free body", model.name)


def robot_base(model: Structure) -> str | None:
    """The link of the free body that is a robot's base: a floating base, or among objects the only
    free body that carries moving joints. None if there is none, or more than one."""
    if model.floating_base:
        return model.root
    carriers = {joint.parent for joint in internal_joints(model)}
    bases = [j.child for j in free_joints(model) if links_on(model, j.child) & carriers]
    return bases[0] if len(bases) == 1 else None


def internal_joints(model: Structure) -> tuple[Joint, ...]:
    """The other moving joints, which drives can move."""
    free = {joint.name for joint in free_joints(model)}
    return tuple(joint for joint in model.moving_joints if joint.name not in free)


def joint_columns(model: Structure) -> np.ndarray:
    """(joints,) columns of v of all joints but those of free bodies: the order of a simulation's
    torques. Read-only."""
    return _indices(model.v_indices(joint.name for joint in internal_joints(model)))


def joint_position_columns(model: Structure) -> np.ndarray:
    """Columns of q of all joints but those of free bodies: the order of targets of drives.
    Read-only."""
    return _indices(model.q_indices(joint.name for joint in internal_joints(model)))


def _indices(columns: list[int]) -> np.ndarray:
    array = np.array(columns, dtype=int)
    array.setflags(write=False)
    return array


def links_on(model: Structure, link: str) -> frozenset[str]:
    """The link and those that are fixed to it."""
    carried = {link}
    for joint in model.joints:  # parents come first
        if not joint.kind.nv and joint.parent in carried:
            carried.add(joint.child)
    return frozenset(carried)


def free_coordinates(X: Placement) -> tuple[float, ...]:
    """Coordinates of a floating joint in the world at a placement: position, and quaternion
    x y z w."""
    return (*vector3(X.p), *map(float, map(as_number, rotation_quaternion(X.R))))


def drawn_at(places: Mapping[str, Placement]) -> tuple[Configuration, ...]:
    """The configuration "qpos0" with bodies where their file has them, by the names of their
    floating joints; none if there are no such bodies."""
    coordinates = tuple((joint, free_coordinates(X)) for joint, X in places.items())
    return (Configuration(DRAWN, coordinates),) if coordinates else ()
