"""COLLADA files before trimesh reads them: unpacked, and the size of their scene.

A node may place another one any number of times, and that one may do so again. A file of a few
kilobytes can therefore place one part a billion times, and trimesh copies it each time.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from functools import cache

import numpy as np
from lxml import etree

from ...model.mesh_files import MeshError
from ..robot_source import declares_entities

TRIANGLES = ("triangles", "polylist", "polygons")
"""Elements that trimesh reads from a geometry."""

CORNERS_OF_VERTEX = 6
"""Corners of triangles at each vertex of a closed surface. trimesh first makes a vertex of each
corner, then merges equal ones."""


def unpack(data: bytes) -> bytes:
    """The XML of a file, which may be in a zip archive."""
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if name.upper().endswith(".DAE")]
        if not names:
            raise MeshError("its archive contains no .dae file")
        # Archives written on macOS have a second file of the same name with the icon.
        return archive.read(next((name for name in names if "MACOSX" not in name), names[-1]))


def parse(data: bytes) -> etree._Element:
    """The outermost element. Text of any length is read, as by trimesh; entities are refused."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    root = etree.fromstring(data, parser)
    if declares_entities(root):
        raise MeshError("entities and external DTDs are never read; remove the DOCTYPE")
    return root


def scene_size(root: etree._Element) -> tuple[int, int]:
    """Largest number of parts and of vertices in a scene, where each part counts once for each of
    its places. Nodes count as parts; vertices are estimated. RecursionError: a node places
    itself."""
    of_id: dict[tuple[str, str], list[etree._Element]] = {}
    for each in root.iter("{*}geometry", "{*}node"):
        name = str(each.get("id"))
        of_id.setdefault((etree.QName(each).localname, name), []).append(each)

    def size_of(kind: str, url: str | None) -> tuple[int, int]:
        # If several elements have one name, it is unknown which of them a reader takes.
        return _sum(size(each) for each in of_id.get((kind, (url or "")[1:]), ()))

    @cache
    def size(element: etree._Element) -> tuple[int, int]:
        if etree.QName(element).localname == "geometry":
            return 1, _corners(element)
        found = [(1, 0)]
        for each in element.iterchildren("{*}node", "{*}instance_node", "{*}instance_geometry"):
            kind = etree.QName(each).localname
            if kind == "node":
                found.append(size(each))
            else:
                found.append(size_of(kind.removeprefix("instance_"), each.get("url")))
        return _sum(found)

    scenes = root.iter("{*}visual_scene")
    sizes = [_sum(map(size, scene.iterchildren("{*}node"))) for scene in scenes] or [(0, 0)]
    parts, corners = map(max, zip(*sizes, strict=True))
    return parts, corners // CORNERS_OF_VERTEX


def _sum(sizes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    parts = corners = 0
    for more_parts, more_corners in sizes:
        parts += more_parts
        corners += more_corners
    return parts, corners


def _corners(geometry: etree._Element) -> int:
    """Corners of all triangles and polygons of a geometry."""
    count = 0
    for name in TRIANGLES:
        for each in geometry.iter(f"{{*}}{name}"):
            offsets = [int(x.get("offset", "0")) for x in each.iterchildren("{*}input")]
            words = sum(_words(p.text or "") for p in each.iterchildren("{*}p", "{*}ph"))
            count += words // (1 + max(offsets, default=0))
    return count


def _words(text: str) -> int:
    """Number of words, without a list of them."""
    is_space = np.frombuffer(f" {text}".encode(), np.uint8) <= ord(" ")
    return int(np.count_nonzero(is_space[:-1] & ~is_space[1:]))
