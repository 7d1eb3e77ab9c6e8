"""Quantities of bodies that Gymnasium observes, in MuJoCo's order and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warpdyn import rl
from warpdyn.algorithms.simulation.contact_shapes import ContactShape

PROJECTIONS = 3
"""Projections onto each axis for the nearest points of two."""

TINY = 1e-12
"""Square of the length of an axis below which it is a point [m²]."""

ROOT = "torso"
"""Link whose pose and velocity are the first of a state."""


def free_positions(s: rl.Episode) -> Any:
    """Configuration of a free robot without x and y: height, quaternion with w first, joints."""
    return np.concatenate([s.q[2:3], s.q[6:7], s.q[3:6], s.q[7:]])


def free_velocities(s: rl.Episode) -> Any:
    """Velocity of a free robot: linear in world axes, angular in root axes, joints."""
    return np.concatenate([s.body(ROOT).rotation @ s.v[:3], s.v[3:]])


def contact_wrenches(robot: Any, s: rl.Episode, links: Sequence[str]) -> Any:
    """Contact moments about the robot's centre of mass and contact forces on links, (links, 6) [N·m, N].

    They are in world axes (MuJoCo's `cfrc_ext`). A force acts halfway between the ground and its sphere,
    or at the nearest points of the two shapes.
    """
    points: Any = s.task.points
    at, centre = robot.point_positions(s.q, points=points), robot.com(s.q)
    total = {link: np.zeros(6) for link in links}
    for k, point in enumerate(points):
        contact = s.task.points.on_ground[point]
        lowest = at[k][2] - point.radius + contact.margin
        arm = np.stack([at[k][0], at[k][1], 0.5 * lowest]) - centre
        total[point.link] = total[point.link] + _wrench(arm, s.forces[k])
    for k, (first, second) in enumerate(s.task.pairs):
        force = s.pair_forces[k]
        wrench = _wrench(_meeting_point(robot, s.q, first, second) - centre, force)
        total[first.link] = total[first.link] - wrench
        total[second.link] = total[second.link] + wrench
    return np.stack([total[link] for link in links])


def _wrench(arm: Any, force: Any) -> Any:
    """A moment and its force (6,)."""
    return np.concatenate([np.cross(arm, force), force])


def _meeting_point(robot: Any, q: Any, first: ContactShape, second: ContactShape) -> Any:
    """Contact point of spheres or capsules (3,) [m]: nearest points of their axes, by alternating projections."""
    (a, along_a), (b, along_b) = _axis(robot, q, first), _axis(robot, q, second)
    at_a, at_b = a, b
    for _ in range(PROJECTIONS):
        at_a = _nearest(a, along_a, at_b)
        at_b = _nearest(b, along_b, at_a)
    share = first.size[0] / (first.size[0] + second.size[0])
    return at_a + (at_b - at_a) * share


def _axis(robot: Any, q: Any, shape: ContactShape) -> tuple[Any, Any]:
    """Centre and half axis of a capsule in the world (3,) [m]. The half axis of a sphere is zero."""
    pose = robot.fk(q, frame=shape.link)
    half = 0.5 * shape.size[1] if shape.kind == "capsule" else 0.0
    along = half * np.array([row[2] for row in shape.rotation])
    return pose[:3, 3] + pose[:3, :3] @ np.array(shape.position), pose[:3, :3] @ along


def _nearest(centre: Any, half: Any, point: Any) -> Any:
    """Point of an axis that is nearest to another point (3,) [m]."""
    share = np.sum((point - centre) * half) / (np.sum(half * half) + TINY)
    return centre + np.clip(share, -1.0, 1.0) * half


def body_inertias(robot: Any, s: rl.Episode, links: Sequence[Any]) -> Any:
    """Inertias of links about the robot's centre of mass in the world's axes, (links, 10): xx, yy,
    zz, xy, xz, yz [kg·m²], mass times offset [kg·m], mass [kg] (MuJoCo's `cinert`)."""
    centre, rows = robot.com(s.q), []
    for link in links:
        pose, mass = robot.fk(s.q, frame=link.name), link.mass
        turn = pose[:3, :3]
        away = pose[:3, 3] + turn @ np.array(link.com) - centre
        inertia = turn @ np.array(link.inertia) @ turn.T
        inertia = inertia + mass * (np.sum(away * away) * np.eye(3) - np.outer(away, away))
        entries = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        rows.append(np.concatenate([np.stack(entries), mass * away, np.array([mass])]))
    return np.stack(rows)


def body_velocities(robot: Any, s: rl.Episode, links: Sequence[Any]) -> Any:
    """Angular velocities of links, and linear ones of the points of these links at the robot's
    centre of mass, (links, 6), in the world's axes [rad/s, m/s] (MuJoCo's `cvel`)."""
    centre, rows = robot.com(s.q), []
    for link in links:
        origin = robot.fk(s.q, frame=link.name)[:3, 3]
        velocity = robot.frame_velocity(s.q, s.v, frame=link.name, reference="local_world_aligned")
        turning = velocity[3:]
        rows.append(np.concatenate([turning, velocity[:3] + np.cross(turning, centre - origin)]))
    return np.stack(rows)
