"""Pictures of robots from their shapes: outlines of convex bodies, seen from one side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...formats.meshes.mesh_hulls import hull_points
from ...model import Model
from ...model.description import Geometry
from ...model.joints import FLOATING
from ...model.mesh_files import MeshError
from ..kinematics import fk
from ..simulation.terrain import HeightMap

ROUND = 16
"""Number of points of a circle."""

MESH_POINTS = 40

CELL = 0.5
"""Distance between the lines on the ground [m]."""

COLOURS = ("#8d99ae", "#4c78a8", "#e45756", "#54a24b", "#f58518", "#b279a2", "#72b7b2")
"""Colours of the root and of its limbs in turn."""


class Sight(NamedTuple):
    """Direction of view: rotation about the vertical, and elevation [rad]."""

    turn: float = -0.35
    rise: float = 0.25

    def axes(self) -> np.ndarray:
        """Rows: to the right, upwards, towards the viewer (3, 3)."""
        s, c, sr, cr = np.sin(self.turn), np.cos(self.turn), np.sin(self.rise), np.cos(self.rise)
        right, level = np.array([c, s, 0.0]), np.array([s, -c, 0.0])
        up = np.array([0.0, 0.0, 1.0])
        return np.stack([right, cr * up - sr * level, cr * level + sr * up])


class RoundBody(NamedTuple):
    """A convex body of a link: the hull of balls around points in the link's frame (k, 3) [m]."""

    link: int
    points: np.ndarray
    radius: float


class Silhouette(NamedTuple):
    """An outline in the picture (n, 2), and its colour."""

    outline: np.ndarray
    colour: str


class RobotPicture:
    """A robot's links as convex bodies, for drawing at any configuration.

    A link without a drawable shape is a line to its children, except to free bodies.
    """

    def __init__(self, model: Model, view: Sight | None = None):
        self.model, self.axes = model, (view or Sight()).axes()
        self.bodies: list[RoundBody] = []
        for k, link in enumerate(model.links):
            self.bodies += [*_bodies(k, link.visuals)] or [*_bodies(k, link.collisions)]
        seen = {body.link for body in self.bodies}
        self.bones = [
            (model.link_index(joint.parent), model.link_index(joint.child))
            for joint in model.joints
            if joint.kind is not FLOATING
            and not {model.link_index(joint.parent), model.link_index(joint.child)} <= seen
        ]
        self.colours = _limb_colours(model)

    def poses(self, q: np.ndarray) -> np.ndarray:
        """Poses of all links (..., nlinks, 4, 4)."""
        batch = np.shape(q)[:-1]
        flat = np.asarray(q, float).reshape(math.prod(batch), self.model.nq)
        found = np.asarray(fk(self.model, flat))
        return found.reshape(*batch, *found.shape[1:])

    def reach(self, poses: np.ndarray, centre: np.ndarray) -> float:
        """Largest distance of the robot from a point [m]. Poses (nlinks, 4, 4)."""
        far = [
            np.linalg.norm(_place_points(body, poses) - centre, axis=1).max() + body.radius
            for body in self.bodies
        ]
        return float(max(*far, *np.linalg.norm(poses[:, :3, 3] - centre, axis=1)))

    def patches(self, poses: np.ndarray, centre: np.ndarray) -> list[Silhouette]:
        """Outlines from the farthest to the nearest, with `centre` in the middle. Poses (nlinks, 4,
        4)."""
        found: list[tuple[float, Silhouette]] = []
        for body in self.bodies:
            seen = (_place_points(body, poses) - centre) @ self.axes.T
            flat = seen[:, :2]
            if body.radius:
                flat = (flat[:, None] + body.radius * _circle()[:, :2]).reshape(-1, 2)
            found.append((seen[:, 2].mean(), Silhouette(outline(flat), self.colours[body.link])))
        for parent, child in self.bones:
            ends = (poses[[parent, child], :3, 3] - centre) @ self.axes.T
            found.append((ends[:, 2].mean(), Silhouette(ends[:, :2], self.colours[child])))
        return [patch for _, patch in sorted(found, key=lambda each: each[0])]

    def ground(
        self,
        centre: np.ndarray,
        reach: float,
        terrain: HeightMap | None = None,
        origin: np.ndarray | Sequence[float] = (0.0, 0.0, 0.0),
    ) -> list[np.ndarray]:
        """Lines on the ground around a place, in the picture."""
        steps = np.arange(-reach, reach + 1e-9, 0.1 if terrain is not None else reach)
        lines = []
        for axis in (0, 1):
            first = np.ceil((centre[axis] - reach) / CELL) * CELL
            for at in np.arange(first, centre[axis] + reach, CELL):
                line = np.zeros((len(steps), 3))
                line[:, axis] = at
                line[:, 1 - axis] = centre[1 - axis] + steps
                if terrain is not None:
                    line[:, 2] = _heights(terrain, line[:, :2] + origin[:2]) - origin[2]
                lines.append(((line - centre) @ self.axes.T)[:, :2])
        return lines


def _heights(terrain: HeightMap, places: np.ndarray) -> np.ndarray:
    """Height of the nearest node (n,) [m]."""
    table = np.asarray(terrain.heights)
    nodes = np.rint((places - np.array(terrain.origin)) / terrain.cell).astype(int)
    rows, columns = (np.clip(nodes[:, k], 0, table.shape[k] - 1) for k in (0, 1))
    return table[rows, columns]


def outline(points: np.ndarray) -> np.ndarray:
    """The convex hull of points in a plane (k, 2), counter-clockwise (Andrew's monotone chain)."""
    order = points[np.lexsort((points[:, 1], points[:, 0]))]
    chains: list[np.ndarray] = []
    for run in (order, order[::-1]):
        chain: list[np.ndarray] = []
        for p in run:
            while len(chain) > 1 and _turns_right(chain[-2], chain[-1], p):
                chain.pop()
            chain.append(p)
        chains += chain[:-1]
    return np.array(chains or order[:1])


def _turns_right(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> bool:
    u, w = b - a, c - a
    return bool(u[0] * w[1] - u[1] * w[0] <= 0.0)


def _place_points(body: RoundBody, poses: np.ndarray) -> np.ndarray:
    """A body's points in the world (k, 3)."""
    return body.points @ poses[body.link, :3, :3].T + poses[body.link, :3, 3]


def _bodies(link: int, shapes: Sequence[Geometry]) -> Iterator[RoundBody]:
    """Bodies of the drawable shapes; planes are not bodies of the robot."""
    for shape in shapes:
        if shape.shape == "plane":
            continue
        try:
            points, radius = _round(shape)
        except MeshError:
            continue
        pose = shape.pose
        yield RoundBody(link, points @ np.array(pose.rotation).T + np.array(pose.position), radius)


def _round(shape: Geometry) -> tuple[np.ndarray, float]:
    """Points of a shape in its frame (k, 3), and the radius of the balls around them."""
    if shape.shape == "mesh":
        return np.array(hull_points(shape, MESH_POINTS)), 0.0
    if shape.shape == "box":
        return 0.5 * np.array(shape.size) * _signs(), 0.0
    if shape.shape == "ellipsoid":
        around = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 3), -1).reshape(-1, 3)
        lengths = np.maximum(np.linalg.norm(around, axis=1, keepdims=True), 1.0)
        return np.array(shape.size) * around / lengths, 0.0
    if shape.shape == "sphere":
        return np.zeros((1, 3)), shape.size[0]
    radius, length = shape.size
    half = np.array([0.0, 0.0, 0.5 * length])
    if shape.shape == "capsule":
        return np.stack([half, -half]), radius
    return np.concatenate([radius * _circle() + half, radius * _circle() - half]), 0.0


def _signs() -> np.ndarray:
    return np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), -1).reshape(-1, 3)


def _circle() -> np.ndarray:
    turn = np.linspace(0.0, 2 * np.pi, ROUND, endpoint=False)
    return np.stack([np.cos(turn), np.sin(turn), np.zeros(ROUND)], 1)


def _limb_colours(model: Model) -> list[str]:
    """A colour for each link: limbs start at the first link with several moving children and have
    the colours in turn."""
    children: dict[str, list[str]] = {}
    for joint in model.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    moving = {joint.child for joint in model.joints if joint.kind.nv}
    colours: dict[str, str] = {}
    limbs = 0
    waiting = [(model.root, COLOURS[0])]
    while waiting:
        link, colour = waiting.pop()
        colours[link] = colour
        below = children.get(link, [])
        parts = sum(child in moving for child in below) > 1
        for child in below:
            limb = colour
            if parts and colour == COLOURS[0] and child in moving:
                limb = COLOURS[1 + limbs % (len(COLOURS) - 1)]
                limbs += 1
            waiting.append((child, limb))
    return [colours[link.name] for link in model.links]
