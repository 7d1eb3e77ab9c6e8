"""The ground as a height over a horizontal plane: an inclined plane, or a map of heights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...algebra.rotations import Rotation
from ...algebra.scalar import Scalar, Table, floor, look, rsqrt
from ...algebra.spatial import Vector


class Patch(NamedTuple):
    """The ground below a point: its height [m], its slopes along x and y, and its factor on the
    friction coefficient."""

    height: Scalar
    along_x: Scalar
    along_y: Scalar
    friction: Scalar

    def axes(self) -> Rotation:
        """Rotation from the axes of a contact to the world's: x along the ground in the world's xz
        plane, z its normal."""
        a, b = self.along_x, self.along_y
        sideways = 1.0 + a * a
        r_x, r_n = rsqrt(sideways), rsqrt(sideways + b * b)
        r_y = r_x * r_n
        return Rotation(
            (
                Vector(r_x, -(a * b) * r_y, -a * r_n),
                Vector(0.0, sideways * r_y, -b * r_n),
                Vector(a * r_x, b * r_y, r_n),
            )
        )


@dataclass(frozen=True)
class SlopingGround:
    """The plane z = `level` + slope · (x, y)."""

    slope: Sequence[Scalar]
    level: Scalar

    def below(self, x: Scalar, y: Scalar) -> Patch:
        """The ground below a point of the world."""
        a, b = self.slope
        return Patch(self.level + a * x + b * y, a, b, 1.0)


@dataclass(frozen=True)
class MappedGround:
    """Heights at the nodes of a grid, bilinear between them, level beyond its edge.

    `grid`: x and y of the first node [m], and the number of nodes per metre; rows go along x,
    columns along y. `offset`: the world's origin in the map, x, y and optionally z [m]. `friction`:
    factors on the friction coefficient at the nodes.
    """

    heights: Table
    grid: Sequence[Scalar]
    offset: Sequence[Scalar] = (0.0, 0.0)
    friction: Table | None = None

    def below(self, x: Scalar, y: Scalar) -> Patch:
        """The ground below a point of the world."""
        x0, y0, nodes = self.grid
        u, w = ((x + self.offset[0] - x0) * nodes, (y + self.offset[1] - y0) * nodes)
        # Beyond the edge a look-up gives the nearest height, so that a cell there has equal heights
        # at both ends.
        i, j = floor(u), floor(w)
        s, t = u - i, w - j
        height, along_x, along_y = _bilinear(self.heights, i, j, s, t)
        if len(self.offset) > 2:
            height = height - self.offset[2]
        share: Scalar = 1.0
        if self.friction is not None:
            share, _, _ = _bilinear(self.friction, i, j, s, t)
        return Patch(height, along_x * nodes, along_y * nodes, share)


Terrain = SlopingGround | MappedGround


def terrain_of(arrays: Mapping[str, Any]) -> Terrain | None:
    """The ground that a call's arrays describe, by name; None: the plane z = 0."""
    if "heights" in arrays:
        more = {
            word: arrays[name]
            for word, name in (("offset", "map_offset"), ("friction", "map_friction"))
            if name in arrays
        }
        return MappedGround(arrays["heights"], arrays["map_grid"], **more)
    if "slope" in arrays:
        return SlopingGround(arrays["slope"], arrays["level"][0])
    return None


def _bilinear(
    table: Table, i: Scalar, j: Scalar, s: Scalar, t: Scalar
) -> tuple[Scalar, Scalar, Scalar]:
    """The value in a cell at s and t in [0, 1], and its derivatives with respect to s and t."""
    first = look(table, i, j)
    by_s, by_t = look(table, i + 1.0, j) - first, look(table, i, j + 1.0) - first
    twist = look(table, i + 1.0, j + 1.0) - first - by_s - by_t
    along_s = by_s + twist * t
    return first + along_s * s + by_t * t, along_s, by_t + twist * s
