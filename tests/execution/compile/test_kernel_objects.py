"""Compiled kernels: loaded only if they are unchanged, compiled again if they are damaged."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import warp as wp
from fresh_caches import ONE_CALL, environment_with_header, run

import warpdyn as wd
from warpdyn.execution.compile import kernel_objects
from warpdyn.execution.compile import kernel_objects as chosen
from warpdyn.execution.compile.kernel_objects import compile_module, is_whole, place_of
from warpdyn.execution.launch.launch import prepare

Z = np.zeros((1, 2))
numbers = itertools.count(1)
NOBODY = 65534


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module that is not compiled, with an empty cache."""
    model = wd.load_robot("cartpole").with_armature(0.125 + next(numbers) / 1024)
    kernel = prepare(wd.crba.describe(model, Z)).kernel
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path / "kernels"))
    return kernel.warp_kernel.module


def flip(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2] ^= 16
    path.write_bytes(whole)


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def replace_by_link(path: Path) -> None:
    path.rename(path.with_suffix(".else"))
    path.symlink_to(path.with_suffix(".else"))


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def truncate(path: Path) -> None:
    path.write_bytes(b"")


def test_a_damaged_kernel_is_compiled_again(module: Any) -> None:
    """Damage of the object, of Warp's metadata or of our hashes means that there is no kernel. A
    compile replaces all three."""
    place = place_of(module, wp.get_device("cpu"))
    assert not is_whole(place)
    compile_module(module, place)
    assert is_whole(place) and [path.name for path in place.folder.parent.iterdir()] == [
        place.folder.name
    ]
    first = (place.folder / place.object).read_bytes()
    for k, damage in enumerate((flip, fifo, replace_by_link, folder, truncate, Path.unlink)):
        name = (place.object, place.metadata, place.hashes.name)[k % 3]
        damage(place.folder / name)
        assert not is_whole(place), (damage, name)
        compile_module(module, place)
        assert is_whole(place)
        assert (place.folder / place.object).read_bytes() == first


def test_a_damaged_object_is_replaced(tmp_path: Path) -> None:
    """The process that finds it computes the right result, and the next process compiles
    nothing."""
    surroundings = environment_with_header(tmp_path)
    run(ONE_CALL, surroundings)
    (found,) = (tmp_path / "kernels").glob("*/*/*.o")
    truncate(found)
    said, _ = run(ONE_CALL, surroundings)
    assert said == "0.0\n" and found.stat().st_size > 1000
    assert run(ONE_CALL, surroundings) == ("0.0\n", [])


def test_a_folder_of_others_is_refused(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is neither read nor written. A link is not accepted as a folder either."""
    place = place_of(module, wp.get_device("cpu"))
    compile_module(module, place)
    place.folder.chmod(0o777)
    assert not is_whole(place)
    with pytest.raises(OSError, match=r"every user can write to it; remove it"):
        compile_module(module, place)
    monkeypatch.setenv("WARPDYN_CACHE_SHARED", "1")
    assert is_whole(place)
    monkeypatch.delenv("WARPDYN_CACHE_SHARED")
    place.folder.chmod(0o700)
    place.folder.rename(place.folder.with_name("elsewhere"))
    place.folder.symlink_to("elsewhere")
    assert not is_whole(place)
    if os.geteuid() == 0:
        place.folder.unlink()
        place.folder.mkdir()
        os.chown(place.folder, NOBODY, NOBODY)
        with pytest.raises(OSError, match=f"belongs to user {NOBODY}; remove it"):
            compile_module(module, place)


def test_both_ways_to_compile_give_the_same_object(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This process and a child process give the same bytes."""
    place, found = place_of(module, wp.get_device("cpu")), []
    for where in ("0", "1"):
        monkeypatch.setenv("WARPDYN_COMPILE_IN_CHILD", where)
        compile_module(module, place)
        found.append((place.folder / place.object).read_bytes())
    assert found[0] == found[1]


def test_nothing_is_compiled_in_this_process_without_room(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clang would end the process, so the room on the disk is checked first."""
    monkeypatch.setenv("WARPDYN_COMPILE_IN_CHILD", "0")
    room = SimpleNamespace(f_bavail=100, f_frsize=4096)
    monkeypatch.setattr(kernel_objects.os, "statvfs", lambda _: room)
    monkeypatch.setattr(kernel_objects.build, "build_cpu", lambda *_, **__: pytest.fail("compiled"))
    with pytest.raises(OSError, match=r"No space left on device \(1,\d+,\d+ bytes needed in"):
        compile_module(module, place_of(module, wp.get_device("cpu")))


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.BLOCK == 1
    assert chosen.SPACE_PER_CHARACTER == 8
    assert chosen.SPACE == 1_048_576
    assert chosen.SPACE_FOR_HEADER == 16_777_216
