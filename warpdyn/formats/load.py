"""Any description: its content says which reader it is for."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from ..model import Model
from ..model.description import ModelError
from .source import content, tag_name, xml_root

READERS = {
    "robot": ("urdf", "load_urdf"),
    "sdf": ("sdf", "load_sdf"),
    "mujoco": ("mjcf", "load_mjcf"),
}
"""For each outermost element the module and the function that read it, imported when they are needed."""


def load(source: str | bytes | os.PathLike[str], **options: Any) -> Model:
    """Robot of a description, whatever its format: URDF, SDF or MJCF, told apart by its outermost element.

    source: a path, or the XML itself (a str or bytes whose first character that is not blank is "<").
    options: those of the reader: `load_urdf`, `load_sdf` or `load_mjcf`; all have floating_base and quaternion.

    Raises ModelError for what cannot be used.
    """
    name, data, encoding = content(source, "load", "URDF, SDF or MJCF")
    kind = tag_name(xml_root(name, data, encoding, "<robot>, <sdf> or <mujoco>"))
    if kind not in READERS:
        raise ModelError(
            f"{name}: the root element is <{kind}>; URDF begins with <robot>, SDF with <sdf>, MJCF with <mujoco>; "
            "convert it to one of them"
        )
    module, function = READERS[kind]
    model: Model = getattr(import_module(f".{module}", __package__), function)(source, **options)
    return model
