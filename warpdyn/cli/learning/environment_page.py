"""A page of the browser with the robots of environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import viewer
from ...functions.simulation.terrain import HeightMap

if TYPE_CHECKING:
    from ...rl.task import Task

SIDE = 4.0
"""Side of each robot's area on a level floor [m]; a robot that leaves it re-enters on the other
side."""

AROUND = 6.0
"""Distance to which a height map is drawn around the start of an episode [m]."""


class EnvironmentPage:
    """Robots of a task on a page.

    If the task has a height map, each robot stands in it at its episode's place; otherwise they
    stand in rows. carried: arrays of the environments by name, of which "q" and "origin" are read.
    """

    def __init__(self, task: Task, carried: Mapping[str, Any], *, host: str, port: int):
        self.task = task
        self.terrain = task.terrain if isinstance(task.terrain, HeightMap) else None
        self.walks = task.model.floating_base
        spacing = None if not self.walks else SIDE if self.terrain is None else 0.0
        self.page = viewer.show(
            task.model, self._q(carried), host=host, port=port, controls=False, spacing=spacing
        )
        self._patches: set[tuple[float, ...]] = set()
        if self.terrain is not None:
            self._show_ground(carried)
            self._look_at_the_first(carried)

    def update(self, carried: Mapping[str, Any]) -> None:
        """Draw the robots where they are now."""
        if self.terrain is not None:
            self._show_ground(carried)
        self.page.update(self._q(carried))

    def _q(self, carried: Mapping[str, Any]) -> np.ndarray:
        """Configurations at which robots are drawn (envs, nq)."""
        q = np.asarray(carried["q"], dtype=float).copy()
        if self.terrain is not None:
            q[:, :3] += _origins(carried)
        elif self.walks:
            q[:, :2] = (q[:, :2] + 0.5 * SIDE) % SIDE - 0.5 * SIDE
        return q

    def _show_ground(self, carried: Mapping[str, Any]) -> None:
        """Draw the height map around new places."""
        terrain: Any = self.terrain
        heights = np.asarray(terrain.heights)
        reach = round(AROUND / terrain.cell)
        for origin in np.unique(_origins(carried).round(3), axis=0):
            if (place := tuple(origin[:2].tolist())) in self._patches:
                continue
            self._patches.add(place)
            middle = np.rint((origin[:2] - np.array(terrain.origin)) / terrain.cell).astype(int)
            rows, columns = (
                np.arange(max(m - reach, 0), min(m + reach + 1, size))
                for m, size in zip(middle, heights.shape, strict=True)
            )
            corners = np.stack(np.meshgrid(rows, columns, indexing="ij"), -1) * terrain.cell
            there = heights[np.ix_(rows, columns)]
            vertices = np.concatenate([corners + np.array(terrain.origin), there[..., None]], -1)
            k = np.arange(there.size).reshape(there.shape)
            a, b, c, d = (x.ravel() for x in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
            faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
            self.page.stage.server.scene.add_mesh_simple(
                f"/terrain/{len(self._patches)}",
                vertices.reshape(-1, 3).astype(np.float32),
                faces.astype(np.uint32),
                color=(188, 194, 202),
                flat_shading=True,
            )

    def _look_at_the_first(self, carried: Mapping[str, Any]) -> None:
        middle = self._q(carried)[0, :3]
        terrain: Any = self.terrain
        self.page.stage.ground(float(np.min(np.asarray(terrain.heights))) - 0.01)
        self.page.stage.look(middle - 1.0, middle + 1.0)


def _origins(carried: Mapping[str, Any]) -> np.ndarray:
    """Places of the environments in the height map (envs, 3) [m]."""
    if "origin" not in carried:
        return np.zeros((len(carried["q"]), 3))
    return np.asarray(carried["origin"], dtype=float)
