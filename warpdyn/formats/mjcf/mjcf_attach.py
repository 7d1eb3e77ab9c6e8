"""MJCF: <attach>, which inserts parts of other files' models.

A part keeps the compiler settings and default classes of its own file: they are stored with
the inserted elements, under the prefix. Files are found in the same way as those of <include>.
"""

from __future__ import annotations

import os
from copy import deepcopy
from pathlib import Path, PurePosixPath

from lxml import etree

from ...model.names import ModelError
from ..registry import MJCF
from ..robot_source import RobotSource
from .mjcf_composite import with_cables
from .mjcf_files import RELOCATED, Includes, Neighbours, asset_file
from .mjcf_include import MOST_BYTES, MOST_FILES, with_includes
from .mjcf_replicate import MOST, with_copies
from .mjcf_values import COMPILER, Element, MjcfValues

CLASSES = ("class", "childclass")

PLACES = (
    "joint",
    "joint1",
    "joint2",
    "jointinparent",
    "body",
    "body1",
    "body2",
    "target",
    "site",
    "site1",
    "site2",
    "cranksite",
    "slidersite",
    "refsite",
    "sidesite",
    "geom",
    "geom1",
    "geom2",
    "tendon",
    "tendon1",
    "tendon2",
    "actuator",
    "objname",
    "refname",
)
"""Attributes that refer to another element of a model. If that element is missing, the referring
element is left out too."""

NAMES = ("name", *PLACES, "mesh", "material", "texture", "hfield")

SECTIONS = ("asset", "tendon", "equality", "actuator", "sensor", "contact")
"""Sections of a model that come with its bodies, in an order in which names precede their use."""

WORLD = "world"

FILE = "{warpdyn}file"
"""Attribute of an element that comes from another file than its model: that file's name."""


def mjcf_document(text: RobotSource, includes: Includes) -> tuple[MjcfValues, Element]:
    """The settings of a file and its outermost element, with all that it includes, attaches and
    replicates."""
    root = text.root_of(MJCF)
    values = MjcfValues(text.name, root, with_includes(text, root, includes))
    attach_models(values, root, text, includes)
    with_cables(values, root)
    with_copies(values, root)
    return values, root


def attach_models(values: MjcfValues, root: Element, text: RobotSource, includes: Includes) -> None:
    """Replace each <attach> by bodies of another model, as MuJoCo does: by the body or frame that
    it names, with all its children, or by the model's entire world. Each name gets the `prefix`."""
    if next(root.iter("attach"), None) is not None:
        Attachment(text, includes).expand(values, root, ())


class Attachment:
    """The models read so far, by file, and the number of elements inserted."""

    def __init__(self, text: RobotSource, includes: Includes) -> None:
        self.neighbours = Neighbours(text, includes, MOST_FILES, MOST_BYTES - len(text.data))
        self.models: dict[Path, tuple[MjcfValues, Element]] = {}
        self.size = 0

    def expand(self, values: MjcfValues, root: Element, chain: tuple[Path, ...]) -> None:
        """Replace every <attach> in the tree of a file.

        chain: the files of models that lead here.
        """
        for element in list(root.iter("attach")):
            parent = element.getparent()
            assert parent is not None, "the outermost element is <mujoco>"
            path, (inner, model) = self._model(values, root, element, chain)
            key = _with_settings(values, inner)
            prefix = element.get("prefix", "")
            classes = _with_classes(values, inner, prefix)
            frame = _part(values, element, model)
            # Only elements that refer to attached bodies come along: tendons, constraints,
            # actuators and sensors of other bodies would refer to nothing.
            names = {str(each.get("name")) for each in frame.iter() if each.get("name")} | {WORLD}
            sections = [_section(model, tag, names) for tag in SECTIONS]
            here = chain[-1].parent if chain else self.neighbours.folder or path.parent
            _rebase_file_names(sections[0], root, inner, model, os.path.relpath(path.parent, here))
            # Inserted elements keep the settings, classes and file of their own model, which differ
            # from this file's.
            for each in (frame, *sections):
                _shift_setting_indices(each, key)
                each.set(COMPILER, str(key))
                _add_prefix(each, prefix, classes)
                values.files[each] = self.neighbours.name(path)
                values.files |= {x: str(x.get(FILE)) for x in each.iter() if FILE in x.attrib}
                self.size += sum(1 for _ in each.iter())
            if self.size > MOST:
                raise values.refusal(element, f"more than {MOST} elements are attached")
            if model.find("keyframe") is not None:
                values.ignore("<keyframe> of a model that is attached", element)
            merged = values.settings(root).get("conflict") == "merge"
            if merged and model.find("option") is not None:
                values.ignore('<option> of an attached model, with conflict="merge"', element)
            parent.replace(element, frame)
            root.extend(section for section in sections if len(section))

    def _model(
        self, values: MjcfValues, root: Element, element: Element, chain: tuple[Path, ...]
    ) -> tuple[Path, tuple[MjcfValues, Element]]:
        """The model that an <attach> names, read once."""
        wanted = element.get("model", "")
        assets = {str(asset.get("name")): asset for asset in root.iterfind("asset/model")}
        if wanted not in assets:
            raise values.refusal(element, f'there is no <model name="{wanted}"> in <asset>; add it')
        asset = assets[wanted]
        beside = [path.parent for path in chain[-1:]]
        path = self.neighbours.find(values, asset, asset.get("file", ""), beside)
        if path in chain:
            raise values.refusal(asset, "models attach each other in a cycle; leave one out")
        if path not in self.models:
            self.models[path] = self._read_model(values, asset, path, (*chain, path))
        return path, self.models[path]

    def _read_model(
        self, values: MjcfValues, asset: Element, path: Path, chain: tuple[Path, ...]
    ) -> tuple[MjcfValues, Element]:
        data = self.neighbours.read_file(values, asset, path)
        text = RobotSource(self.neighbours.name(path), MJCF.name, data, folder=path.parent)
        try:
            root = text.root_of(MJCF)
            files = with_includes(text, root, self.neighbours.within or False)
            inner = MjcfValues(text.name, root, files)
            self.expand(inner, root, chain)
            with_cables(inner, root)
            with_copies(inner, root)
            for element, file in inner.files.items():
                element.set(FILE, file)
        except ModelError as error:
            raise values.refusal(asset, f"of {error}") from None
        return inner, root


def _with_settings(values: MjcfValues, inner: MjcfValues) -> int:
    """Append the settings of a model, and of those attached to it. Returns the index of the model's
    own settings."""
    key = len(values.compilers)
    values.compilers += inner.compilers
    return key


def _shift_setting_indices(part: Element, key: int) -> None:
    """Shift the indices of settings inside a part, which count from its model's first, by `key`."""
    for each in part.iterdescendants():
        if COMPILER in each.attrib:
            each.set(COMPILER, str(key + int(str(each.get(COMPILER)))))


def _with_classes(values: MjcfValues, inner: MjcfValues, prefix: str) -> dict[str, str]:
    """Store the default classes of a model under the prefix. Returns their new names by the old
    ones."""
    renamed: dict[str, str] = {}
    for name, content in inner.classes.items():
        new = f"{prefix}{name or 'main'}"
        while new in values.classes:
            new += "_"
        renamed[name], values.classes[new] = new, content
        if name in inner.actuator_defaults:
            values.actuator_defaults[new] = inner.actuator_defaults[name]
    if "" not in renamed:
        renamed[""] = f"{prefix}main_"
        values.classes[renamed[""]] = {}
    return renamed


def _part(values: MjcfValues, element: Element, model: Element) -> Element:
    """A frame with the part of a model that an <attach> asks for."""
    frame = etree.Element("frame")
    if element.get("body") and element.get("frame"):
        raise values.refusal(element, "it names both a body and a frame; leave one out")
    tag = "frame" if element.get("frame") else "body"
    name = element.get(tag)
    if not name:
        frame.extend(deepcopy(each) for world in model.findall("worldbody") for each in world)
        frame.set("childclass", "")
        return frame
    found = (x for world in model.findall("worldbody") for x in world.iter(tag))
    part = next((x for x in found if x.get("name") == name), None)
    if part is None:
        raise values.refusal(
            element, f'its model "{element.get("model")}" has no {tag} "{name}"; correct the name'
        )
    around = (str(x.get("childclass")) for x in part.iterancestors() if x.get("childclass"))
    frame.set("childclass", next(around, ""))
    frame.append(deepcopy(part))
    return frame


def _section(model: Element, tag: str, names: set[str]) -> Element:
    """The elements of a model's sections `tag` that refer only to `names`; their own names are
    added to `names`."""
    section = etree.Element(tag)
    for part in model.findall(tag):
        for element in part:
            meant = {str(x.get(key)) for x in element.iter() for key in PLACES if x.get(key)}
            if not meant <= names and tag != "asset":
                continue
            names |= {str(element.get("name"))} if element.get("name") else set()
            copy = deepcopy(element)
            for key in (COMPILER, FILE):  # set if the section was attached itself
                if key in part.attrib and key not in copy.attrib:
                    copy.set(key, str(part.get(key)))
            if not copy.get("class"):
                copy.set("class", "")
            section.append(copy)
    return section


def _add_prefix(part: Element, prefix: str, classes: dict[str, str]) -> None:
    """Put the prefix before names and classes of a part."""
    for element in part.iter():
        for key in NAMES:
            name = element.get(key)
            if name and not (key.startswith("body") and name == WORLD):
                element.set(key, prefix + name)
        for key in CLASSES:
            if key in element.attrib:
                name = str(element.get(key))
                element.set(key, classes.get(name, prefix + name))


def _rebase_file_names(
    assets: Element, root: Element, inner: MjcfValues, model: Element, folder: str
) -> None:
    """Rewrite the file names of a model's assets so that they are relative to the folder of
    `root`'s meshes.

    folder: the model's folder, relative to that of `root`'s file.
    """
    settings = inner.settings(model)
    there = PurePosixPath(folder) / settings.get("meshdir", settings.get("assetdir", ""))
    here = _mesh_folder(inner.settings(root))
    for element in assets.iter("mesh", "hfield"):
        path = element.get("file")
        if path:
            leads = there / asset_file(element, path, settings)
            element.set("file", PurePosixPath(os.path.relpath(leads, here)).as_posix())
            element.set(RELOCATED, "true")
            # MuJoCo names an asset without a name after its file, before that name is rewritten.
            if not element.get("name"):
                element.set("name", PurePosixPath(path).stem)


def _mesh_folder(settings: dict[str, str]) -> str:
    return settings.get("meshdir", settings.get("assetdir", "")) or "."
