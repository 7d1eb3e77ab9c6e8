"""Names that have moved into a namespace still work, and their warning names the new place."""

from __future__ import annotations

import ast
import pickle
import re
import subprocess
import sys
import warnings
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from public_names import public_names

import warpdyn as wd
from warpdyn.execution.batched import Function
from warpdyn.old_names import RENAMED

TEXTS = {".py", ".pyi", ".md", ".txt", ".ipynb"}
OLD = re.compile(rf"(?<![\w.])wd\.({'|'.join(RENAMED)})\b")


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_name_warns_and_is_the_same_object(old: str, new: str) -> None:
    """The warning names the new name and this file."""
    with pytest.warns(DeprecationWarning, match=rf"^wd\.{old} has moved; use wd\.{new}$") as told:
        found = getattr(wd, old)
    assert found is attrgetter(new)(wd)
    assert {each.filename for each in told} == {__file__}


def test_an_old_name_can_be_imported() -> None:
    """The warning names the line of the import."""
    code = "import warpdyn\nfrom warpdyn import convert_twist"
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    message = "<string>:2: DeprecationWarning: wd.convert_twist has moved; use wd.convert.twist"
    assert message in done.stderr.splitlines()


def test_old_names_are_not_public() -> None:
    """They are in neither `__all__` nor `dir`. Each new name is public."""
    assert not set(RENAMED) & {*wd.__all__, *dir(wd)}
    assert set(RENAMED.values()) - set(public_names()) == {"labels.label"}
    assert "label" in wd.labels.__all__


def test_type_checkers_know_the_old_names() -> None:
    """`old_names` declares those of the table, and `__init__` those of rooms that are imported on
    first use."""
    found: set[str] = set()
    for module in ("old_names", "__init__"):
        tree = ast.parse((Path(wd.__file__).parent / f"{module}.py").read_text())
        (block,) = [
            node
            for node in tree.body
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ]
        for node in block.body:
            assert isinstance(node, ast.ImportFrom)
            found |= {alias.asname for alias in node.names if alias.asname is not None}
    assert found == {*RENAMED, "labels", "viewer"}


@pytest.mark.parametrize("old", [name for name in RENAMED if name != "label"])
def test_pickles_of_old_versions_load(old: str) -> None:
    """A pickle that names the defining module loads without a warning. One that names the old
    public name loads with a warning."""
    thing: Any = attrgetter(RENAMED[old])(wd)
    if isinstance(thing, (Function, type)) or callable(thing):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            data = pickle.dumps(thing)
            assert pickle.loads(data) is thing and f"warpdyn.{RENAMED[old]}".encode() not in data
    by_name = b"cwarpdyn\n" + old.encode() + b"\n."
    with pytest.warns(DeprecationWarning, match=f"wd.{old} has moved"):
        assert pickle.loads(by_name) is thing


def test_warpdyn_uses_no_old_name() -> None:
    """No file of the library, node, pages, examples or benchmarks has an old name after `wd.`."""
    root = Path(__file__).parents[1]
    folders = (
        "warpdyn",
        "ros2_node",
        "docs_site",
        "docs",
        "examples",
        "benchmarks",
        "scripts",
        "launch",
    )
    files = [p for each in folders for p in (root / each).rglob("*") if p.is_file()]
    texts = [p for p in (*files, root / "README.md") if p.suffix in TEXTS]
    found = {
        (path.relative_to(root).as_posix(), name)
        for path in texts
        for name in OLD.findall(path.read_text(errors="ignore"))
    }
    assert not found
