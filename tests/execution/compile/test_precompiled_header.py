"""Warp's parsed headers, kept for the next process; what is spoilt is dropped."""

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
"""A right result, whether a header was there, how many are kept after it, and in use."""


def without_kernels(folder: Path) -> dict[str, bytes]:
    """Remove Warp's kernels; returns the object files that they held, without Warp's hashes."""
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
    """The second process finds it before it compiles, and compiles the same bytes with it."""
    shutil.copytree(caches, tmp_path, dirs_exist_ok=True)
    first = without_kernels(tmp_path)
    (kept,) = (tmp_path / "programs/headers").glob("*/*.pch")
    made = kept.stat().st_mtime_ns
    said, lines = run(PROGRAM, environment(tmp_path))
    assert said.split() == ["True", "True", "1", "1"] and lines == []
    assert first and without_kernels(tmp_path) == first and kept.stat().st_mtime_ns == made


def test_a_spoilt_header_is_dropped(caches: Path, tmp_path: Path) -> None:
    """One that Clang refuses is gone after the compile, which succeeds; one with another hash never
    reaches Clang, and is made again."""
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


def test_a_full_disk_leaves_no_half_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where the compiler looks nor in the cache, and a line says that none is kept."""
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


def test_the_first_header_makes_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It creates missing folders, parents included, marks the cache as ours, and prints nothing."""
    cache = tmp_path / "home" / "cache"
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(cache))
    said: list[str] = []
    monkeypatch.setattr(precompiled_header, "tell_unwritable", lambda _, why: said.append(why))
    (tmp_path / "builtin_x.pch").write_bytes(b"a header")
    kept = cache / "headers" / "0123456789abcdef"
    precompiled_header._keep([tmp_path / "builtin_x.pch"], kept)
    assert sealed_files.read(kept / "builtin_x.pch") == b"a header"
    assert sealed_files.is_tagged(cache) and not said


def test_without_warps_name_for_the_place_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `wp.config.use_precompiled_headers = False`: compiled as Warp does."""
    monkeypatch.setattr(precompiled_header.context, "runtime", object())
    assert precompiled_header.compiler_folder() is None and not precompiled_header.has_header()
    with precompiled_header.shared_header():
        pass
    monkeypatch.undo()
    monkeypatch.setattr(precompiled_header.wp.config, "use_precompiled_headers", False)
    assert precompiled_header.compiler_folder() is None
