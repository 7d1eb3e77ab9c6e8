"""Warp's precompiled headers, stored for the next process; damaged ones are removed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from fresh_caches import environment, run

from warpdyn.execution.compile import precompiled_header, sealed_files

PROGRAM = """
import time
from pathlib import Path
import numpy as np
import warpdyn as wd
from warpdyn.execution.compile.compiling import has_header
from warpdyn.execution.compile.kernel_cache import start_kernel_cache
from warpdyn.execution.compile.precompiled_header import compiler_folder, kept_headers
start_kernel_cache()
there = has_header()
model, z = wd.load_robot("cartpole"), np.zeros((1, 2))
print(wd.crba(model, z).sum() > 0, there, len(list(kept_headers().glob("*"))), len(list(compiler_folder().glob("*"))))
"""
"""Prints whether the result is right, whether a header existed, and how many are stored and in use."""


def without_kernels(folder: Path) -> dict[str, bytes]:
    """Remove Warp's kernels. Return the object files without Warp's hashes."""
    objects = {path.name: path.read_bytes() for path in folder.glob("kernels/*/*/*.o")}
    os.system(f"rm -r '{folder}/kernels'")
    return objects


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Caches of a process that found no header and made one."""
    folder = tmp_path_factory.mktemp("caches")
    said, _ = run(PROGRAM, environment(folder, WARPDYN_COMPILE="wait"))
    assert said.split() == ["True", "False", "1", "1"]
    return folder


def test_a_header_is_made_once_and_used_by_the_next_process(caches: Path, tmp_path: Path) -> None:
    """The next process finds it before it compiles, and compiles the same bits with it."""
    shutil.copytree(caches, tmp_path, dirs_exist_ok=True)
    first = without_kernels(tmp_path)
    (kept,) = (tmp_path / "programs/headers").glob("*/*.pch")
    made = kept.stat().st_mtime_ns
    said, lines = run(PROGRAM, environment(tmp_path))
    assert said.split() == ["True", "True", "1", "1"] and lines == []
    assert first and without_kernels(tmp_path) == first and kept.stat().st_mtime_ns == made


def test_a_damaged_header_is_removed(caches: Path, tmp_path: Path) -> None:
    """A header that Clang refuses is removed after the compile, which succeeds. One with a wrong
    hash never reaches Clang, and is made again."""
    shutil.copytree(caches, tmp_path, dirs_exist_ok=True)
    without_kernels(tmp_path)
    (kept,) = (tmp_path / "programs/headers").glob("*/*.pch")
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    said, _ = run(PROGRAM, environment(tmp_path))
    assert said.split() == ["True", "True", "1", "1"] and sealed_files.read(kept) is not None
    without_kernels(tmp_path)
    sealed_files.write(kept, b"no header")
    said, _ = run(PROGRAM, environment(tmp_path))
    assert said.split() == ["True", "True", "0", "0"] and not kept.exists()


def test_a_full_disk_leaves_no_partial_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is none in the compiler's folder and none in the cache. One line says that no header is
    stored."""
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path / "cache"))
    said: list[str] = []
    monkeypatch.setattr(precompiled_header, "tell_unwritable", lambda _, why: said.append(why))
    kept = tmp_path / "cache/headers/0123456789abcdef/builtin_x.pch"
    sealed_files.write(kept, b"a header")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert not precompiled_header._lend(kept, tmp_path / "lent.pch")
    assert not (tmp_path / "lent.pch").exists()
    (tmp_path / "builtin_y.pch").touch()
    monkeypatch.setattr(sealed_files.os, "fsync", full)
    precompiled_header._keep([tmp_path / "builtin_y.pch"], kept.parent)
    assert said == ["No space left on device"]
    assert [path.name for path in kept.parent.iterdir()] == [kept.name]


def test_the_first_header_creates_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing parent folders and the tag of the cache are created, too. Nothing is printed."""
    cache = tmp_path / "home" / "cache"
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(cache))
    said: list[str] = []
    monkeypatch.setattr(precompiled_header, "tell_unwritable", lambda _, why: said.append(why))
    (tmp_path / "builtin_x.pch").write_bytes(b"a header")
    kept = cache / "headers" / "0123456789abcdef"
    precompiled_header._keep([tmp_path / "builtin_x.pch"], kept)
    assert sealed_files.read(kept / "builtin_x.pch") == b"a header"
    assert sealed_files.is_tagged(cache) and not said


def test_no_header_is_stored_without_warps_function_for_the_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Warp then compiles in its own way, as with `wp.config.use_precompiled_headers = False`."""
    monkeypatch.setattr(precompiled_header.context, "runtime", object())
    assert precompiled_header.compiler_folder() is None and not precompiled_header.has_header()
    with precompiled_header.shared_header():
        pass
    monkeypatch.undo()
    monkeypatch.setattr(precompiled_header.wp.config, "use_precompiled_headers", False)
    assert precompiled_header.compiler_folder() is None
