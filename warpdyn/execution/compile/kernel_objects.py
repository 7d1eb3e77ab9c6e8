"""Object files of CPU kernels: compiled, stored in Warp's cache with their hashes, and checked
before loading.

Warp trusts the contents of its cache. We write the files of a kernel into a new folder, move each
to its place, and write its hashes last, into our own file. An object without hashes, or with other
hashes, is compiled again.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import warp as wp
from warp._src import build, context

from . import background, sealed_files
from .compiler_process import compile_object, in_child
from .precompiled_header import compiler_folder, has_header

BLOCK = 1
"""Number of threads in a block on the CPU."""

HASHES = ".sha256"
"""Suffix of the file with the hashes of an object and of Warp's metadata for it."""

SPACE_PER_CHARACTER, SPACE, SPACE_FOR_HEADER = 8, 1 << 20, 16 << 20
"""Free bytes required before Clang runs in this process. Over 703 objects, the median is 0.4 bytes
per character of the source, and the largest 3.8; a parsed header has 4.6 MB."""

PRIVATE = ("_run_codegen", "_write_meta", "_get_compile_output_name", "_get_meta_name")
"""Private methods of a Warp module. Without them Warp compiles and loads by itself."""


class ObjectFiles(NamedTuple):
    """Locations of a kernel's files."""

    folder: Path
    object: str
    metadata: str

    @property
    def hashes(self) -> Path:
        return self.folder / (self.object + HASHES)


read_only: list[Path] = []
"""A cache that cannot be written, such as that of a container's image, but read: its kernels are used, and
new ones are in a folder of this process."""


def place_of(module: Any, device: wp.Device) -> ObjectFiles:
    """The location of a Warp module's files in Warp's cache."""
    return place_in_cache(
        module.get_module_identifier(BLOCK),
        module._get_compile_output_name(device, block_dim=BLOCK),
        module._get_meta_name(block_dim=BLOCK),
    )


def place_in_cache(name: str, object_file: str, metadata: str) -> ObjectFiles:
    """The location of files in a folder of Warp's cache: where they are, or else where they can be
    written."""
    writable = Path(str(wp.config.kernel_cache_dir)).absolute()
    if wp.config.cache_kernels:
        for cache in read_only:
            place = ObjectFiles(cache / name, object_file, metadata)
            if is_whole(place):
                return place
    return ObjectFiles(writable / name, object_file, metadata)


def is_whole(place: ObjectFiles) -> bool:
    """True if the files are there as we compiled them."""
    if not place.folder.is_dir() or sealed_files.distrust_folder(place.folder):
        return False
    content = sealed_files.read(place.hashes)
    if content is None:
        return False
    return content == _hashes(place, place.folder)


def _hashes(place: ObjectFiles, folder: Path) -> bytes | None:
    """The content of the hash file for the files in a folder; None if one is missing."""
    found = {"kernel": place.folder.name}
    for kind, name in (("object", place.object), ("metadata", place.metadata)):
        content = sealed_files.read_regular(folder / name)
        if content is None:
            return None
        found[kind] = hashlib.sha256(content).hexdigest()
    return json.dumps(found, sort_keys=True).encode()


def load(module: Any, device: wp.Device) -> None:
    """Load a module that Warp may have loaded already; compile it first if no valid object is
    cached."""
    if (None, BLOCK) in module.execs or not all(hasattr(module, name) for name in PRIVATE):
        wp.force_load(device, [module])
        return
    place = place_of(module, device)
    if not wp.config.cache_kernels or not is_whole(place):
        compile_module(module, place)
    module.load(
        device,
        block_dim=BLOCK,
        binary_path=str(place.folder / place.object),
        meta_path=str(place.folder / place.metadata),
    )


def compile_module(module: Any, place: ObjectFiles) -> None:
    """Compile a module into Warp's cache. OSError: it cannot be written."""
    options = module.resolved_options[BLOCK] | {"output_arch": None}
    source, ending, metadata, *_ = module._run_codegen(options, True)
    build_object(place, source, ending, lambda path: module._write_meta(path, metadata), options)


def build_object(
    place: ObjectFiles,
    source: str,
    ending: str,
    write_metadata: Callable[[Path], object],
    options: dict[str, Any],
) -> None:
    """Compile a source in a new folder, and move its files to their place. OSError: they cannot be
    written."""
    root = place.folder.parent
    sealed_files.make_folder(root)
    made = Path(tempfile.mkdtemp(prefix=f"{place.folder.name}_", suffix="_build", dir=root))
    try:
        source_file = made / f"{place.folder.name}.{ending}"
        source_file.write_text(source, encoding="utf-8")
        write_metadata(made / place.metadata)
        _compile(source_file, made / place.object, options)
        _keep(made, source_file.name, place)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _compile(source: Path, object_file: Path, options: dict[str, Any]) -> None:
    """Compile a source in a separate process, or in this process if there is enough disk space."""
    header = options["use_precompiled_headers"]
    level = options["optimization_level"]
    compiler = getattr(_library(), "wp_compile_cpp", None)
    common = {
        "verify_fp": options["verify_fp"],
        "fuse_fp": options["fuse_fp"],
        "optimization_level": 2 if level is None else level,
        "verbose": wp.config.log_level <= wp.LOG_DEBUG,
        "block_dim": options["block_dim"],
    }
    extra_flags, include = options["cpu_compiler_flags"], options["extra_cpu_include_dirs"]
    if in_child(compiler):
        flags = extra_flags.split()
        for folder in include:
            flags += ["-I", os.path.realpath(folder)]
        compile_object(
            {
                **common,
                "library": _library()._name,
                "source": str(source),
                "include": str(Path(build.warp_home, "native")),
                "object": str(object_file),
                "debug": options["mode"] == "debug",
                "tiles_in_stack_memory": options["enable_tiles_in_stack_memory"],
                "flags": flags,
                "header_folder": str(compiler_folder()) if header else None,
            },
            background.NICENESS if background.in_background() else 0,
        )
    else:
        # Clang would end this process on a full disk, so check the free space first.
        check_room(object_file.parent, SPACE + SPACE_PER_CHARACTER * source.stat().st_size)
        if header and not has_header():
            check_room(Path(tempfile.gettempdir()), SPACE_FOR_HEADER)
        build.build_cpu(
            str(object_file),
            str(source),
            mode=options["mode"],
            fast_math=options["fast_math"],
            extra_flags=extra_flags,
            use_precompiled_headers=header,
            pch_dir=str(compiler_folder()) if header else None,
            enable_tiles_in_stack_memory=options["enable_tiles_in_stack_memory"],
            extra_include_dirs=include,
            **common,
        )


def _library() -> Any:
    """Warp's loaded compiler library."""
    return getattr(context.runtime, "llvm", None)


def check_room(folder: Path, needed: int) -> None:
    """Raise OSError if a folder has less free space, because Clang would end this process."""
    status = os.statvfs(folder)
    free = status.f_bavail * status.f_frsize
    if free < needed:
        text = f"No space left on device ({needed:,} bytes needed in {folder}, {free:,} are free)"
        raise OSError(errno.ENOSPC, text)


def _keep(made: Path, source: str, place: ObjectFiles) -> None:
    """Move the files of a build to their place, with their hashes."""
    if not sealed_files.is_shared():
        for each in made.iterdir():
            each.chmod(0o600)  # whatever the umask is
    hashes = _hashes(place, made)
    if hashes is None:
        raise OSError(errno.EIO, "the compiler left no object file")
    with (made / place.object).open("rb") as stream:
        os.fsync(stream.fileno())
    sealed_files.write(made / place.hashes.name, hashes)
    reason = sealed_files.distrust_folder(place.folder)
    if reason:
        text = f"what lies at {place.folder} cannot be used, {reason}; remove it"
        raise OSError(errno.EPERM, text)
    sealed_files.discard(place.folder)  # a file, or an empty folder
    sealed_files.make_folder(place.folder)
    # The hashes come last, because a kernel without them is compiled again.
    for name in (source, place.metadata, place.object, place.hashes.name):
        target = place.folder / name
        if target.is_dir() and not target.is_symlink():
            with suppress(OSError):
                target.rmdir()
        (made / name).replace(target)
