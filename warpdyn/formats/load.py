"""Any description: its text says which reader it is for."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from ..model import Model
from ..model.description import ModelError
from .registry import FORMATS, Format, format_of_root, format_of_text, listed, xml_formats
from .robot_text import RobotText, tag_name


def load(source: str | bytes | os.PathLike[str], **options: Any) -> Model:
    """Robot of a description, whatever its format: URDF, SDF or MJCF, told apart by its outermost
    element.

    source: a path, or the XML itself (a str or bytes whose first character that is not blank is
    "<").
    options: those of the reader: `load_urdf`, `load_sdf` or `load_mjcf`; all have floating_base and
    quaternion.

    Raises ModelError for what cannot be used.
    """
    text = RobotText.of(source, "load", listed(each.name for each in FORMATS))
    chosen = format_of_text(text.data, text.suffix) or _by_root(text)
    text.kind = chosen.name
    model: Model = getattr(import_module(chosen.module), chosen.reader)(text, **options)
    return model


def _by_root(text: RobotText) -> Format:
    tag = tag_name(text.xml(listed(f"<{each.root}>" for each in xml_formats())))
    chosen = format_of_root(tag)
    if chosen is None:
        roots = ", ".join(f"{each.name} with <{each.root}>" for each in xml_formats())
        known = roots.replace(" with", " begins with", 1)
        raise ModelError(
            f"{text.name}: the root element is <{tag}>; {known}; convert it to one of them"
        )
    return chosen
