"""Every public name has one example, and each example runs and prints its stored output."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("warpdyn.viewer")
pytest.importorskip("torch")
import warpdyn as wd
from docs_site import api_examples, api_pages
from warpdyn.model.old_members import OldMember

EXAMPLES = api_examples.examples()


def described_objects() -> Iterator[tuple[str, Any]]:
    """The objects of the API reference by path: names, and functions of modules that are names."""
    for text in api_pages.pages().values():
        for kind, path in re.findall(r"^\.\. auto(\w+):: (\S+)$", text, re.MULTILINE):
            if kind == "module":
                yield from members(path, importlib.import_module(path))
            else:
                module, _, name = path.rpartition(".")
                yield path, getattr(importlib.import_module(module), name)


def members(path: str, owner: Any) -> Iterator[tuple[str, Any]]:
    """Public functions and classes of a module, or methods of a class. Old names are not public."""
    for name, defined in vars(owner).items():
        if isinstance(defined, OldMember):
            continue
        thing = getattr(owner, name)
        here = inspect.isclass(owner) or getattr(thing, "__module__", None) == path
        data = name in getattr(owner, "__dataclass_fields__", ())
        if callable(thing) and here and not data and not name.startswith("_"):
            yield f"{path}.{name}", thing


def test_every_public_name_has_one_example() -> None:
    """It is in the docstring or in the files, also for each public method of each class. The files
    have no example of a name that is not public."""
    public = dict(described_objects())
    classes = {path: thing for path, thing in public.items() if inspect.isclass(thing)}
    methods = {f"{path}.{name}" for path, thing in classes.items() for name in dir(thing)}
    wanted = dict(public)
    for path, thing in classes.items():
        wanted |= dict(members(path, thing))
    assert "warpdyn.Model.with_payload" in wanted and "warpdyn.viewer.Viewer.add" in wanted
    in_docstrings = {
        path for path, thing in wanted.items() if ">>>" in (inspect.getdoc(thing) or "")
    }
    missing = set(wanted) - in_docstrings - set(EXAMPLES)
    assert not missing
    assert not set(EXAMPLES) & in_docstrings
    assert not set(EXAMPLES) - set(public) - methods


BY_TEXT = {text: path for path, text in EXAMPLES.items()}
"""Once each: a class and the function that gives it may share one."""


@pytest.mark.parametrize(("text", "path"), BY_TEXT.items(), ids=BY_TEXT.values())
def test_an_example_prints_its_stored_output(
    text: str,
    path: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    """It runs without other examples, after the two imports."""
    if ".png(" in text:
        request.getfixturevalue("browser")  # draws the picture
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = {"np": np, "wd": wd}
    test = doctest.DocTestParser().get_doctest(text, names, path, None, None)
    said: list[str] = []
    runner = doctest.DocTestRunner(Checker(), verbose=False)
    failed, tried = runner.run(test, out=said.append)
    assert tried and not failed, "".join(said)


class Checker(doctest.OutputChecker):
    """A comparison that ignores spaces and the sign of zero, which depend on the machine."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(plain(want), plain(got), optionflags)


def plain(text: str) -> str:
    return re.sub(r"-0\.(?!\d)", "0.", re.sub(r"\s+", "", text)) + "\n"


def test_an_example_begins_with_definitions_of_its_names() -> None:
    """They are the lines that define its names, and those that these need. Names that the example
    defines need none."""
    assert api_examples.with_setup(">>> q.shape\n").splitlines() == [
        '>>> model = wd.load_robot("double_pendulum")',
        ">>> q = wd.random_configuration(model, 3, seed=0)",
        ">>> q.shape",
    ]
    own = ">>> q = np.zeros(2)\n>>> (lambda model: model)(q)\n"
    assert api_examples.with_setup(own) == own


def test_the_checker_distinguishes_numbers() -> None:
    """A minus sign counts, except before a zero."""
    checker = Checker()
    assert checker.check_output("array([0., 1.])\n", "array([-0.,  1.])\n", 0)
    assert not checker.check_output("array([0., 1.])\n", "array([0., -1.])\n", 0)
    assert not checker.check_output("-0.5\n", "0.5\n", 0)
