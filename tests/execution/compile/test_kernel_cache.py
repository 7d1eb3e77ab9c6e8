"""Warp's cache: what it contains, and what happens if it cannot be written."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from fresh_caches import ONE_CALL, environment_with_header, run

import warpdyn as wd
from warpdyn.cli import command_line
from warpdyn.execution.compile import c_object, kernel_cache
from warpdyn.execution.compile.kernel import BLOCK
from warpdyn.execution.compile.kernel_cache import (
    KERNELS,
    has_compiled,
    kernel_cache_directory,
    kernel_folders,
)
from warpdyn.execution.launch import launch
from warpdyn.execution.launch.launch import prepare
from warpdyn.functions.export import compile_ahead
from warpdyn.labels import labelling

CARTPOLE = wd.load_robot("cartpole")


def test_a_launched_kernel_is_in_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is not there before its first launch with an empty cache, or without a cache."""
    model, z = wd.load_robot("cartpole").with_armature(0.7), np.zeros((1, 2))
    kernel = prepare(wd.crba.describe(model, z)).kernel
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    assert not has_compiled(kernel.warp_kernel, kernel.device, BLOCK) and kernel_folders() == []
    wd.crba(model, z)
    assert has_compiled(kernel.warp_kernel, kernel.device, BLOCK)
    (tmp_path / f"{KERNELS}file").write_text("")
    (tmp_path / f"{KERNELS}link").symlink_to(tmp_path)
    (folder,) = kernel_folders()
    assert folder.parent == kernel_cache_directory() == tmp_path
    monkeypatch.setattr(wp.config, "cache_kernels", False)
    assert not has_compiled(kernel.warp_kernel, kernel.device, BLOCK)


def test_a_cache_that_cannot_be_created_is_reported_in_one_line(tmp_path: Path) -> None:
    """A file has the name of the folder. The result is right, and no file is left behind."""
    (tmp_path / "kernels").write_text("")
    (tmp_path / "temporary").mkdir()
    changes = {"TMPDIR": str(tmp_path / "temporary")}
    said, lines = run(ONE_CALL, environment_with_header(tmp_path, **changes))
    (warning,) = [line for line in lines if "warning" in line]
    assert said == "0.0\n" and lines[0] == warning
    assert warning.startswith(
        "warpdyn: warning: Warp cannot keep compiled kernels in "
        f"{tmp_path}/kernels/{wp.__version__} (Not a directory)"
    )
    assert "Set WARP_CACHE_PATH" in warning
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_read_only_folder_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder exists. Warp then uses another one, also after its initialisation."""
    said: list[str] = []
    monkeypatch.setattr(kernel_cache, "say", said.append)
    read_only = "/proc/self" if sys.platform == "linux" else str(tmp_path / "none")
    monkeypatch.setattr(wp.config, "kernel_cache_dir", read_only)
    monkeypatch.setattr(kernel_cache.kernel_objects, "read_only", [])
    kernel_cache.start_kernel_cache.__wrapped__()
    assert len(said) == 1 and read_only in said[0]
    assert os.access(kernel_cache_directory(), os.W_OK)
    assert str(kernel_cache_directory()) != read_only
    kernel_cache.start_kernel_cache.__wrapped__()
    assert len(said) == 1


IN_AN_IMAGE = """
import sys
import numpy as np
import warpdyn as wd
from warpdyn.execution.compile import kernel_cache, kernel_objects
def refuse(*_):
    raise OSError(30, "Read-only file system")
if sys.argv[1] == "use":
    kernel_cache._probe = kernel_objects._compile = refuse
model, z = wd.load_robot("cartpole"), np.zeros((1, 2))
print(wd.rnea(model, z, z, z).sum())
wd.config.compile = "never"
print(wd.crba(model, z).sum() > 0)
"""
"""One compiled call and one interpreted one. The second process can neither write nor compile."""


def test_the_kernels_of_a_read_only_cache_are_used(tmp_path: Path) -> None:
    """The interpreter is among them. A cache in which others can write is not used."""
    changed = environment_with_header(tmp_path, WARPDYN_COMPILE="wait")
    made, _ = run(IN_AN_IMAGE, changed, "make")
    used, lines = run(IN_AN_IMAGE, changed, "use")
    assert made == used == "0.0\nTrue\n" and "Read-only file system" in "".join(lines)
    (tmp_path / "kernels" / wp.__version__).chmod(0o777)
    with pytest.raises(AssertionError, match="Read-only file system"):
        run(IN_AN_IMAGE, changed, "use")


def test_only_an_empty_folder_that_others_can_write_is_closed(tmp_path: Path) -> None:
    """A folder with files is refused. A trusted folder keeps its permissions."""
    for mode, files, wanted in ((0o755, 0, 0o755), (0o777, 0, 0o700), (0o777, 1, None)):
        folder = tmp_path / f"{mode:o}{files}"
        folder.mkdir()
        folder.chmod(mode)
        if files:
            (folder / "kernel").write_text("")
        if wanted is None:
            with pytest.raises(OSError, match="every user can write to it, and kernels in it"):
                kernel_cache._probe(folder)
        else:
            kernel_cache._probe(folder)
            assert folder.stat().st_mode & 0o777 == wanted


def test_one_error_reports_that_no_folder_is_writable(tmp_path: Path) -> None:
    """The folders are the cache and a temporary folder."""
    program = f"""
import tempfile
import warpdyn as wd
def refused(**options):
    raise PermissionError(13, "Permission denied")
tempfile.TemporaryDirectory = refused
try:
    exec({ONE_CALL!r})
except OSError as error:
    print(error.strerror)
"""
    (tmp_path / "kernels").write_text("")
    said, _ = run(program, environment_with_header(tmp_path))
    assert said.startswith(f"kernels can be compiled neither into {tmp_path}/kernels")
    assert said.endswith("set WARP_CACHE_PATH, or TMPDIR, to a folder that can be written\n")
    assert said.count("\n") == 1


FIRST_USES: dict[str, Callable[[], object]] = {
    "cli.command_line": lambda: command_line.start_warp(),
    "execution.compile.c_object": lambda: c_object.is_possible(),
    "execution.launch.launch": lambda: launch._make_kernel(*[None] * 5),  # type: ignore[arg-type]
    "functions.export.compile_ahead": lambda: compile_ahead.zeros_of("float32", "cpu"),
    "functions.manifold": lambda: wd.random_configuration(CARTPOLE, 2),
    "functions.randomise": lambda: wd.randomise(CARTPOLE, 2, mass=wd.random.scale(0.9, 1.1)),
    "labels.labelling": lambda: labelling.prepare_labelling(
        CARTPOLE, "none.csv", "rnea", Path("out"), None, "none", ""
    ),
}


@pytest.mark.parametrize("module", FIRST_USES)
def test_each_first_use_of_warp_starts_the_cache(
    module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise Warp compiles into its own folder. Each of these can be the first call of a process."""

    class StartedError(Exception):
        pass

    def start() -> None:
        raise StartedError

    monkeypatch.setattr(f"warpdyn.{module}.start_kernel_cache", start)
    with pytest.raises(StartedError):
        FIRST_USES[module]()
