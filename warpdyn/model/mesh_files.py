"""Locations of the mesh files that a description names, and the reasons why one cannot be used."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from urllib.parse import unquote

from .description import Geometry
from .optional_packages import install_extra
from .regular_files import RefusedFileError, check_regular_file, check_unpacked, read_regular_file

KINDS = (".stl", ".obj", ".dae", ".ply", ".off", ".glb")
"""File endings that are read as meshes."""

LARGEST = 64 * 2**20
"""Largest mesh file in bytes. Larger ones were made for rendering."""

REMEDY = "name a mesh file, simplified if it is large"
"""The remedy for a file that is not a regular one, or is too large."""

MESH_READER = "trimesh"
"""The package that reads meshes."""

NO_READER = f"the package trimesh reads it, and is not installed: {install_extra('meshes')}"

PACKAGES = ("package", "model")
"""Schemes of an address that begins with the name of a package or of a folder of models."""

Packages = Mapping[str, Path]
"""Folders of packages by name, searched before those that the environment names."""

NONE: Packages = MappingProxyType({})


class MeshError(ValueError):
    """The reason why a mesh gives no points, with the remedy."""


def mesh_data(path: Path) -> bytes:
    """The bytes of a mesh file. Raises `MeshError` if it is not a regular file, or has more than
    `LARGEST` bytes packed or unpacked."""
    try:
        data = read_regular_file(path, LARGEST, REMEDY)
        check_unpacked(data, LARGEST, REMEDY)
    except RefusedFileError as error:
        raise MeshError(f"its file {error}") from error
    except (OSError, zipfile.BadZipFile) as error:
        raise MeshError(f"its file cannot be read: {error}") from error
    return data


def mesh_file(shape: Geometry, packages: Packages = NONE) -> Path:
    """The file of a mesh. Raises `MeshError` if there is none, or if it is too large.

    `package://name/...` and `model://name/...` are looked for in `packages`, in ROS_PACKAGE_PATH,
    in the shares of AMENT_PREFIX_PATH, in GZ_SIM_RESOURCE_PATH, and in the folders above the
    description's. They cannot lead out of the package. Other names are relative to the
    description's folder and may lead above it, because descriptions use `../meshes`.
    """
    name = unquote((shape.filename or "").strip())
    if not name:
        raise MeshError("it names no file")
    if Path(name).suffix.lower() not in KINDS:
        raise MeshError(f"only {', '.join(KINDS)} are read as meshes; convert it")
    try:
        for path in _places(name, shape.folder, packages):
            if path.exists() and not path.is_dir():
                check_regular_file(path, LARGEST, REMEDY)
                return path
    except MeshError:
        raise
    except RefusedFileError as error:
        raise MeshError(f"its file {error}") from error
    except (OSError, ValueError) as error:
        raise MeshError(f"its file cannot be read: {error}") from error
    raise MeshError(_missing_reason(name, shape.folder))


def _places(name: str, folder: Path | None, packages: Packages) -> Iterator[Path]:
    """Candidate paths of a mesh, the likeliest first."""
    scheme, colon, rest = name.partition("://")
    if not colon:
        if folder is not None or Path(name).is_absolute():
            yield (folder or Path()) / name
        return
    if scheme == "file":
        yield Path(rest)
    if scheme in PACKAGES:
        package, _, inside = rest.partition("/")
        inside = inside.lstrip("/")
        if package in ("", ".", "..") or _climbs(inside):
            raise MeshError(
                f"{name} leaves its package; name a file in the package, or one by ../ from the "
                "folder of the description"
            )
        if package in packages:
            yield Path(packages[package]) / inside
        for path in _folders(package, folder):
            yield path / inside


def _climbs(inside: str) -> bool:
    """True if a path leads above the folder that it begins in."""
    depth = 0
    for part in PurePosixPath(inside).parts:
        depth += {"..": -1}.get(part, 1)
        if depth < 0:
            return True
    return False


def _folders(package: str, folder: Path | None) -> Iterator[Path]:
    """Folders that may be the package's."""
    for variable, between in (
        ("ROS_PACKAGE_PATH", ""),
        ("AMENT_PREFIX_PATH", "share"),
        ("GZ_SIM_RESOURCE_PATH", ""),
    ):
        for entry in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            root = Path(entry) / between
            yield root / package
            if root.name == package:
                yield root
    for above in () if folder is None else (folder.resolve(), *folder.resolve().parents):
        if above.name == package:
            yield above
        yield above / package


def _missing_reason(name: str, folder: Path | None) -> str:
    scheme, colon, rest = name.partition("://")
    if colon and scheme in PACKAGES:
        return (
            f"{rest.partition('/')[2] or rest} of the package {rest.partition('/')[0]} is not there; "
            "set ROS_PACKAGE_PATH to the folder that holds the package"
        )
    if colon and scheme != "file":
        return f"{scheme}:// is not read; name a file, or package://"
    if folder is None and not colon and not Path(name).is_absolute():
        return "its name is relative, and the description came as text; load it by its path"
    return "there is no such file"
