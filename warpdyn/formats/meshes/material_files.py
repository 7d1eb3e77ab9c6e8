"""The files that a mesh file names: its materials and their textures."""

from __future__ import annotations

import warnings
from io import BytesIO
from pathlib import Path
from typing import Any

from ...model.mesh_files import LARGEST, MeshError
from ...model.regular_files import RefusedFileError, read_regular_file

MATERIALS = (".mtl",)
TEXTURES = (".png", ".jpg", ".jpeg", ".tga", ".bmp", ".tif", ".tiff", ".gif", ".webp", ".dds")
"""File endings that are read. Files with other endings are treated as missing."""

MOST_PIXELS = 2**26
"""Largest texture in pixels: 8192 x 8192. Unpacked, each pixel takes 4 bytes, however small the
file is."""

MOST_PIXELS_TOGETHER = 4 * MOST_PIXELS
"""Largest number of pixels in all textures of a mesh. A small file may name many large ones."""

SIDE = 16
"""Width and height of a texture after reading: only its mean colour is used."""

REMEDY = "name a file of the mesh, a smaller one, or leave it out"


class MaterialFiles:
    """A file resolver for trimesh, which asks for files by their names relative to a folder.

    A name may lead out of the folder, because descriptions use `../textures`. Such a file is only
    read as a material or a texture, of which the colour is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.refusals: list[str] = []
        """Messages about files that were refused: trimesh itself continues without a material."""
        self._pixels = 0
        self._small: dict[Path, bytes] = {}

    def get(self, name: str) -> bytes:
        """The bytes of a file; a texture is reduced to its mean colours. Raises OSError if there is
        none, and `RefusedFileError` if it must not be read."""
        path = self.folder / name.strip()
        if path in self._small:
            return self._small[path]
        suffix = path.suffix.lower()
        if suffix not in (*MATERIALS, *TEXTURES):
            raise FileNotFoundError(f"{name} is neither a material nor a texture")
        try:
            data = read_regular_file(path, LARGEST, REMEDY)
            if suffix in TEXTURES:
                data = self._small[path] = self.shrink(data, f"{path.name}, a texture of it,")
        except RefusedFileError as error:
            self.refusals.append(f"{path.name}, which it names, {error}")
            raise
        except MeshError as error:
            self.refusals.append(str(error))
            raise
        return data

    __getitem__ = get

    def shrink(self, data: bytes, what: str) -> bytes:
        """An image of `SIDE` x `SIDE` pixels. Data that are not an image stay as they are. Raises
        `MeshError` for an image with too many pixels, and for too many pixels in all images."""
        image = _open_image(data)
        if image is None:
            return data
        check_pixels(image, what)
        self._pixels += image.size[0] * image.size[1]
        if self._pixels > MOST_PIXELS_TOGETHER:
            raise MeshError(
                f"its textures have more than {MOST_PIXELS_TOGETHER:,} pixels together; {REMEDY}"
            )
        small = BytesIO()
        try:
            image.convert("RGBA").resize((SIDE, SIDE)).save(small, "PNG")
        except Exception:  # any error of Pillow; trimesh receives the same one
            return data
        return small.getvalue()

    def keys(self) -> tuple[str, ...]:
        """File names that are known in advance: none."""
        return ()


def check_pixels(image: Any, what: str) -> None:
    """Refuse an image with too many pixels before it is unpacked."""
    width, height = image.size
    if width * height > MOST_PIXELS:
        raise MeshError(
            f"{what} has {width} x {height} pixels, more than the {MOST_PIXELS:,} that are read; "
            f"{REMEDY}"
        )


def _open_image(data: bytes) -> Any:
    """The image, of which only the header is read; None if the data is not an image."""
    try:
        from PIL import Image
    except ImportError:  # without Pillow trimesh reads no textures either
        return None
    try:
        with warnings.catch_warnings():  # Pillow warns about many pixels, which are counted here
            warnings.simplefilter("ignore")
            return Image.open(BytesIO(data))
    except Image.DecompressionBombError as error:
        raise MeshError(f"a texture of it has too many pixels: {error}; {REMEDY}") from error
    except Exception:  # any error of Pillow; trimesh receives the same error and continues
        return None
