"""A copy of Warp whose "cuda:0" is emulated.

`python tests/cuda_device/emulated_warp.py` builds it and prints its folder. Processes with this
folder first on PYTHONPATH import the copy. `environment()` gives such an environment. With
`--objects` the command only compiles the C++ files, for which Warp need not be installed.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

WARP_VERSION = "1.19.0"
"""The version whose C interface (warp/native/warp.h) the files in native/ follow."""

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "native"
BUILD = HERE.parents[1] / "build" / "cuda_device"
SITE = BUILD / "site"
"""The folder for PYTHONPATH: it holds the package `warp`."""

LIBRARY = SITE / "warp" / "bin" / "warp.so"

COMPILER = os.environ.get("CXX", "g++")
FLAGS = [
    *("-std=c++20", "-O1", "-ftree-vectorize", "-march=native", "-fPIC", "-fvisibility=hidden"),
    *("-Wall", "-Wextra", "-fno-trapping-math", "-fno-math-errno"),
    *("-ffp-contract=off", "-frounding-math"),
]
"""The last two: a product and a sum are rounded separately, in the direction that is set when they run."""

LEFT_OUT = ("bin", "native", "tests", "examples", "__pycache__")
"""Folders of the package that are not copied."""


def site() -> Path:
    """The folder for PYTHONPATH, built if it is missing or out of date."""
    package = installed_package()
    check_version(package)
    with alone():
        copy_package(package)
        link_library(compile_sources())
    return SITE


def environment() -> dict[str, str]:
    """This process's environment, in which Python imports the emulated Warp."""
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = [str(site()), *(entry for entry in others if entry and entry != str(SITE))]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def is_imported() -> bool:
    """True if this process's `warp` is the emulated one."""
    spec = importlib.util.find_spec("warp")
    return spec is not None and Path(str(spec.origin)).is_relative_to(SITE)


def installed_package() -> Path:
    """Folder of NVIDIA's package `warp`, even if the copy comes before it on the path."""
    if is_imported():
        return Path((SITE / "package.txt").read_text())
    spec = importlib.util.find_spec("warp")
    if spec is None or spec.origin is None:
        raise RuntimeError("warp is not installed: pip install warp-lang")
    return Path(spec.origin).parent


def check_version(package: Path) -> None:
    """Refuse a version of Warp for which the files in native/ were not written."""
    found = re.search(r'^version: str = "(.*)"', (package / "config.py").read_text(), re.MULTILINE)
    version = found[1] if found else "unknown"
    if version != WARP_VERSION:
        raise RuntimeError(
            f"The emulated CUDA device follows the C interface of Warp {WARP_VERSION}, and Warp {version} is "
            "installed. Compare warp/native/warp.h of both versions, change tests/cuda_device/native/warp_*.cpp "
            "where they differ, and then WARP_VERSION in tests/cuda_device/emulated_warp.py."
        )


@contextmanager
def alone() -> Iterator[None]:
    """Let one process at a time build."""
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def copy_package(package: Path) -> None:
    """Copy the package's Python files, and link its headers and libraries. The copy asks the
    compiler for PTX."""
    note = SITE / "package.txt"
    if note.exists() and note.read_text() == str(package):
        return
    shutil.rmtree(SITE, ignore_errors=True)
    copy = SITE / "warp"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (copy / "native").symlink_to(package / "native")
    (copy / "bin").mkdir()
    (copy / "bin" / "warp_of_nvidia.so").symlink_to(package / "bin" / "warp.so")
    (copy / "bin" / "warp-clang.so").symlink_to(package / "bin" / "warp-clang.so")
    with (copy / "config.py").open("a") as config:
        config.write('\ncuda_output = "ptx"  # the emulated device reads no machine code\n')
    note.write_text(str(package))


def compile_sources() -> list[Path]:
    """Object files of the library that replaces Warp's. Files in native/ that have not changed are
    not compiled again."""
    if shutil.which(COMPILER) is None:
        raise RuntimeError(f"{COMPILER} is not installed: the emulated CUDA device is C++")
    objects = BUILD / "objects"
    objects.mkdir(exist_ok=True)
    # With -march=native the code is for this processor only.
    cpu = Path("/proc/cpuinfo").read_text().splitlines()
    features = next((line for line in cpu if line.startswith(("flags", "Features"))), "")
    headers = features.encode() + b"".join(
        path.read_bytes() for path in sorted(SOURCES.glob("*.h"))
    )
    command = [COMPILER, *FLAGS, f'-DEMULATED_WARP_VERSION="{WARP_VERSION}"']

    def compile_source(source: Path) -> Path:
        content = headers + source.read_bytes() + " ".join(command).encode()
        made = objects / f"{source.stem}.{hashlib.sha256(content).hexdigest()[:16]}.o"
        if not made.exists():
            for old in objects.glob(f"{source.stem}.*.o"):
                old.unlink()
            subprocess.run([*command, "-c", source, "-o", made.with_suffix(".new")], check=True)
            made.with_suffix(".new").rename(made)
        return made

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return list(threads.map(compile_source, sorted(SOURCES.glob("*.cpp"))))


def link_library(objects: list[Path]) -> None:
    """Link the object files, unless the library is made of them already."""
    stamp = BUILD / "linked.txt"
    content = "\n".join(map(str, objects))
    if LIBRARY.exists() and stamp.exists() and stamp.read_text() == content:
        return
    new = LIBRARY.with_suffix(".new")
    link = [
        "-Wl,--no-as-needed",
        f"-L{LIBRARY.parent}",
        "-l:warp_of_nvidia.so",
        "-Wl,-rpath,$ORIGIN",
        "-ldl",
    ]
    subprocess.run([COMPILER, "-shared", "-o", new, *objects, *link], check=True)
    new.rename(LIBRARY)
    stamp.write_text(content)


if __name__ == "__main__":
    if sys.argv[1:] == ["--objects"]:
        with alone():
            compile_sources()
    else:
        print(site())
