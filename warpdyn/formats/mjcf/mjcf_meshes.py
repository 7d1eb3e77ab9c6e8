"""MJCF: the meshes of <asset>, with their files if a body's inertia depends on them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..robot_source import RobotSource
from .mjcf_files import Includes, Neighbours, asset_file
from .mjcf_values import Attributes, Element, MjcfValues

MOST_FILES = 2000
MOST_BYTES = 512 * 2**20

DRAWN = ("class", "material", "texcoord", "smoothnormal")
"""Attributes of a mesh that do not affect its inertia."""


class Mesh(NamedTuple):
    """A mesh for MuJoCo to weigh: the attributes of its element, and the files that they name."""

    attributes: dict[str, str]
    files: dict[str, bytes]


class MjcfMeshes:
    """Meshes of one load, by name. A file is read once, when its mesh is first asked for."""

    def __init__(
        self, values: MjcfValues, root: Element, text: RobotSource, includes: Includes
    ) -> None:
        self.values = values
        self.neighbours = Neighbours(text, includes, MOST_FILES, MOST_BYTES)
        self.settings = values.settings(root)
        self.folder = self.settings.get("meshdir", self.settings.get("assetdir", ""))
        self.elements: dict[str, tuple[Element, Attributes]] = {}
        self.weighable: dict[str, Mesh] = {}
        for element in root.iterfind("asset/mesh"):
            written = values.attributes(element, "mesh", None)
            name = written.get("name") or Path(written.get("file", "")).stem
            self.elements[name] = element, written

    def mesh_of_geom(self, geom: Element, name: str) -> Mesh:
        """The mesh of a geom. Refused if there is none, or its file cannot be read."""
        if name not in self.elements:
            raise self.values.refusal(geom, f'there is no mesh "{name}"; add it to <asset>')
        if name not in self.weighable:
            element, written = self.elements[name]
            kept = {key: value for key, value in written.items() if key not in DRAWN}
            files: Mapping[str, bytes] = {}
            if "file" in kept:
                data = self.read_file(element, kept["file"])
                kept["file"] = f"{len(self.weighable)}{PurePosixPath(kept['file']).suffix}"
                files = {kept["file"]: data}
            self.weighable[name] = Mesh({**kept, "name": name}, dict(files))
        return self.weighable[name]

    def read_file(self, element: Element, name: str) -> bytes:
        """The content of a file of <asset>, in the folder that the compiler settings name."""
        file = PurePosixPath(self.folder, asset_file(element, name, self.settings))
        path = self.neighbours.find(self.values, element, str(file))
        return self.neighbours.read_file(self.values, element, path)
