"""MJCF: a height field of the world, as a table of heights."""

from __future__ import annotations

import io
import os
import struct
import warnings
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from ...algebra.spatial import HERE
from ...model.names import ModelWarning
from ...model.optional_packages import install_extra
from ...model.poses_and_limits import Pose
from ..registry import MJCF
from ..robot_source import RobotSource, tag_name
from .mjcf_attach import mjcf_document
from .mjcf_bodies import children
from .mjcf_contact_attributes import check_contact_attributes, may_touch
from .mjcf_files import Includes
from .mjcf_grounds import is_level_at_zero
from .mjcf_inertia import Part
from .mjcf_meshes import MjcfMeshes
from .mjcf_values import Attributes, Element, MjcfValues

MOST_NODES = 1 << 24
"""Largest number of nodes of a field: 4,096 by 4,096."""

ROTATED = 1e-9
"""Largest difference of a rotation matrix from the identity that counts as no rotation."""

LEVEL = 1e-9
"""Largest depth below the plane z = 0 that counts as level with it [m]."""

HEADER = 8
"""Bytes before the heights of a binary file."""

PNG, BINARY = "image/png", "image/vnd.mujoco.hfield"
"""Kinds of files with heights that are read."""


class HeightTable(NamedTuple):
    """Heights (rows, columns) [m] at the nodes of a grid: [i, j] lies at x = origin[0] + i cell, y =
    origin[1] + j cell."""

    heights: np.ndarray
    cell: float
    origin: tuple[float, float]


def read_height_field(
    source: str | bytes | os.PathLike[str] | RobotSource,
    name: str | None,
    includes: Includes,
) -> HeightTable:
    """The heights of a geom of the world with type="hfield". Raises ModelError.

    name: of the geom or of its <hfield>; None for the only one.
    """
    text = RobotSource.of(source, "HeightMap.from_mjcf", MJCF.name)
    values, root = mjcf_document(text, includes)
    meshes = MjcfMeshes(values, root, text, includes)
    geoms = [
        (child, values.attributes(child, "geom", childclass), X)
        for element in root.findall("worldbody")
        for child, childclass, X in children(values, element, HERE, None)
        if tag_name(child) == "geom"
    ]
    geom = _chosen_geom(values, root, geoms, name)
    table = _height_table(meshes, _asset_of(values, root, geom), geom)
    if table.heights.min() < -LEVEL and any(_is_floor(values, each) for each in geoms):
        warnings.warn(
            f"{text.name}: the height field lies below the plane z = 0 in places, where the plane "
            "carries in MuJoCo; a terrain is the field alone: np.maximum(terrain.heights, 0.0)",
            ModelWarning,
            stacklevel=3,
        )
    return table


def _is_floor(values: MjcfValues, geom: Part) -> bool:
    """True for a plane z = 0 that can be touched."""
    element, written, X = geom
    check_contact_attributes(values, element, written)
    if written.get("type") != "plane" or not may_touch(written):
        return False
    return is_level_at_zero(Pose.of(X.compose(values.shape_placement(element, written))))


def _chosen_geom(values: MjcfValues, root: Element, geoms: list[Part], name: str | None) -> Part:
    """The geom of this name, or the only one of a height field."""
    fields = [geom for geom in geoms if geom[1].get("type") == "hfield"]
    found = [g for g in fields if name is None or name in (g[1].get("name"), g[1].get("hfield"))]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f'"{g[1].get("name", g[1].get("hfield", ""))}"' for g in fields)
    if not fields:
        raise values.refusal(root, '<worldbody> itself has no geom with type="hfield"')
    if not found:
        raise values.refusal(root, f'the world has no height field "{name}"; it has {names}')
    raise values.refusal(root, f"the world has several height fields; name= one of {names}")


def _asset_of(values: MjcfValues, root: Element, geom: Part) -> tuple[Element, Attributes]:
    """The <hfield> of a geom, with its attributes."""
    element, written, _ = geom
    for asset in root.iterfind("asset/hfield"):
        attributes = values.attributes(asset, "hfield", None)
        if written.get("hfield") == (
            attributes.get("name") or PurePosixPath(attributes.get("file", "")).stem
        ):
            return asset, attributes
    raise values.refusal(
        element, f'there is no hfield "{written.get("hfield", "")}"; add it to <asset>'
    )


def _height_table(meshes: MjcfMeshes, asset: tuple[Element, Attributes], geom: Part) -> HeightTable:
    """The table of a height field at the pose of its geom."""
    values, (element, written) = meshes.values, asset
    size = values.numbers(element, "size", {"size": "", **written}, 4)
    if min(size) <= 0:
        raise values.refusal(
            element, f'size is "{written["size"]}"; it needs four positive numbers'
        )
    radius_x, radius_y, top, _ = size
    shares = _shares_of_range(_elevation(meshes, element, written))
    rows, columns = shares.shape
    along_x, along_y = 2.0 * radius_x / (columns - 1), 2.0 * radius_y / (rows - 1)
    if not abs(along_x - along_y) <= 1e-6 * along_x:
        raise values.refusal(
            element,
            f"its cells are {along_x:.6g} m by {along_y:.6g} m; a height map has square cells, so "
            "change nrow, ncol or size",
        )
    part, attributes, X = geom
    pose = Pose.of(X.compose(values.shape_placement(part, attributes)))
    if np.abs(np.array(pose.rotation) - np.eye(3)).max() > ROTATED:
        raise values.refusal(
            part, "it is rotated, which a height map cannot be; write it without rotation"
        )
    x, y, z = pose.position
    return HeightTable(z + top * shares.T, along_x, (x - radius_x, y - radius_y))


def _shares_of_range(elevation: np.ndarray) -> np.ndarray:
    """Elevations from 0 for the lowest to 1 for the highest node; 0 if all are equal."""
    above = elevation - elevation.min()
    highest = above.max()
    return above / highest if highest > 0 else above


def _elevation(meshes: MjcfMeshes, element: Element, written: Attributes) -> np.ndarray:
    """Elevations (nrow, ncol), the first row at the lowest y."""
    values = meshes.values
    if "file" in written:
        return _elevation_of_file(meshes, element, written)
    rows, columns = (values.whole_number(element, key, written) for key in ("nrow", "ncol"))
    _check_size(values, element, rows, columns)
    if "elevation" not in written:
        return np.zeros((rows, columns))
    numbers = values.finite_numbers(element, "elevation", written["elevation"], rows * columns)
    return np.array(numbers).reshape(rows, columns)[::-1]


def _elevation_of_file(meshes: MjcfMeshes, element: Element, written: Attributes) -> np.ndarray:
    """Elevations of a PNG file or of MuJoCo's binary format."""
    values, file = meshes.values, PurePosixPath(written["file"])
    data = meshes.read_file(element, written["file"])
    kind = written.get("content_type") or (PNG if file.suffix.lower() == ".png" else BINARY)
    if kind == PNG:
        return _image_rows(values, element, file.name, data)
    if kind == BINARY:
        return _binary_rows(values, element, file.name, data)
    raise values.refusal(element, f'content_type is "{kind}"; {PNG} and {BINARY} are read')


def _image_rows(values: MjcfValues, element: Element, name: str, data: bytes) -> np.ndarray:
    """Brightness of an image, or its red where it has colours, as in MuJoCo. The image's last row
    has the lowest y."""
    try:
        from PIL import Image
    except ImportError as error:
        raise values.refusal(
            element, f'"{name}" is read with Pillow: {install_extra("meshes")}'
        ) from error
    try:
        image = Image.open(io.BytesIO(data))
        _check_size(values, element, *image.size[::-1])
        if image.mode.startswith("I"):  # 16 bits, of which MuJoCo takes the upper 8
            return np.asarray(image)[::-1] // 256
        return np.asarray(image.convert("RGB"), dtype=float)[::-1, :, 0]
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise values.refusal(element, f'"{name}" cannot be read as an image: {error}') from error


def _binary_rows(values: MjcfValues, element: Element, name: str, data: bytes) -> np.ndarray:
    """Elevations of MuJoCo's format: two 32-bit counts, then 32-bit floats, the row of the lowest y
    first."""
    if len(data) < HEADER:
        raise values.refusal(element, f'"{name}" ends before its counts of rows and columns')
    rows, columns = struct.unpack("<ii", data[:HEADER])
    _check_size(values, element, rows, columns)
    if len(data) != HEADER + 4 * rows * columns:
        raise values.refusal(
            element,
            f'"{name}" has {len(data)} bytes; {rows} rows of {columns} take '
            f"{HEADER + 4 * rows * columns}",
        )
    table = np.frombuffer(data, "<f4", offset=HEADER).reshape(rows, columns).astype(float)
    if not np.isfinite(table).all():
        raise values.refusal(element, f'"{name}" has heights that are not finite')
    return table


def _check_size(values: MjcfValues, element: Element, rows: int, columns: int) -> None:
    """Refuse a field of less than two rows or columns, or with too many nodes."""
    if min(rows, columns) < 2:
        raise values.refusal(
            element, f"it has {rows} rows and {columns} columns; it needs 2 or more"
        )
    if rows * columns > MOST_NODES:
        raise values.refusal(
            element, f"it has {rows} by {columns} nodes, more than the {MOST_NODES:,} that are read"
        )
