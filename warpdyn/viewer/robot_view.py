"""A robot on a page, or thousands of robots: one instanced mesh for each moving link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..functions.kinematics import fk
from ..model import Model
from ..model.mesh_files import NONE, Packages
from .bodies import bodies, colored_glb, shrink
from .shapes import Color, DrawnShape, Which, solids
from .stage import Page, ViewerError

INSET = 0.0015
"""Depth by which a transparent robot is drawn inside its shapes, relative to its size. If another
robot stands in the same place, only that one is then visible, without stripes of both."""

SHADOWS = 256
"""Largest number of robots that cast shadows; with more, a page would draw four times as much."""


class RobotView:
    """Robots of one model on a stage, next to each other.

    which: "visual" or "collision" shapes. color: of all shapes, in place of their colours. opacity:
    1 is opaque. spacing: distance between neighbours [m]; None: from the robot's width. at:
    position of its world origin on the page [m]. packages: folders of the packages that meshes
    name.
    """

    def __init__(
        self,
        stage: Page,
        model: Model,
        name: str = "robot",
        *,
        which: Which = "visual",
        color: Color | None = None,
        opacity: float = 1.0,
        spacing: float | None = None,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        packages: Packages = NONE,
    ):
        self.stage, self.model, self.name, self.which = stage, model, name, which
        self.opacity, self.spacing = opacity, spacing
        self.drawn: DrawnShape = solids(model, which, packages)
        shown = self.drawn.solids
        if color is not None:
            shown = tuple(solid._replace(color=color) for solid in shown)
        self.bodies = bodies(model, shown, opacity)
        self.envs = 0
        self._handles: list[Any] = []
        self._origin = np.asarray(at, np.float32).reshape(1, 1, 3)
        self._at = self._origin
        self.q = np.zeros((0, model.nq), np.float32)
        self.poses = np.zeros((0, model.nlinks, 7), np.float32)

    def update(self, q: Any) -> None:
        """Show the robots at q: (nq,) or (B, nq) [m, rad]. The first call, or another B, places
        them in rows."""
        rows = self.check_configurations(q)
        poses = np.asarray(fk(self.model, rows, form="pose"))
        if len(rows) != self.envs or not self._handles:
            self._place(len(rows), poses)
        positions = poses[..., :3] + self._at
        turns = poses[..., [6, 3, 4, 5]]
        with self.stage.server.atomic():
            for body, handle in zip(self.bodies, self._handles, strict=True):
                if self.envs == 1:  # the mesh itself: less work for the browser than its instances
                    handle.position, handle.wxyz = positions[0, body.link], turns[0, body.link]
                else:
                    handle.batched_positions = np.ascontiguousarray(positions[:, body.link])
                    handle.batched_wxyzs = np.ascontiguousarray(turns[:, body.link])
        self.stage.server.flush()
        self.q, self.poses = rows, poses

    @property
    def first(self) -> np.ndarray:
        """Poses of the first robot's links (nlinks, 7), x y z qx qy qz qw, as drawn."""
        placed: np.ndarray = self.poses[0].astype(float)
        placed[:, :3] += self._at[0]
        return placed

    @property
    def places(self) -> np.ndarray:
        """Positions (B, 3) of the robots' world origins on the page [m]."""
        return np.broadcast_to(self._at[:, 0], (max(self.envs, 1), 3))

    @property
    def size(self) -> float:
        """Size of one robot [m]."""
        low, high = self.box(self.poses[:1])
        return max(float(np.linalg.norm(high - low)), 1e-3)

    def remove(self) -> None:
        """Remove the robots from the stage."""
        for handle in self._handles:
            handle.remove()
        self._handles, self.envs = [], 0

    def box(self, poses: np.ndarray, *, planes: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The lowest and highest corner (3,) of the robots at poses (B, nlinks, 7) [m]; planes:
        include planes that belong to them."""
        low, high = np.full(3, np.inf), np.full(3, -np.inf)
        for solid in self.drawn.solids:
            if solid.plane and not planes:
                continue
            corners = _corners(solid.vertices)
            pose = poses[:, solid.link]
            shift = self._at[: len(poses)]
            at = pose[:, None, :3] + rotate_vectors(pose[:, None, 3:], corners[None]) + shift
            low, high = np.minimum(low, at.min((0, 1))), np.maximum(high, at.max((0, 1)))
        if not np.isfinite(low).all():
            return np.full(3, -0.5), np.full(3, 0.5)
        return low, high

    def check_configurations(self, q: Any) -> np.ndarray:
        """q as rows (B, nq); raises `ViewerError` if it is not a configuration of the model."""
        host = q.detach().cpu().numpy() if hasattr(q, "detach") else np.asarray(q)
        rows = np.atleast_2d(host).astype(np.float32)
        if rows.ndim != 2 or rows.shape[1] != self.model.nq:
            raise ViewerError(
                f"q of {self.model.name} is ({self.model.nq},) or (B, {self.model.nq}), got {host.shape}"
            )
        if not len(rows):
            raise ViewerError("there is no robot to show: q has no rows")
        wrong = np.flatnonzero(~np.isfinite(rows).all(1))
        if len(wrong):
            raise ViewerError(
                f"q is not finite in {len(wrong)} of {len(rows)} rows, first in {wrong[0]}"
            )
        return rows

    def _place(self, envs: int, poses: np.ndarray) -> None:
        """Make handles for `envs` robots, in rows around the middle."""
        self.remove()
        self.envs, self._at = envs, self._origin
        if envs > 1:
            low, high = self.box(poses[:1])
            step = self.spacing
            if step is None:
                step = 1.25 * float(np.max((high - low)[:2])) or 1.0
            side = int(np.ceil(np.sqrt(envs)))
            k = np.arange(envs)
            middle = (side - 1) / 2
            at = np.stack([k // side - middle, k % side - middle, np.zeros(envs)], axis=1)
            self._at = self._origin + (step * at)[:, None].astype(np.float32)
        # Many robots cast no shadows and use simplified meshes, to keep the page fast.
        scene = self.stage.server.scene
        still = (
            np.tile(np.array([1, 0, 0, 0], np.float32), (envs, 1)),
            np.zeros((envs, 3), np.float32),
        )
        options: dict[str, Any] = {
            "cast_shadow": envs <= SHADOWS,
            "receive_shadow": False,
            "lod": "auto" if envs > 1 else "off",
        }
        low, high = self.box(poses[:1])
        depth = INSET * float(np.linalg.norm(high - low)) if self.opacity < 1.0 else 0.0
        for number, body in enumerate(self.bodies):
            name = f"/{self.name}/{self.model.link_names[body.link]}/{number}"
            handle: Any
            if all(solid.plane for solid in body.solids):  # a floor receives shadows but casts none
                shaded = {**options, "cast_shadow": False, "receive_shadow": envs <= SHADOWS}
            else:
                shaded = options
            if len(body.solids) > 1:
                handle = scene.add_batched_glb(name, colored_glb(body.solids), *still, **shaded)
            else:
                solid = shrink(body.solids[0], depth)
                *shade, alpha = solid.color
                opacity = alpha * self.opacity
                handle = scene.add_batched_meshes_simple(
                    name,
                    solid.vertices,
                    solid.faces,
                    *still,
                    batched_colors=np.array([round(255 * x) for x in shade], np.uint8),
                    opacity=None if opacity >= 1.0 else opacity,
                    **shaded,
                )
            self._handles.append(handle)


def _corners(vertices: np.ndarray) -> np.ndarray:
    low, high = vertices.min(0), vertices.max(0)
    return np.array(
        [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )


def rotate_vectors(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) rotated by quaternions x y z w (..., 4)."""
    axis, w = quaternion[..., :3], quaternion[..., 3:]
    twice = 2.0 * np.cross(
        np.broadcast_arrays(axis, vector)[0], np.broadcast_arrays(axis, vector)[1]
    )
    return vector + w * twice + np.cross(np.broadcast_arrays(axis, twice)[0], twice)
