"""Terrain: an inclined plane, or a height map on which each environment has a place."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...algorithms.simulation.contact_rows import ContactPoint
from ...arrays import Array, views
from ...arrays.libraries import library_of
from ...arrays.protocol import dtype_name
from ...formats.mjcf.mjcf_files import Includes
from ...formats.mjcf.mjcf_height_fields import read_height_field
from ...model import Model
from ...model.old_members import OldMember
from .terrain_tiles import KINDS, TerrainKind, tile, tiles
from .varied_numbers import Shaped, for_all, is_number

TABLES = ("heights", "map_friction")
"""Arrays of a height map that kernels look up."""

MOST_NODES = 1 << 24
"""Largest number of rows or columns that float32 can count."""


class Plane(NamedTuple):
    """The plane z = level + slope · (x, y) of the world, for `terrain=`.

    slope: its rise along x and y [m/m], two numbers, (2,) or (B, 2). level: its height at
    x = y = 0 [m], a number or (B,).
    """

    slope: Any = (0.0, 0.0)
    level: Any = 0.0

    @classmethod
    def with_normal(cls, normal: Sequence[float], level: float = 0.0) -> Plane:
        """The plane with an upward normal (x, y, z) of any length."""
        x, y, z = _finite_numbers("normal", normal, 3)
        if not z > 0:
            raise ValueError(f"the normal of the ground must point up, z > 0; got {(x, y, z)}")
        return cls((-x / z, -y / z), level)


class HeightMap:
    """Heights of the ground at the nodes of a grid, bilinear between them, for `terrain=`.

    heights: (rows, columns) [m] of any library; [i, j] lies at x = origin[0] + i cell, y =
    origin[1] + j cell of the map. Beyond its edge the ground continues level. An array of the
    state's library and dtype is read at each launch; any other array is converted once.
    cell: distance between neighbouring nodes [m]. origin: position of heights[0, 0]; None: the
    map's middle is at (0, 0).
    friction: (rows, columns), factors on all friction coefficients of `ground`.
    offset: (2,) or (B, 2), the position of each environment's origin in the map [m]; (3,) or (B, 3)
    with its height. A robot's q thus stays near its own origin. None: the map's origin.
    """

    origins: np.ndarray | None = None
    """(levels, kinds, 3), the middle of each tile of `tiles`, with its height [m]; usable as
    `offset`."""

    def __init__(
        self,
        heights: Array,
        cell: float,
        *,
        origin: tuple[float, float] | None = None,
        friction: Array | None = None,
        offset: Any = None,
    ):
        if not is_number(cell) or not 0.0 < cell < math.inf:
            raise ValueError(f"cell must be a distance above 0 [m], got {cell!r}")
        self.heights = _checked_table("heights", heights)
        rows, columns = map(int, self.heights.shape)
        self.cell = float(cell)
        if origin is None:
            origin = (-0.5 * self.cell * (rows - 1), -0.5 * self.cell * (columns - 1))
        x, y = _finite_numbers("origin", origin, 2)
        self.origin = (x, y)
        self.friction = None if friction is None else _checked_table("friction", friction, 0.0)
        if self.friction is not None and tuple(self.friction.shape) != (rows, columns):
            raise ValueError(
                f"friction must be shaped like heights, {(rows, columns)}, got "
                f"{tuple(self.friction.shape)}"
            )
        self.offset = _checked_offset(offset)
        self._offset_is_plain = isinstance(offset, (tuple, list))
        self._converted: dict[tuple, Any] = {}
        self._warned_models: list[str] = []

    @classmethod
    def generate(
        cls,
        kind: TerrainKind,
        difficulty: float = 0.5,
        *,
        size: float = 8.0,
        cell: float = 0.05,
        seed: int = 0,
    ) -> HeightMap:
        """A square tile of `size` metres with a level platform of 2 m in its middle.

        kind: "rough" (bumps), "slope" (a pyramid), "stairs", "steps" (blocks of random height),
        "gaps" (ditches around the platform), "sunken_slope" and "sunken_stairs" (both lead up from
        the platform). difficulty: from 0, nearly flat, to 1. Equal seeds give equal heights.
        """
        return cls(tile(kind, difficulty, size, cell, seed), cell)

    generated = OldMember("generated", "generate")

    @classmethod
    def tiles(
        cls,
        kinds: Sequence[TerrainKind] = KINDS,
        levels: int = 5,
        *,
        size: float = 8.0,
        cell: float = 0.05,
        seed: int = 0,
        hardest: Mapping[TerrainKind, float] | None = None,
    ) -> HeightMap:
        """Adjacent tiles: levels of rising difficulty along x, kinds along y.

        hardest: the last level's difficulty by kind; 1 by default.

        `origins` (levels, kinds, 3) has the middle of each tile, where the ground is level:
        `terrain.with_offset(terrain.origins[level, kind])` places environments there.
        """
        heights, origins = tiles(kinds, levels, size, cell, seed, hardest or {})
        made = cls(heights, cell)
        made.origins = origins + np.array([*made.origin, 0.0])
        return made

    @classmethod
    def from_mjcf(
        cls,
        source: str | bytes | os.PathLike[str],
        name: str | None = None,
        *,
        includes: Includes = True,
    ) -> HeightMap:
        """The height field of an MJCF file, where a geom of the world with type="hfield" stands.

        source: a path, or the XML itself. name: of the geom or of its <hfield>; None for the only
        one. includes: the folder with the files that may be read, as in `load_mjcf`. Files are PNG
        images and MuJoCo's binary format.

        Heights are bilinear between the nodes, where MuJoCo has two triangles. Beyond the edge the
        ground continues level, where MuJoCo has none. The friction of the geom acts without this
        map: it is part of the contacts of the robot's file. ModelError: there is no such field, its
        cells are not square, or its geom is rotated.
        """
        table = read_height_field(source, name, includes)
        return cls(table.heights, table.cell, origin=table.origin)

    def with_offset(self, offset: Any) -> HeightMap:
        """The same map with the same arrays, and with environments at other places."""
        placed: HeightMap = object.__new__(HeightMap)
        placed.__dict__.update(self.__dict__)
        placed.offset = _checked_offset(offset)
        placed._offset_is_plain = isinstance(offset, (tuple, list))
        return placed

    @property
    def extent(self) -> tuple[float, float]:
        """Lengths of the map along x and y [m]."""
        rows, columns = self.heights.shape
        return (rows - 1) * self.cell, (columns - 1) * self.cell

    def arrays(self, q: Any) -> Shaped:
        """Arrays that a call on `q` reads, by name, each with its shape."""
        rows, columns = map(int, self.heights.shape)
        size = (rows, columns)
        grid = (*self.origin, 1.0 / self.cell)
        found: Shaped = {"heights": (self._like(q, "heights"), size), "map_grid": (grid, (3,))}
        if self.friction is not None:
            found["map_friction"] = self._like(q, "friction"), size
        if self.offset is not None:
            width = len(self.offset) if isinstance(self.offset, tuple) else self.offset.shape[-1]
            found["map_offset"] = self._offset_like(q), (int(width),)
        return found

    def _offset_like(self, q: Any) -> Any:
        """The offset; rows of plain numbers in q's library and dtype, as all plain numbers."""
        offset = self.offset
        if not (self._offset_is_plain and views.is_array(offset) and views.is_array(q)):
            return offset
        library = library_of(q)
        same = library_of(offset) is library and dtype_name(offset.dtype) == dtype_name(q.dtype)
        return offset if same else library.convert_like(offset, q.dtype, q)

    def say_if_small(self, model: Model, points: Sequence[ContactPoint]) -> None:
        """Warn once if the map is smaller than the robot, because the ground beyond its edge is level."""
        reach, extent = 2.0 * _reach(model, points), min(self.extent)
        if extent < reach and not self._warned_models:
            self._warned_models.append(model.name)
            warnings.warn(
                f"the height map is {extent:.3g} m wide, and {model.name} reaches over {reach:.3g} m: "
                "beyond its edge the ground goes on level",
                stacklevel=6,
            )

    def _like(self, q: Any, name: str) -> Any:
        """A table as an array of q's library, dtype and device."""
        table = getattr(self, name)
        if hasattr(table, "look") or not views.is_array(q):
            return table
        library = library_of(q)
        same = library_of(table) is library and dtype_name(table.dtype) == dtype_name(q.dtype)
        if same or not library.readable(q):
            return table if same else library.convert_like(views.on_host(table), q.dtype, q)
        key = (name, library.name, dtype_name(q.dtype), str(getattr(q, "device", "")))
        if key not in self._converted:
            made = library.convert_like(views.on_host(table), q.dtype, q)
            library.finish(made)
            self._converted[key] = made
        return self._converted[key]

    def __repr__(self) -> str:
        x, y = self.extent
        return f"<HeightMap of {x:g} m by {y:g} m, {self.cell:g} m a cell>"


def check_terrain(terrain: Any) -> None:
    """Raise if this is not a terrain, also where no point touches it."""
    if not isinstance(terrain, (Plane, HeightMap)):
        raise TypeError(
            "terrain must be wd.HeightMap(heights, cell), wd.Plane(slope) or None, "
            f"got {type(terrain).__name__}"
        )


def terrain_arrays(model: Model, terrain: Any, points: Sequence[ContactPoint], q: Any) -> Shaped:
    """The arrays of a terrain with their shapes, by name; empty if the ground is z = 0."""
    if terrain is None:
        return {}
    check_terrain(terrain)
    if isinstance(terrain, Plane):
        return {"slope": (_slope(terrain.slope), (2,)), "level": (_level(terrain.level, q), (1,))}
    terrain.say_if_small(model, points)
    return terrain.arrays(q)


def _slope(slope: Any) -> Any:
    if isinstance(slope, (tuple, list)):
        if len(slope) != 2 or not all(is_number(x) and math.isfinite(x) for x in slope):
            raise ValueError(
                f"slope must be the rise of the ground along x and y, two finite numbers, got {slope}"
            )
        return tuple(map(float, slope))
    if isinstance(slope, np.ndarray) and not np.isfinite(slope).all():
        raise ValueError(f"slope must be finite, the rise of the ground along x and y, got {slope}")
    return slope


def _level(level: Any, q: Any) -> Any:
    if is_number(level) and not math.isfinite(level):
        raise ValueError(f"level must be a finite height [m], got {level}")
    return for_all("level", level, q, above=-math.inf)


def _checked_table(name: str, table: Any, least: float = -math.inf) -> Any:
    """A table as an array; raises if it is not a table, or has entries that are not numbers."""
    if hasattr(table, "look"):  # of a user's own kernel, whose values are known later
        return table
    if not views.is_array(table):
        try:
            table = np.asarray(table, dtype=float)
        except (TypeError, ValueError):
            raise TypeError(f"{name} must be rows of numbers, got {table!r}") from None
    shape = tuple(table.shape)
    if len(shape) != 2 or min(shape) < 2 or max(shape) > MOST_NODES:
        raise ValueError(f"{name} must be (rows, columns), at least two of each, got {shape}")
    if library_of(table).readable(table):
        host = views.on_host(table)
        wrong = np.argwhere(~(np.isfinite(host) & (host >= least)))
        if len(wrong):
            bound = "" if least == -math.inf else f" of at least {least:g}"
            at = tuple(map(int, wrong[0]))
            raise ValueError(
                f"{name} must be finite numbers{bound}; {len(wrong)} are not, the first at {at}: "
                f"{host[at]}"
            )
    return table


def _finite_numbers(name: str, numbers: Any, count: int) -> list[float]:
    """So many plain, finite numbers. Raises ValueError."""
    try:
        found = [float(x) for x in numbers]
    except (TypeError, ValueError):
        found = []
    if len(found) != count or not all(map(math.isfinite, found)):
        raise ValueError(f"{name} must be {count} finite numbers, got {numbers!r}")
    return found


def _checked_offset(offset: Any) -> Any:
    """The offsets of environments in a map: plain numbers as a tuple, or an array."""
    if offset is None:
        return None
    if isinstance(offset, (tuple, list)):
        try:
            numbers = np.asarray(offset, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(
                f"offset must be rows of x, y or x, y, z [m], got {offset!r}"
            ) from None
        offset = tuple(numbers.tolist()) if numbers.ndim == 1 else numbers
    shape = (len(offset),) if isinstance(offset, tuple) else tuple(getattr(offset, "shape", ()))
    if not shape or shape[-1] not in (2, 3):
        raise ValueError(
            f"offset must be (2,), (3,), (B, 2) or (B, 3), x, y, z [m], got {shape or offset!r}"
        )
    if isinstance(offset, tuple | np.ndarray) and not np.isfinite(offset).all():
        raise ValueError(f"offset must be finite, x, y, z [m], got {offset}")
    return offset


def _reach(model: Model, points: Sequence[ContactPoint]) -> float:
    """The largest distance of a point from the robot's root, with all joints at zero [m]."""
    longest = 0.0
    for point in points:
        length = math.hypot(*point.centre) + point.radius
        joint = model.parent_joint(point.link)
        while joint is not None:
            length += math.hypot(*joint.pose.position)
            joint = model.parent_joint(joint.parent)
        longest = max(longest, length)
    return longest
