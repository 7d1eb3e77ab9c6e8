"""MJCF: the files that a file names, read only from its own folder and below."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from ...model.names import ModelError
from ...model.regular_files import RefusedFileError, read_regular_file
from ..robot_source import Reading, RobotSource
from .mjcf_values import Element

Includes: TypeAlias = bool | str | os.PathLike[str]
"""The files that may be read: True for the folder of the file and below, False for none, or
a folder, for it and below."""

RELOCATED = "{warpdyn}relocated"
"""Attribute of an asset of an attached model, whose file name is complete: the `strippath` of the
outer file leaves it as it is."""


def asset_file(element: Element, name: str, settings: Mapping[str, str]) -> PurePosixPath:
    """The file of an asset, relative to the folder of meshes.

    settings: attributes of <compiler>.
    """
    bare = settings.get("strippath") == "true" and RELOCATED not in element.attrib
    return PurePosixPath(PurePosixPath(name).name if bare else name)


class Neighbours:
    """Files that a description may read, up to a number of files and a total number of bytes. Links
    are resolved before the check.

    folder: the description's folder, to which names are relative; None for a text, or if nothing
    may be read.
    """

    def __init__(
        self, text: RobotSource, includes: Includes, most_files: int, most_bytes: int
    ) -> None:
        self.source, self.asked = text.name, includes
        self.folder = self.within = None if text.folder is None else text.folder.resolve()
        if includes is False:
            self.folder = self.within = None
        elif includes is not True:
            self.within = Path(includes).resolve()
            if not self.within.is_dir():
                raise ValueError(
                    f"includes must be True, False or a folder; {includes!r} is not a folder"
                )
            self.folder = self.folder or self.within
        self.most_files, self.most_bytes = most_files, most_bytes
        self.files = self.bytes = 0

    def find(
        self, reading: Reading, element: Element, file: str, folders: Sequence[Path] = ()
    ) -> Path:
        """The file that an element names, relative to the folder of the description or else to one
        of `folders`. Refused, with its name, if there is none or it lies elsewhere."""
        if self.folder is None or self.within is None:
            why = (
                "no other file is read with includes=False"
                if self.asked is False
                else "it is looked for next to a file; give its path, not a text"
            )
            raise reading.refusal(element, f'"{file}": {why}')
        try:
            places = [(folder / file).resolve() for folder in (self.folder, *folders)]
            inside = [path for path in places if path.is_relative_to(self.within)]
            path = next((path for path in inside if path.is_file()), None)
        except (OSError, RuntimeError, ValueError):  # a cycle of links, or a name that is too long
            inside, path = [self.folder], None
        if not inside:
            raise reading.refusal(
                element,
                f'"{file}" is outside of the folder of {self.source}; only files in it or below '
                'are read, or in a folder that you trust: includes="folder"',
            )
        if path is None:
            raise reading.refusal(
                element, f'there is no file "{file}"; put it next to {self.source}'
            )
        return path

    def name(self, path: Path) -> str:
        """A file's name relative to the folder of the description."""
        return Path(os.path.relpath(path, self.folder or path.parent)).as_posix()

    def read_file(self, reading: Reading, element: Element, path: Path) -> bytes:
        """The content of a file that `find` returned."""
        self.files += 1
        try:
            size = path.stat().st_size
            if self.bytes + size > self.most_bytes or self.files > self.most_files:
                raise self._too_much(reading, element)
            remedy = "name a file of the robot"
            data = read_regular_file(path, self.most_bytes - self.bytes, remedy)
        except RefusedFileError as error:
            raise reading.refusal(element, f'"{self.name(path)}" {error}') from None
        except OSError as error:
            raise reading.refusal(
                element, f'"{self.name(path)}" cannot be read: {error.strerror}'
            ) from None
        self.bytes += len(data)
        return data

    def _too_much(self, reading: Reading, element: Element) -> ModelError:
        return reading.refusal(
            element,
            f"there is too much to read: at most {self.most_files} files of "
            f"{self.most_bytes // 2**20} MiB together are",
        )
