"""A quadruped that follows commanded velocities over stairs, slopes and rubble."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...functions.simulation.terrain import HeightMap
from ...functions.simulation.terrain_tiles import TerrainKind
from ...model import Model
from ...user_kernels.random_numbers import uniform
from ..recipe import Recipe
from ..task import Episode
from ..terms import rotation
from ..variation import SIM_TO_REAL, Push, Vary
from .onboard import ONBOARD_HISTORY, ONBOARD_SENSED, onboard_groups
from .quadruped import Quadruped
from .quadruped_tasks import CommandedQuadruped

GROUND_KINDS: tuple[TerrainKind, ...] = (
    "rough",
    "slope",
    "sunken_slope",
    "stairs",
    "sunken_stairs",
)
"""Kinds of ground: rubble, and slopes and stairs that lead down and up from the start of an
episode."""

LEVELS = 8

ASKED = {"rough": 0.571, "slope": 0.698, "stairs": 0.412}
"""Difficulties of rubble of 5 cm, slopes of 20 degrees and stairs of 10 cm, which the last level
but one has."""

SCAN = np.array([[x, y] for x in np.arange(-3, 4) * 0.15 for y in np.arange(-2, 3) * 0.15])
"""Points around the trunk at which the ground height is observed: 0.9 m by 0.6 m [m]."""


ROUGH_TO_REAL = SIM_TO_REAL.with_changes(friction=Vary(0.4, 1.25))._replace(push=Push(1.0, 4.0))
"""Domain randomisation on ground that a robot can climb: slopes of 20 degrees need a friction of
0.36."""


def rough_ground(seed: int = 0) -> HeightMap:
    """Five kinds of tiles of 8 m in eight levels, the last one harder than required."""
    hardest = {
        kind: ASKED[kind.removeprefix("sunken_")] * (LEVELS - 1) / (LEVELS - 2)
        for kind in GROUND_KINDS
    }
    return HeightMap.tiles(GROUND_KINDS, LEVELS, seed=seed, hardest=hardest)


class QuadrupedRough(CommandedQuadruped):
    """A quadruped that follows commands over rough ground, which gets rougher as it learns.

    terrain: a map of tiles, `wd.HeightMap.tiles(kinds, levels)`. The commanded turning speed leads
    to a heading that is drawn at the start of the episode. An environment keeps its kind of tile.
    Its level rises if an episode ends more than half a tile away from the tile's middle, and falls
    if the robot walks less than half of the commanded distance. After the last level it is random
    (Rudin et al., arXiv 2109.11978).
    """

    seconds = 15.0
    command_seconds = 1e3  # one command per episode
    scales = {
        **CommandedQuadruped.scales,
        "bounce": -1.0,
        "tilt": -1.0,
        "sunk": -3.0,
        "torque": -0.22,
        "air": 1.5,
    }
    numbers = {
        "command_rate": CommandedQuadruped.numbers["command_rate"],
        "slowest": np.array([-1.0, -0.6]),
        "fastest": np.array([1.0, 0.6]),
    }
    vary = {"friction": Vary(0.5, 1.25)}
    recipe = Recipe(envs=1024, epochs=2, batches=6, vary=ROUGH_TO_REAL, minutes=10.0)

    def __init__(
        self,
        model: Model | None = None,
        body: Quadruped | None = None,
        *,
        terrain: HeightMap | None = None,
    ):
        super().__init__(model, body)
        self.terrain = rough_ground() if terrain is None else terrain
        origins = self.terrain.origins
        if origins is None:
            raise ValueError("terrain must be a map of tiles, wd.HeightMap.tiles(kinds, levels)")
        self.levels, self.kinds, _ = origins.shape
        self.half_tile = 0.5 * self.terrain.extent[0] / self.levels
        self.tables = {"origins": origins.reshape(-1, 3)}
        first = float(min(self.levels, 3))
        self.keep = {"level": Vary(0.0, first), "kind": Vary(0.0, float(self.kinds))}
        below = [[x, y] for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
        self.corners = self.centre[:2] + np.array(below) * self.box[:2]

    def begin(self, robot: Any, s: Any) -> dict[str, Any]:
        begun = super().begin(robot, s)
        tile = np.floor(s.level) * float(self.kinds) + np.floor(s.kind)
        return {
            **begun,
            "origin": np.stack([s.origins.look(tile, float(k)) for k in range(3)]),
            "heading": uniform(s.random.at(43), (), -np.pi, np.pi),
            "air": np.zeros(len(self.points)),
            "touched": np.zeros(len(self.points)),
            "landing": 0.0,
        }

    def _command(self, s: Any) -> Any:
        """Speeds of an episode, without turning."""
        draw = uniform(s.random.at(42), 3)
        wanted = s.slowest + (s.fastest - s.slowest) * draw[:2]
        still = (draw[2] < 0.05) | (np.sum(wanted**2) < 0.01)
        return np.concatenate([np.where(still, 0.0, wanted), np.zeros(1)])

    def update(self, robot: Any, s: Any) -> dict[str, Any]:
        wanted = np.stack([s.wanted[0], s.wanted[1], self._turn(s)])
        touch = np.where(s.forces[:, 2] > 1.0, 1.0, 0.0)
        touching = np.maximum(touch, s.touched)
        air = s.air + self.step_seconds
        landed = np.where(air > 1.5 * self.step_seconds, touching, 0.0)
        return {
            **super().update(robot, s.with_fields(wanted=wanted)),
            "touched": touch,
            "air": air * (1.0 - touching),
            "landing": np.sum(np.minimum(air / self.pace - 0.25, 0.25) * landed),
        }

    def _turn(self, s: Any) -> Any:
        """The turning speed that leads to the heading."""
        ahead, heading = rotation(s.q)[:2, 0], s.heading
        along = ahead[0] * np.cos(heading) + ahead[1] * np.sin(heading)
        across = ahead[0] * np.sin(heading) - ahead[1] * np.cos(heading)
        return np.clip(0.5 * np.arctan2(across, along), -1.0, 1.0)

    def observe(self, robot: Any, s: Episode) -> dict[str, Any]:
        ground = np.clip(self._above(robot, s, SCAN) - self.height, -0.6, 0.6)
        return {**super().observe(robot, s), "ground": ground}

    def _above(self, robot: Any, s: Episode, pattern: np.ndarray) -> Any:
        """Heights of the base above the ground around it."""
        return robot.height_scan(s.q, pattern, terrain=s.terrain)

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        moving = np.where(np.sum(s.command**2) > 0.01, 1.0, 0.0)
        above = np.sum(self._above(robot, s, self.corners)) / len(self.corners)
        sunk = (1.0 - above / self.height) ** 2
        earned = {"tilt": self._tilt(robot, s), "sunk": sunk, "air": s.landing * moving}
        return {**super().reward(robot, s), **earned}

    def _tilt(self, robot: Any, s: Episode) -> Any:
        """sin² of the angle between the trunk's upward axis and the normal of the plane that fits
        the ground around it."""
        above, R = self._above(robot, s, SCAN), rotation(s.q)
        rise = [-np.sum(SCAN[:, k] * above) / np.sum(SCAN[:, k] ** 2) for k in range(2)]
        ahead = R[:2, 0]
        ahead = ahead / np.sqrt(np.sum(ahead**2) + 1e-9)
        up = [R[0, 2] * ahead[0] + R[1, 2] * ahead[1], R[1, 2] * ahead[0] - R[0, 2] * ahead[1]]
        along = R[2, 2] - rise[0] * up[0] - rise[1] * up[1]
        return 1.0 - along**2 / (1.0 + rise[0] ** 2 + rise[1] ** 2)

    def is_terminal(self, robot: Any, s: Episode) -> Any:
        """True if the trunk touches the ground or lies on its side."""
        up = rotation(s.q)[2]
        lowest = self._above(robot, s, self.corners) + self.corners @ up[:2]
        lowest = lowest + up[2] * self.centre[2] - np.abs(up[2]) * self.box[2]
        return (up[2] < 0.2) | (np.min(lowest) < 0.0)

    def promote(self, robot: Any, s: Any) -> dict[str, Any]:
        walked = np.sqrt(np.sum(s.q[:2] ** 2))
        commanded = np.sqrt(np.sum(s.wanted[:2] ** 2)) * self.seconds
        change = np.where(walked < 0.5 * commanded, -1.0, 0.0)
        change = np.where(walked > self.half_tile, 1.0, change)
        level = np.maximum(np.floor(s.level) + change, 0.0)
        anew = uniform(s.random, (), 0.0, float(self.levels))
        return {"level": np.where(level > self.levels - 0.5, anew, level)}

    def measure(self, robot: Any, s: Any) -> dict[str, Any]:
        return {**super().measure(robot, s), "level": np.floor(s.level)}


class QuadrupedRoughOnboard(QuadrupedRough):
    """A quadruped that climbs with an IMU and encoders alone.

    The policy observes neither the velocity of the base nor the heights of the ground, but the last
    observations. The critic of its training observes both.
    """

    history = ONBOARD_HISTORY
    groups = onboard_groups(
        "turning", "gravity", "command", "joints", "speeds", "last_action", hidden_last=("ground",)
    )
    sensed = ONBOARD_SENSED
