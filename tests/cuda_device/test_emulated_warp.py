"""The copy of Warp with the emulated device: its version, and its separation from the installed
one."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest
from cuda_device import emulated_warp


def package_of_version(folder: Path, version: str) -> Path:
    (folder / "config.py").write_text(f'version: str = "{version}"\n')
    return folder


def test_another_version_of_warp_is_refused(tmp_path: Path) -> None:
    """The refusal lists the files to compare and change."""
    emulated_warp.check_version(package_of_version(tmp_path, emulated_warp.WARP_VERSION))
    with pytest.raises(RuntimeError, match=r"and Warp 9\.9\.9 is installed") as refused:
        emulated_warp.check_version(package_of_version(tmp_path, "9.9.9"))
    assert "warp/native/warp.h" in str(refused.value)


def test_the_emulation_was_written_for_the_installed_warp() -> None:
    assert importlib.metadata.version("warp-lang") == emulated_warp.WARP_VERSION
    emulated_warp.check_version(emulated_warp.installed_package())


def test_the_installed_package_is_not_the_copy() -> None:
    """This holds in a process that imports the copy, too."""
    assert not emulated_warp.installed_package().is_relative_to(emulated_warp.BUILD)


def test_no_source_is_longer_than_400_lines() -> None:
    """A file has one subject."""
    for path in emulated_warp.SOURCES.iterdir():
        assert len(path.read_text().splitlines()) <= 400, path.name


PASSED_ON = re.compile("wp_cuda_compile_|wp_cuda_toolkit_version|wp_apic_|wp_marching_cubes_")
"""Functions that work without a device: NVRTC, and Warp's own recorder of launches. Marching cubes are declared, but
not in the library."""


def test_every_function_for_the_device_is_emulated_or_refused() -> None:
    """Warp's header lists them. A function that is missing here would call CUDA's driver."""
    header = (emulated_warp.installed_package() / "native" / "warp.h").read_text()
    named = set(re.findall(r"\b(wp_cuda_\w+|wp_\w+_device(?:_\w+)?)\(", header))
    assert len(named) > 150
    sources = "".join(path.read_text() for path in emulated_warp.SOURCES.glob("warp_*.cpp"))
    here = set(re.findall(r"\b(wp_\w+)\(|REFUSED\((wp_\w+)\)", sources))
    known = {name for names in here for name in names}
    assert {name for name in named - known if not PASSED_ON.match(name)} == set()
