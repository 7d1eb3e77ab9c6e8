"""A USD stage whose layers are regular files of a bounded total size.

usd-core opens layers by itself, so they are found and checked before it composes the stage.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...model.names import ModelError
from ...model.regular_files import STAGE, RefusedFileError, check_regular_file, too_large
from ..robot_source import RobotSource

REMEDY = "refer to layers of the robot alone"


def open_stage(pxr: Any, text: RobotSource) -> Any:
    """The stage of a file, or of a text in memory, after its layers were checked."""
    if text.file is not None and text.folder is not None:
        layer = pxr.Sdf.Layer.FindOrOpen(str(text.folder / text.file))
    else:
        layer = pxr.Sdf.Layer.CreateAnonymous(".usda")
        if not text.data.startswith(b"#usda"):
            raise ModelError(f"{text.name}: bytes must be .usda text; for other files give a path")
        layer.ImportFromString(text.data.decode())
    # The list keeps the layers open, so that none is opened again.
    layers = open_layers(pxr, layer, text.name, STAGE)
    return pxr.Usd.Stage.Open(layers[0])


def missing_parts(stage: Any) -> list[str]:
    """A line for each layer or prim that a stage refers to but usd-core could not read."""
    errors = (" ".join(str(error).split()) for error in stage.GetCompositionErrors())
    return [f"a part that it refers to is missing: {error}" for error in errors]


def open_layers(pxr: Any, root: Any, source: str, most: int) -> list[Any]:
    """The layer `root` and the layers that it refers to, directly or indirectly: sublayers,
    references and payloads, those of variants too.

    source: the stage's name in messages. most: total size of their files in bytes, without the
    root's. usd-core reports layers that are missing or unreadable (`missing_parts`).

    Raises ModelError for a file that is not a regular one, and for a larger total size.
    """
    layers, files, size = {root.identifier: root}, set[Path](), 0
    waiting = [root]
    while waiting:
        for identifier, file in _referenced_layers(pxr, waiting.pop()):
            try:
                if file not in files:
                    check_regular_file(file, most, REMEDY)
                    files.add(file)
                    size += file.stat().st_size
                    if size > most:
                        raise RefusedFileError(f"and others: {too_large(size, most, REMEDY)}")
            except RefusedFileError as error:
                raise ModelError(f"{source}: the layer {file.name} {error}") from None
            except OSError:
                continue
            if identifier not in layers and (layer := _open_layer(pxr, identifier)):
                layers[identifier] = layer
                waiting.append(layer)
    return list(layers.values())


def _referenced_layers(pxr: Any, layer: Any) -> Iterator[tuple[str, Path]]:
    """Each layer that a layer names: its identifier, and the file that usd-core would open."""
    for asset in layer.GetCompositionAssetDependencies():
        identifier = layer.ComputeAbsolutePath(pxr.Sdf.Layer.SplitIdentifier(asset)[0])
        resolved = str(pxr.Ar.GetResolver().Resolve(identifier))
        if resolved:
            outer, _ = pxr.Ar.SplitPackageRelativePathOuter(
                resolved
            )  # for a layer in a .usdz, its archive
            yield identifier, Path(outer)


def _open_layer(pxr: Any, identifier: str) -> Any:
    """The layer, or None if usd-core cannot read it."""
    try:
        return pxr.Sdf.Layer.FindOrOpen(identifier)
    except pxr.Tf.ErrorException:
        return None
