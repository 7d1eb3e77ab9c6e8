"""Loading of descriptions in any format: the content decides which reader is used."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from importlib import import_module

from ..model import Model
from ..model.names import ModelError
from ..model.reference_frames import Reference
from ..model.structure import QuaternionOrder
from .mjcf.mjcf_files import Includes
from .registry import FORMATS, Format, format_of_data, format_of_root, join_words, xml_formats
from .robot_source import Loops, RobotSource, tag_name


def load(
    source: str | bytes | os.PathLike[str],
    *,
    floating_base: bool | None = None,
    quaternion: QuaternionOrder | None = None,
    base_velocity: Reference | None = None,
    model: str | None = None,
    loops: Loops | None = None,
    includes: Includes | None = None,
    srdf: str | bytes | os.PathLike[str] | None = None,
) -> Model:
    """Robot of a description in any format: URDF, SDF, MJCF or USD, recognised by its content.

    A xacro file is refused, because xacro evaluates expressions: `load_xacro` expands it.

    source: a path, or the XML itself (a str or bytes whose first character that is not blank is
    "<").
    floating_base, quaternion, base_velocity, model (SDF, USD), loops (SDF, MJCF), includes (MJCF),
    srdf (URDF): as for the reader of the format, `load_urdf`, `load_sdf`, `load_mjcf` or
    `load_usd`, which also has the defaults.

    Raises ModelError for a description that cannot be used.

    >>> model = wd.load('<robot name="brick"><link name="brick"/></robot>', floating_base=True)
    >>> model.nq, model.nv
    (7, 6)
    """
    text = RobotSource.of(source, "load", join_words(each.name for each in FORMATS))
    chosen = format_of_data(text.data, text.suffix) or _by_root(text)
    text.kind = chosen.name
    options = {
        "floating_base": floating_base,
        "quaternion": quaternion,
        "base_velocity": base_velocity,
        "model": model,
        "loops": loops,
        "includes": includes,
        "srdf": srdf,
    }
    asked = {name: value for name, value in options.items() if value is not None}
    read: Callable[..., Model] = getattr(import_module(chosen.module), chosen.reader)
    known = inspect.signature(read).parameters
    for name in asked:
        if name not in known:
            raise TypeError(
                f"{text.name}: {chosen.reader}, which reads it, has no option {name}; leave it out"
            )
    return read(text, **asked)


def _by_root(text: RobotSource) -> Format:
    tag = tag_name(text.xml(join_words(f"<{each.root}>" for each in xml_formats())))
    chosen = format_of_root(tag)
    if chosen is None:
        roots = ", ".join(f"{each.name} with <{each.root}>" for each in xml_formats())
        known = roots.replace(" with", " begins with", 1)
        raise ModelError(
            f"{text.name}: the root element is <{tag}>; {known}; convert it to one of them"
        )
    return chosen
