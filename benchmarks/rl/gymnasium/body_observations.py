"""Quantities of bodies that Gymnasium observes, in MuJoCo's order and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from warpdyn import rl

ROOT = "torso"
"""Link whose pose and velocity are the first of a state."""


def free_positions(s: rl.Episode) -> Any:
    """Configuration of a free robot without x and y: height, quaternion with the real part first,
    joints."""
    return np.concatenate([s.q[2:3], s.q[6:7], s.q[3:6], s.q[7:]])


def free_velocities(s: rl.Episode) -> Any:
    """Velocity of a free robot: the linear one of its root in the world's axes, the angular one in
    the root's, joints."""
    return np.concatenate([s.body(ROOT).rotation @ s.v[:3], s.v[3:]])


def contact_wrenches(robot: Any, s: rl.Episode, links: Sequence[str]) -> Any:
    """Moments about the robot's centre of mass and forces of the ground on links, (links, 6), in the
    world's axes [N·m, N] (MuJoCo's `cfrc_ext`). A force acts halfway between the ground and its sphere."""
    points: Any = s.task.points
    at, centre = robot.point_positions(s.q, points=points), robot.com(s.q)
    total = {link: np.zeros(6) for link in links}
    for k, point in enumerate(points):
        contact = s.task.points.on_ground[point]
        lowest = at[k][2] - point.radius + contact.margin
        arm = np.stack([at[k][0], at[k][1], 0.5 * lowest]) - centre
        wrench = np.concatenate([np.cross(arm, s.forces[k]), s.forces[k]])
        total[point.link] = total[point.link] + wrench
    return np.stack([total[link] for link in links])


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
