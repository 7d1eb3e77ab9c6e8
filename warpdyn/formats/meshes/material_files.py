"""The files that a mesh file names: its materials, and their textures."""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

from ...model.mesh_files import LARGEST, MeshError
from ...model.regular_files import RefusedFileError, read_regular_file

MATERIALS = (".mtl",)
TEXTURES = (".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff", ".gif", ".webp", ".dds")
"""Endings of the files that are read; a name of another ending is as good as none."""

MOST_PIXELS = 2**26
"""Pixels of a texture: 8192 x 8192. Unpacked they have 4 bytes each, however small their file is."""

REMEDY = "name a file of the mesh, a smaller one, or leave it out"


class MaterialFiles:
    """Finds files by their names from a folder on, as trimesh asks for them.

    A name may lead above the folder, as descriptions have `../textures`; what lies there is read as a
    material or a texture, and only its colour is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.refusals: list[str] = []
        """What is to be said of the mesh: trimesh itself goes on without a material."""

    def get(self, name: str) -> bytes:
        """The bytes of a file; OSError where there is none, `RefusedFileError` where it is not read."""
        path = self.folder / name.strip()
        suffix = path.suffix.lower()
        if suffix not in (*MATERIALS, *TEXTURES):
            raise FileNotFoundError(f"{name} is neither a material nor a texture")
        try:
            data = read_regular_file(path, LARGEST, REMEDY)
            if suffix in TEXTURES:
                check_pixels(_opened(data), f"{path.name}, a texture of it,")
        except RefusedFileError as error:
            self.refusals.append(f"{path.name}, which it names, {error}")
            raise
        except MeshError as error:
            self.refusals.append(str(error))
            raise
        return data

    __getitem__ = get

    def keys(self) -> tuple[str, ...]:
        """Names of files that are known before they are asked for: none."""
        return ()


def check_pixels(image: Any, what: str) -> None:
    """Refuse an image with too many pixels, before they are unpacked."""
    width, height = image.size if image is not None else (0, 0)
    if width * height > MOST_PIXELS:
        raise MeshError(
            f"{what} has {width} x {height} pixels, more than the {MOST_PIXELS:,} that are read; "
            f"{REMEDY}"
        )


def _opened(data: bytes) -> Any:
    """The image, of which only the first lines have been read; None for what is no image."""
    try:
        from PIL import Image
    except ImportError:  # then trimesh reads no textures either
        return None
    try:
        with warnings.catch_warnings():  # of many pixels, which are counted here
            warnings.simplefilter("ignore")
            return Image.open(BytesIO(data))
    except Image.DecompressionBombError as error:
        raise MeshError(f"a texture of it has too many pixels: {error}; {REMEDY}") from error
    except Exception:  # whatever Pillow raises; trimesh meets it too, and goes on
        return None
