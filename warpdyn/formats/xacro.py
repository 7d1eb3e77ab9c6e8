"""xacro: a file of macros to URDF, by the package xacro, then to Model."""

from __future__ import annotations

import os
from pathlib import Path

from ..model import Model
from ..model.description import ModelError
from ..model.reference_frames import Reference
from ..model.structure import QuaternionOrder
from .registry import URDF
from .robot_text import RobotText
from .urdf import load_urdf


def load_xacro(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
    srdf: str | bytes | os.PathLike[str] | None = None,
    **arguments: str | float | bool,
) -> Model:
    """Robot of a xacro file, expanded by the package xacro (pip install xacro).

    arguments: values of the file's <xacro:arg>, as after `name:=` on xacro's command line.
    floating_base, quaternion, base_velocity, srdf: as for `load_urdf`.

    Only for files that you trust: xacro evaluates expressions and reads the files that a file
    includes.
    """
    try:
        import xacro
    except ImportError:
        raise ModelError(
            f"{path}: the package xacro expands it, and is not installed: pip install xacro"
        ) from None
    name = Path(path).name
    if not Path(path).is_file():
        raise ModelError(f"{path}: there is no such file; give the path of a xacro file")
    mappings = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in arguments.items()
    }
    try:
        text = xacro.process_file(os.fspath(path), mappings=mappings).toxml(encoding="utf-8")
    except Exception as error:  # whatever the file's own expressions raise
        raise ModelError(
            f"{name}: xacro cannot expand it: {' '.join(str(error).split()) or error!r}"
        ) from error
    try:
        expanded = RobotText(None, URDF.name, text, folder=Path(path).parent)
        model = load_urdf(expanded, floating_base=floating_base, quaternion=quaternion, srdf=srdf)
        return model.with_base_velocity(base_velocity)
    except ModelError as error:
        raise ModelError(f"{name}, expanded: {str(error).removeprefix('URDF text: ')}") from error
