"""C++ code without Warp's headers, compiled into Warp's cache."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest
import warp as wp

from warpdyn.execution.compile import c_object
from warpdyn.execution.compile import c_object as chosen

SOURCE = 'extern "C" int twice(int x) { return 2 * x; }'


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert c_object.is_possible()
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    return tmp_path


def test_a_function_is_compiled_once_and_called(empty_cache: Path) -> None:
    assert not c_object.is_compiled("numbers", SOURCE)
    address = c_object.load_object("numbers", SOURCE, "twice")
    assert ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(address)(21) == 42
    assert c_object.is_compiled("numbers", SOURCE)
    (folder,) = empty_cache.iterdir()
    assert folder.name.startswith("wp_warpdyn_numbers_")


def test_a_damaged_object_is_compiled_again(empty_cache: Path) -> None:
    source = SOURCE + "// damaged"
    c_object.load_object("numbers", source, "twice")
    (file,) = empty_cache.glob("*/numbers.o")
    file.write_bytes(file.read_bytes()[:-1])
    assert not c_object.is_compiled("numbers", source)


def test_a_missing_function_is_an_error(empty_cache: Path) -> None:
    with pytest.raises(RuntimeError, match="has no function thrice"):
        c_object.load_object("numbers", SOURCE + "// missing", "thrice")


def test_compiling_is_impossible_without_the_functions_of_warp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(c_object, "FUNCTIONS", ("no_such_function",))
    assert not c_object.is_possible()


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.LEVEL == 1
