"""MJCF: geoms as visual and collision shapes, with meshes, materials and default classes.

A shape that cannot be read is left out: no motion depends on it except for its body's contacts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from ...algebra.spatial import IDENTITY, Placement, Vector
from ...model.description import Geometry
from ...model.names import ModelError
from ...model.poses_and_limits import Pose
from ..meshes.colors import Color, color_of
from .mjcf_contact_attributes import may_touch
from .mjcf_contacts import MjcfContacts
from .mjcf_files import asset_file
from .mjcf_grounds import GROUNDS, is_level_at_zero
from .mjcf_inertia import Part
from .mjcf_values import Element, MjcfValues

GREY: Color = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's colour for geoms without one."""

SHOWN = 2
"""The last group of geoms that MuJoCo draws by default. Models put shapes that are for contact only
into higher groups."""


CONTACT = (
    "friction",
    "condim",
    "contype",
    "conaffinity",
    "priority",
    "solref",
    "solimp",
    "solmix",
    "margin",
    "gap",
)
"""Attributes of a geom that describe its contacts."""


class MeshAsset(NamedTuple):
    """A <mesh> of <asset>: its file relative to the model's folder, its scale, and the placement of
    the scaled file in the mesh; None if that is not a rigid placement."""

    file: str
    scale: tuple[float, ...]
    placement: Placement | None


class BodyShapes(NamedTuple):
    """Visual and collision shapes of a body."""

    visuals: tuple[Geometry, ...]
    collisions: tuple[Geometry, ...]


class MjcfShapes:
    """Shapes of one load.

    folder: of the file, None for a text.
    """

    def __init__(
        self, values: MjcfValues, root: Element, folder: Path | None, contacts: MjcfContacts
    ) -> None:
        self.values, self.folder, self.contacts = values, folder, contacts
        settings = values.settings(root)
        meshes = Path(settings.get("meshdir", settings.get("assetdir", "")))
        self.left_out: dict[str, int] = {}
        """Geoms that have no contact points, by type. Level planes at height 0 do not count: they
        are the default ground of a simulation."""
        self.fitted = 0
        """Number of collision shapes that MuJoCo fits to meshes."""
        self.meshes: dict[str, MeshAsset] = {}
        self.colors: dict[str, Color] = {}
        for element in root.iterfind("asset/mesh"):
            written = values.attributes(element, "mesh", None)
            file = written.get("file", "")
            has_scale = bool(written.get("scale", "").split())
            scale = values.numbers(element, "scale", written, 3) if has_scale else (1.0, 1.0, 1.0)
            name = written.get("name") or Path(file).stem
            placed = _placement_of_file(values, element, written, tuple(scale))
            path = meshes / asset_file(element, file, settings)
            self.meshes[name] = MeshAsset(str(path) if file else "", tuple(scale), placed)
        for element in root.iterfind("asset/material"):
            written = values.attributes(element, "material", None)
            if material := written.get("name"):
                self.colors[material] = color_of(written.get("rgba")) or (1.0, 1.0, 1.0, 1.0)

    def remarks(self) -> list[str]:
        """Lines about geoms without shapes, and about shapes that differ from MuJoCo's."""
        said = []
        if self.fitted:
            said.append(
                f"geoms that MuJoCo fits to meshes ({self.fitted}) touch with the meshes here"
            )
        if not self.left_out:
            return said
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.left_out.items())
        return [
            *said,
            f"geoms of kinds without contacts: {kinds}; a simulation's ground is "
            "level at height 0 unless terrain= is another"
            + (
                "; wd.HeightMap.from_mjcf reads a height field" if "hfield" in self.left_out else ""
            ),
        ]

    def of(self, body: str, geoms: Sequence[Part]) -> BodyShapes:
        """Shapes of a body's geoms. Visual ones are in the groups that MuJoCo draws; all geoms that
        may touch another are collision shapes."""
        visuals: list[Geometry] = []
        collisions: list[Geometry] = []
        for geom in geoms:
            written = geom[1]
            try:
                shape = self._shape(*geom)
                contact = self._contact(*geom[:2])
            except (ModelError, ValueError, IndexError):
                self.values.ignore(
                    "the shape of a <geom> whose numbers or mesh are missing", geom[0]
                )
                continue
            if shape is None:
                continue
            shape = replace(
                shape,
                contact=contact,
                on_ground=self.contacts.of(body, written),
                touch=self.contacts.touch(written),
            )
            shown = int(written.get("group", "").strip() or "0") <= SHOWN
            if shown and shape.color is not None and shape.color[3] > 0:
                visuals.append(shape)
            paired = self.contacts.in_pair(written.get("name"))
            if paired or may_touch(written):
                if shape.shape in ("ellipsoid", "plane"):
                    self._leave_out(shape.shape)
                else:
                    if paired:
                        self.contacts.placed[written["name"]] = body, len(collisions)
                    collisions.append(shape)
                    self.fitted += shape.shape == "mesh" and written.get("type") != "mesh"
        return BodyShapes(tuple(visuals), tuple(collisions))

    def leave_out_grounds(self, geoms: Sequence[Part]) -> None:
        """Count the planes and height fields of a world that is not a link of the model, because
        its body is a free base."""
        for geom in geoms:
            if geom[1].get("type") in GROUNDS:
                try:
                    shape = self._shape(*geom)
                except (ModelError, ValueError, IndexError):
                    continue
                if shape is not None:
                    self._leave_out(shape.shape)

    def _contact(
        self, element: Element, written: dict[str, str]
    ) -> tuple[tuple[str, tuple[float, ...]], ...]:
        """Contact attributes of a geom, including those of its class."""
        said = ((key, len(written[key].split())) for key in CONTACT if key in written)
        return tuple((key, tuple(self.values.numbers(element, key, written, n))) for key, n in said)

    def _shape(self, element: Element, written: dict[str, str], X: Placement) -> Geometry | None:
        """The shape of a geom. None for height fields, and for a level plane at height 0, which is
        the ground of a simulation and of the viewer. ModelError, ValueError or IndexError if its
        numbers or its mesh are missing."""
        kind = written.get("type", "sphere")
        pose = Pose.of(X.compose(self.values.shape_placement(element, written)))
        color = color_of(written.get("rgba")) or self.colors.get(written.get("material", ""), GREY)
        if "mesh" in written:  # a primitive with a mesh is fitted to it, and drawn as the mesh
            asset = self.meshes.get(written["mesh"])
            if asset is None:
                raise ValueError(f"no mesh {written['mesh']}")
            if asset.placement is None:
                self._leave_out("mesh with refquat and a scale that differs by axis")
                return None
            name = written.get("name")
            pose = Pose.of(pose.placement.compose(asset.placement))
            return Geometry("mesh", asset.scale, asset.file, pose, name, self.folder, color)
        size = _numbers(written.get("size", ""))
        if "fromto" in written and kind in ("capsule", "cylinder", "box", "ellipsoid"):
            ends = self.values.numbers(element, "fromto", written, 6)
            half = 0.5 * math.dist(ends[:3], ends[3:])
            size = (size[0], *((size[0],) if kind in ("box", "ellipsoid") else ()), half)
        if kind == "sphere":
            measures: tuple[float, ...] = size[:1]
        elif kind in ("capsule", "cylinder"):
            measures = (size[0], 2.0 * size[1])
        elif kind == "ellipsoid":
            measures = size[:3]
        elif kind == "box":
            measures = tuple(2.0 * x for x in size[:3])
        elif kind == "plane":
            if is_level_at_zero(pose):
                return None
            measures = tuple(2.0 * x for x in size[:2])
        else:
            self._leave_out(kind)
            return None
        if (
            len(measures) != {"sphere": 1, "box": 3, "ellipsoid": 3}.get(kind, 2)
            or min(measures) < 0
        ):
            raise ValueError(f"{kind} has sizes {measures}")
        return Geometry(kind, measures, None, pose, written.get("name"), None, color)

    def _leave_out(self, kind: str) -> None:
        self.left_out[kind] = self.left_out.get(kind, 0) + 1


def _placement_of_file(
    values: MjcfValues, element: Element, written: dict[str, str], scale: tuple[float, ...]
) -> Placement | None:
    """MuJoCo moves a file's points x to S Rᵀ (x - p), with R and p of refquat and refpos. None if
    they rotate it and S is not uniform: no rotation then gives the scaled points S x."""
    turn = {"quat": written["refquat"]} if "refquat" in written else {}
    R = values.rotation(element, turn)
    origin = values.vector(element, "refpos", written)
    if not turn:
        p = (-s * x for s, x in zip(scale, origin, strict=True))
        return Placement(IDENTITY, Vector(*p))
    if len(set(scale)) > 1:
        return None
    return Placement(R, origin * scale[0]).inverse()


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split())
