"""xacro: a file of macros to URDF, by the package xacro, then to Model."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Model
from ..model.names import ModelError, near_names, suggestion
from ..model.reference_frames import Reference
from ..model.regular_files import DESCRIPTION, RefusedFileError, read_regular_file
from ..model.structure import QuaternionOrder
from .registry import URDF
from .robot_source import RobotSource
from .urdf import load_urdf

SUFFIX = ".xacro"
"""Name ending of xacro files."""


class Arguments(dict[str, str]):
    """Values of xacro's arguments. The dictionary records the names that the file declares or uses."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.names = set[str]()

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)


def load_xacro(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    quaternion: QuaternionOrder = "xyzw",
    base_velocity: Reference = "local",
    srdf: str | bytes | os.PathLike[str] | None = None,
    mappings: Mapping[str, str | float | bool] | None = None,
    **arguments: str | float | bool,
) -> Model:
    """Robot of a xacro file, expanded by the package xacro (pip install xacro).

    arguments: values of the file's <xacro:arg>, as after `name:=` on xacro's command line. An
    argument that neither the file nor its includes declare is refused.
    mappings: the same as a dictionary, named as in ROS's `xacro.process_file`. Two values for one
    argument are refused.
    floating_base, quaternion, base_velocity, srdf: as for `load_urdf`.

    Only load files that you trust: xacro evaluates expressions and reads the files that a file
    includes.
    """
    name, mapped = Path(path).name, mappings or {}
    for key in arguments.keys() & mapped.keys():
        raise ModelError(f'{name}: argument "{key}" is in mappings, too; give it once')
    text = expand_xacro(path, {**mapped, **arguments})
    try:
        expanded = RobotSource(None, URDF.name, text, folder=Path(path).parent)
        model = load_urdf(expanded, floating_base=floating_base, quaternion=quaternion, srdf=srdf)
        return model.with_base_velocity(base_velocity)
    except ModelError as error:
        raise ModelError(f"{name}, expanded: {str(error).removeprefix('URDF text: ')}") from error


_one_at_a_time = threading.Lock()


@contextmanager
def regular_files_of(xacro: Any, most: int) -> Iterator[None]:
    """Limit xacro to regular files of at most `most` bytes together, within this block.

    xacro opens the file, its includes and the files of `load_yaml` with the function `open`. Within
    this block its module has a replacement under that name.
    """
    left = most

    def open_regular_file(file: str) -> io.TextIOWrapper:
        nonlocal left
        try:
            data = read_regular_file(file, left, "include files of the robot alone")
        except RefusedFileError as error:
            raise RefusedFileError(f"{Path(file).name} {error}") from None
        left -= len(data)
        return io.TextIOWrapper(io.BytesIO(data))

    with _one_at_a_time:
        xacro.open = open_regular_file
        try:
            yield
        finally:
            del xacro.open


def expand_xacro(
    path: str | os.PathLike[str], arguments: Mapping[str, str | float | bool]
) -> bytes:
    """The URDF text of a xacro file with these values of its arguments."""
    try:
        import xacro
    except ImportError:
        raise ModelError(
            f"{path}: the package xacro expands it, and is not installed: pip install xacro"
        ) from None
    name = Path(path).name
    if not Path(path).is_file():
        raise ModelError(f"{path}: there is no such file; give the path of a xacro file")
    for key, value in arguments.items():
        if not isinstance(value, str | bool | int | float | np.generic):
            raise ModelError(
                f'{name}: argument "{key}" must be a string, a number or a bool, got {value!r}'
            )
    values = {
        key: str(value).lower() if isinstance(value, bool | np.bool_) else str(value)
        for key, value in arguments.items()
    }
    given = Arguments(values)
    try:
        with regular_files_of(xacro, DESCRIPTION):
            text: bytes = xacro.process_file(os.fspath(path), mappings=given).toxml(
                encoding="utf-8"
            )
    except Exception as error:  # the file's expressions may raise any error
        raise ModelError(
            f"{name}: xacro cannot expand it: {' '.join(str(error).split()) or error!r}"
        ) from error
    for key in values:
        if key not in given.names:
            known = sorted(given.names)
            hint = suggestion(near_names(key, known)) or ";"
            declared = f"the file has {', '.join(known)}" if known else "the file has none"
            raise ModelError(f'{name}: it has no argument "{key}"{hint} {declared}')
    return text
