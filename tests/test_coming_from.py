"""The tables of docs/coming_from.md name only functions that exist, in warpdyn and in the other
libraries."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import pytest
from public_names import public_names

import warpdyn as wd
import warpdyn.functions

PAGE = (Path(__file__).parents[1] / "docs" / "coming_from.md").read_text()
LINES = [line for line in PAGE.splitlines() if line.startswith("| ")]
CELLS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES]
ROWS = [row for row in CELLS if row[1] != "warpdyn"]
INERTIAL = importlib.import_module("warpdyn.functions.inertial")
MODULES = [
    wd,
    INERTIAL,
    *(
        importlib.import_module(f"warpdyn.functions.{m.name}")
        for m in pkgutil.iter_modules(warpdyn.functions.__path__)
    ),
]


def test_names_of_warpdyn_in_the_tables_exist() -> None:
    """A cell names functions, attributes of a model, or functions of its modules. A cell with
    "none" has a note."""
    model = wd.load_robot("double_pendulum")
    for theirs, ours, note in ROWS:
        assert "`" in theirs
        if ours == "none":
            assert note
            continue
        for name in re.findall(r"`(.*?)`", ours):
            assert re.fullmatch(r"(wd(\.(convert|kernels|random))?|model)\.\w+", name), name
        for name in re.findall(r"\bwd\.(\w+(?:\.\w+)?)", ours + note):
            known = name in public_names() or any(hasattr(module, name) for module in MODULES)
            assert known, f"wd.{name}"
        for name in re.findall(r"\bmodel\.(\w+)", ours + note):
            assert hasattr(model, name), f"model.{name}"
        for name in re.findall(r"\binertial\.(\w+)", note):
            assert hasattr(INERTIAL, name), name


def test_each_function_has_one_row() -> None:
    """A function of another library has one row in its table."""
    seen: set[tuple[str, str]] = set()
    heading = ""
    for theirs, ours, _ in CELLS:
        if ours == "warpdyn":
            heading = theirs
            continue
        assert (heading, theirs) not in seen, theirs
        seen.add((heading, theirs))
    assert len(seen) == len(ROWS) > 150


@pytest.mark.parametrize("title, library", [("Pinocchio", "pinocchio"), ("MuJoCo", "mujoco")])
def test_names_of_other_libraries_in_the_tables_exist(title: str, library: str) -> None:
    """A library that is not installed is skipped."""
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    module = importlib.import_module(library)
    table = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    kinds = {
        "model": getattr(module, "Model", None) or getattr(module, "MjModel", None),
        "data": getattr(module, "MjData", None),
    }
    for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE):
        for name in re.findall(r"`(.*?)`", cell):
            first, _, rest = name.partition(".")
            owner = (
                kinds.get(first)
                or getattr(module, first, None)
                or getattr(getattr(module, "Inertia", None), first, None)
            )
            assert owner is not None, name
            assert not rest or hasattr(owner, rest), name
