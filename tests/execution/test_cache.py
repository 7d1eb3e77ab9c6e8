"""What is kept on disk belongs to the source that recorded and wrote it: all of that, and nothing else."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import warpdyn as wd
from warpdyn.algorithms import manifold, rnea
from warpdyn.algorithms.frames import of_several
from warpdyn.execution.cache import RECORDING, data_files, modules_of, source_files

PACKAGE = Path(wd.__file__).parent

VERSION = """
from warpdyn.functions.manifold import interpolate
from warpdyn.execution.cache import RECORDING, modules_of, source_version
from warpdyn.algorithms import manifold
print(source_version(frozenset({*RECORDING, *modules_of(manifold.interpolate)})))
"""


def version(package: Path) -> str:
    """The version of interpolate's text in a copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent)}
    done = subprocess.run(
        [sys.executable, "-c", VERSION],
        env=environment,
        cwd=package.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("file", "decides"),
    [
        ("algorithms/manifold.py", True),
        ("algebra/scalar.py", True),
        ("algebra/spatial.py", True),
        ("codegen/lanes.py", True),
        ("codegen/lanes.h", True),  # named by a module
        ("codegen/transposes.h", True),  # named by a header
        ("codegen/unnamed.h", False),
        ("robots/panda.urdf", False),
        ("algorithms/rnea.py", False),
        ("cli/main.py", False),
        ("functions/manifold.py", False),
    ],
)
def test_a_changed_file_makes_new_programs_only_where_it_decides_them(
    file: str, decides: bool, tmp_path: Path
) -> None:
    """A line in what a text, the recorder or the writer imports or names as a data file changes the
    key; one anywhere else does not."""
    copy = tmp_path / "warpdyn"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    before = version(copy)
    with (copy / file).open("a") as source:
        source.write("# changed\n")
    assert (version(copy) != before) is decides


def test_every_import_is_followed() -> None:
    """As Python's own parser sees the imports, those inside functions too, each file's are among the files hashed."""
    files = source_files([*RECORDING, rnea.__name__])
    names = {
        ".".join(("warpdyn", *p.relative_to(PACKAGE).with_suffix("").parts))
        for p in PACKAGE.rglob("*.py")
    }
    for module, path in files.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                above = (
                    module.split(".")[: -node.level]
                    if path.name != "__init__.py"
                    else module.split(".")
                )
                start = (
                    ".".join([*above, *filter(None, [node.module])])
                    if node.level
                    else str(node.module)
                )
                imported = {start, *(f"{start}.{alias.name}" for alias in node.names)} & names
                assert imported <= set(files), f"{module} imports {imported}"


def test_every_header_counts() -> None:
    """Each C++ header of the package is named by a module that decides programs."""
    named = {data for path in source_files(RECORDING).values() for data in data_files(path)}
    assert set(PACKAGE.rglob("*.h")) <= named


def test_what_is_wrapped_is_followed() -> None:
    """A text made of another one belongs to both modules."""
    assert modules_of(partial(rnea.rnea, gravity=(0, 0, 0))) == {rnea.__name__}
    wrapped = of_several(manifold.interpolate)
    assert modules_of(wrapped) == {of_several.__module__, manifold.__name__}
