"""Overlays of a robot: frames, joint axes, centres of mass, inertias, contact points, torques."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import trimesh

from ..functions.dynamics import gravity_torques
from ..functions.simulation.contact_points import ContactPoints
from ..model import Model
from ..model.scene.free_bodies import internal_joints
from .robot_view import RobotView, rotate_vectors
from .stage import Page

RED, GREEN, BLUE, AMBER = (225, 20, 10), (15, 150, 40), (20, 80, 235), (255, 150, 0)
"""Colours with more saturation than desired, because the page's light makes all colours paler."""

PLACES = 12
"""Candidate points for a number around its ring."""

WIDER = (1.0, 1.7, 2.4)
"""Radii of the rings of candidate points, relative to the ring around the joint."""

NUMBER = np.array([0.07, 0.035])
"""Width and height of a number, relative to a robot that fills the page."""

Overlay = Callable[[Page, RobotView, str], list[Any]]
"""Function that draws an overlay of a robot under a path of the scene, and returns its handles."""


class ContactForces(NamedTuple):
    """Contacts in the worlds of some environments: `points` (n, 3) that touch [m], and `forces`
    (m, 3) [N] at `positions` (m, 3) [m]. `from_ground` (m,): True for forces of the ground, False
    for those between bodies. `envs_of_points` (n,) and `envs_of_forces` (m,) have the environment
    of each, by its place in the list of environments."""

    points: np.ndarray
    envs_of_points: np.ndarray
    positions: np.ndarray
    forces: np.ndarray
    from_ground: np.ndarray
    envs_of_forces: np.ndarray


class Overlays:
    """Overlays of the first robot of a view, each switched on or off by name."""

    def __init__(self, stage: Page, view: RobotView):
        self.stage, self.view = stage, view
        self._handles: dict[str, list[Any]] = {}
        self._on: set[str] = set()
        self._alone = threading.RLock()  # used by a playing motion and by the user

    def switch(self, name: str, on: bool) -> None:
        """Draw one of `OVERLAYS`, or remove it."""
        draw = OVERLAYS[name]
        with self._alone:
            (self._on.add if on else self._on.discard)(name)
            for handle in self._handles.pop(name, []):
                handle.remove()
            if on:
                self._handles[name] = draw(self.stage, self.view, f"/over_{self.view.name}/{name}")

    def update(self) -> None:
        """Redraw the overlays at the robot's current pose."""
        with self._alone:
            for name in sorted(self._on):
                if (move := MOVED.get(name)) is not None and self._handles[name]:
                    move(self.view, self._handles[name])
                else:
                    self.switch(name, True)


def _frames(stage: Page, view: RobotView, path: str) -> list[Any]:
    """Draw the axes of all links."""
    pose = view.first
    size = 0.12 * view.size
    return [
        stage.server.scene.add_batched_axes(
            path, pose[:, [6, 3, 4, 5]], pose[:, :3], axes_length=size, axes_radius=0.04 * size
        )
    ]


def _axes(stage: Page, view: RobotView, path: str) -> list[Any]:
    """Draw arrows along the axes of revolute and prismatic joints."""
    model, lines = view.model, []
    for joint in model.moving_joints:
        if joint.axis is None or joint.kind.nv != 1:
            continue
        pose = view.first[model.link_index(joint.child)]
        along = rotate_vectors(pose[3:], np.array(joint.axis, dtype=float)) * 0.12 * view.size
        lines.append([pose[:3] - along, pose[:3] + along])
    return _arrows(stage, path, np.array(lines), BLUE, view.size) if lines else []


def _centres(stage: Page, view: RobotView, path: str) -> list[Any]:
    """Draw the centres of mass of links as balls scaled by mass, and that of the robot."""
    links = [x for x in map(view.model.link, view.model.link_names) if x.mass > 0]
    if not links:
        return []
    at = np.array([_point(view, x.name, x.com) for x in links])
    mass = np.array([x.mass for x in links])
    whole = (mass[:, None] * at).sum(0) / mass.sum()
    sizes = 0.05 * view.size * (mass / mass.sum()) ** (1 / 3)
    scene = stage.server.scene
    return [
        _balls(scene, f"{path}/links", at, sizes, AMBER),
        _balls(scene, f"{path}/whole", whole[None], np.array([0.06 * view.size]), RED),
    ]


def _inertias(stage: Page, view: RobotView, path: str) -> list[Any]:
    """Draw ellipsoids of uniform density with the links' inertias."""
    handles = []
    for link in map(view.model.link, view.model.link_names):
        if not link.mass > 0:
            continue
        moments, axes = np.linalg.eigh(np.array(link.inertia, dtype=float))
        radii = np.sqrt(np.maximum(2.5 / link.mass * (moments.sum() - 2 * moments), 1e-8))
        ball = trimesh.creation.icosphere(subdivisions=2, radius=1.0)
        axes *= np.linalg.det(axes)  # a rotation: a reflection would turn the faces inwards
        pose = view.first[view.model.link_index(link.name)]
        handles.append(
            stage.server.scene.add_mesh_simple(
                f"{path}/{link.name}",
                (ball.vertices * radii) @ axes.T + np.array(link.com),
                ball.faces,
                color=AMBER,
                opacity=0.5,
                cast_shadow=False,
                wxyz=pose[[6, 3, 4, 5]],
                position=pose[:3],
            )
        )
    return handles


def _contacts(stage: Page, view: RobotView, path: str) -> list[Any]:
    """Draw the spheres that touch the ground, slightly enlarged, because the robot's shapes often
    have the same size."""
    points = ContactPoints(view.model)
    if not len(points):
        return []
    at = np.array([_point(view, x.link, x.centre) for x in points])
    radii = np.array([max(1.04 * x.radius, 0.01 * view.size) for x in points])
    return [_balls(stage.server.scene, path, at, radii, RED)]


def _gravity(stage: Page, view: RobotView, path: str) -> list[Any]:
    """Draw the torque that each joint needs against gravity: its number [N·m, N], and a ring around
    its axis, from green through amber to red, by its share of the effort limit or of the largest
    torque."""
    at, axes, links = _coordinates(view)
    if not len(at):
        return []
    local = np.array(
        [
            rotate_vectors(x, axis)
            for x, axis in zip(_world_to_links(view, links), axes, strict=True)
        ]
    )
    radii = np.array([_girth(view, link, axis) for link, axis in zip(links, local, strict=True)])
    ring = trimesh.creation.torus(1.0, 0.1, major_sections=36, minor_sections=8)
    colors, texts = _gravity_torques(view)
    scene = stage.server.scene
    rings = scene.add_batched_meshes_simple(
        f"{path}/rings",
        ring.vertices.astype(np.float32),
        ring.faces.astype(np.uint32),
        _axis_quaternions(axes),
        at.astype(np.float32),
        batched_scales=radii.astype(np.float32),
        batched_colors=colors,
        lod="off",
        cast_shadow=False,
    )
    labels = [
        scene.add_label(f"{path}/{k}", text, position=p, anchor="center-center")
        for k, (text, p) in enumerate(
            zip(texts, _label_positions(view, at, axes, radii), strict=True)
        )
    ]
    return [rings, *labels]


def _update_gravity(view: RobotView, handles: list[Any]) -> None:
    """Update the rings and numbers to the current pose."""
    rings, *labels = handles
    at, axes, _ = _coordinates(view)
    colors, texts = _gravity_torques(view)
    rings.batched_positions, rings.batched_wxyzs = at.astype(np.float32), _axis_quaternions(axes)
    rings.batched_colors = colors
    beside = _label_positions(view, at, axes, np.asarray(rings.batched_scales))
    for label, text, p in zip(labels, texts, beside, strict=True):
        label.text, label.position = text, p


def _coordinates(view: RobotView) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Positions (n, 3), axes in the world (n, 3) and child link numbers of the joints, one entry
    for each velocity coordinate except those of free bodies; for joints with several coordinates, the child's
    axes."""
    model = view.model
    axes, links = [], []
    for joint in internal_joints(model):
        local = [joint.axis] if joint.kind.nv == 1 else np.eye(3)[np.arange(joint.kind.nv) % 3]
        links += [model.link_index(joint.child)] * len(local)
        axes += [rotate_vectors(view.first[links[-1], 3:], np.array(axis, float)) for axis in local]
    return view.first[links, :3], np.array(axes).reshape(-1, 3), links


def _label_positions(
    view: RobotView, at: np.ndarray, axes: np.ndarray, radii: np.ndarray
) -> np.ndarray:
    """Points (n, 3) at which numbers do not cover each other in the page's first view. For each
    ring it is the first candidate, from the top and then on wider rings, that is clear of earlier
    numbers, or else the clearest one."""
    up = _perpendiculars(axes)
    turns = np.arange(PLACES)[:, None] * (2 * np.pi / PLACES)
    around = np.cos(turns) * up[:, None] + np.sin(turns) * np.cross(axes, up)[:, None]
    around = np.concatenate([wider * around for wider in WIDER], axis=1)
    places = at[:, None] + radii[:, None, None] * around
    camera = view.stage.server.initial_camera
    seen = across_view(places, camera.look_at - camera.position) / (NUMBER * view.size)
    chosen: list[int] = []
    for k, points in enumerate(seen):
        taken = seen[np.arange(k), np.array(chosen, int)]
        away = np.abs(points[:, None] - taken[None]).max(axis=2).min(axis=1, initial=1.0)
        chosen.append(int(np.argmax(away)))
    return np.asarray(places[np.arange(len(at)), chosen])


def across_view(points: np.ndarray, ahead: np.ndarray) -> np.ndarray:
    """Screen coordinates (..., 2) of points, to the right and upwards, for a view direction `ahead`
    (3,)."""
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    above = np.cross(right, ahead)
    axes = np.stack([right / np.linalg.norm(right), above / np.linalg.norm(above)], axis=-1)
    return np.asarray(points @ axes)


def _world_to_links(view: RobotView, links: list[int]) -> np.ndarray:
    """Quaternions (n, 4) from the world's axes to those of links."""
    return view.first[links, 3:] * [-1.0, -1.0, -1.0, 1.0]


def _girth(view: RobotView, link: int, axis: np.ndarray) -> float:
    """Radius of a ring around a link [m], about an axis in its frame: the link's extent in eight
    tenths of all directions. In the remaining directions the link continues to the next joint."""
    found = [solid.vertices for solid in view.drawn.solids if solid.link == link]
    points = np.concatenate(found) if found else np.zeros((1, 3))
    across = _perpendiculars(axis[None])[0]
    x, y = points @ across, points @ np.cross(axis, across)
    reach = np.zeros(12)
    sectors = np.floor(np.arctan2(y, x) * 6.0 / np.pi).astype(int) % len(reach)
    np.maximum.at(reach, sectors, np.hypot(x, y))
    return float(np.clip(1.2 * np.percentile(reach, 80), 0.03 * view.size, 0.1 * view.size))


def _perpendiculars(axes: np.ndarray) -> np.ndarray:
    """Unit vectors (n, 3) perpendicular to axes, pointing upwards if possible."""
    up = np.where(np.abs(axes[:, 2:]) < 0.9, [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    found = up - np.sum(up * axes, axis=1, keepdims=True) * axes
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def _axis_quaternions(axes: np.ndarray) -> np.ndarray:
    """Quaternions w x y z (n, 4) that turn z into axes, in either direction."""
    x, y, z = np.where(axes[:, 2:] < 0, -axes, axes).T
    found = np.stack([1.0 + z, -y, x, np.zeros(len(x))], axis=1)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def _gravity_torques(view: RobotView) -> tuple[np.ndarray, list[str]]:
    """Colour (n, 3) in bytes and number as text, for each coordinate."""
    model = view.model
    tau = np.asarray(gravity_torques(model, view.q[:1].astype(float)))[0]
    columns = model.joint_columns
    wanted = tau[columns]
    limits = np.asarray(model.effort_limit, dtype=float)[columns]
    bounded = np.isfinite(limits) & (limits > 0)
    largest = max(float(np.abs(tau).max(initial=0.0)), 1e-9)
    share = np.minimum(np.abs(wanted) / np.where(bounded, limits, largest), 1.0)
    scale = np.array([GREEN, AMBER, RED])
    colors = np.stack([np.interp(share, (0.0, 0.5, 1.0), channel) for channel in scale.T], axis=1)
    shown = np.where(np.abs(wanted) < 1e-4 * largest, 0.0, wanted)
    return np.round(colors).astype(np.uint8), [f"{x:.3g}" for x in shown]


def arrows(
    stage: Page, path: str, points: np.ndarray, vectors: np.ndarray, color: Any, size: float
) -> list[Any]:
    """Arrows from points (n, 3) along vectors (n, 3) [m]."""
    return _arrows(stage, path, np.stack([points, points + vectors], axis=1), color, size)


def drawn_contacts(view: RobotView, path: str, found: ContactForces, scale: float) -> list[Any]:
    """Balls at the points that touch, and arrows of the forces, `scale` metres per newton. Arrows
    of ground forces begin at the contact. Arrows between bodies end there, because the bodies would
    hide them otherwise."""
    handles, size, places = [], view.size, view.places
    if len(found.points):
        at = found.points + places[found.envs_of_points]
        radii = np.full(len(at), 0.006 * size)
        handles.append(_balls(view.stage.server.scene, f"{path}/points", at, radii, RED))
    along = scale * found.forces
    long = np.linalg.norm(along, axis=1) > 0.0
    if long.any():
        behind = np.where(found.from_ground[:, None], 0.0, along)
        starts = (found.positions - behind + places[found.envs_of_forces])[long]
        handles += arrows(view.stage, f"{path}/forces", starts, along[long], BLUE, 0.5 * size)
    return handles


def _arrows(stage: Page, path: str, lines: np.ndarray, color: Any, size: float) -> list[Any]:
    return [
        stage.server.scene.add_arrows(
            path,
            lines.astype(np.float32),
            color,
            shaft_radius=0.006 * size,
            head_radius=0.016 * size,
            head_length=0.04 * size,
        )
    ]


def _balls(scene: Any, path: str, at: np.ndarray, radii: np.ndarray, color: Any) -> Any:
    ball = trimesh.creation.icosphere(subdivisions=2, radius=1.0)
    return scene.add_batched_meshes_simple(
        path,
        ball.vertices.astype(np.float32),
        ball.faces.astype(np.uint32),
        np.tile(np.array([1, 0, 0, 0], np.float32), (len(at), 1)),
        at.astype(np.float32),
        batched_scales=radii.astype(np.float32),
        batched_colors=color,
        lod="off",
        cast_shadow=False,
    )


def _point(view: RobotView, link: str, local: Any) -> np.ndarray:
    """A point of a link, in the world."""
    pose = view.first[view.model.link_index(link)]
    return np.asarray(pose[:3] + rotate_vectors(pose[3:], np.array(local, dtype=float)))


OVERLAYS: Mapping[str, Overlay] = {
    "frames": _frames,
    "joint axes": _axes,
    "centres of mass": _centres,
    "inertias": _inertias,
    "contact points": _contacts,
    "gravity torques": _gravity,
}

MOVED: Mapping[str, Callable[[RobotView, list[Any]], None]] = {"gravity torques": _update_gravity}
"""Overlays that can be moved; all other overlays are redrawn."""


def model_has(model: Model, name: str) -> bool:
    """True if an overlay shows something for a model."""
    if name == "contact points":
        return bool(len(ContactPoints(model)))
    return name != "gravity torques" or bool(internal_joints(model))
