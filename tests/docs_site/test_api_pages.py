"""The API reference has every public name."""

from __future__ import annotations

import importlib
import inspect
import re
from collections import Counter
from pathlib import Path

import pytest

import warpdyn as wd
from docs_site import api_pages

DIRECTIVE = re.compile(r"^\.\. auto(\w+):: (\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return api_pages.pages()


def test_every_public_name_is_described_once(pages: dict[str, str]) -> None:
    """They are those of `wd`, its namespaces, `warpdyn.labels`, `warpdyn.rl` and
    `warpdyn.viewer`."""
    told = Counter(path for text in pages.values() for _, path in DIRECTIVE.findall(text))
    wanted = {f"warpdyn.{name}" for name in wd.__all__ if not inspect.ismodule(getattr(wd, name))}
    wanted |= {wd.inertial.__name__}
    for module in (*api_pages.NAMESPACES, *api_pages.OTHER_MODULES):
        wanted |= {f"{module}.{name}" for name in importlib.import_module(module).__all__}
    assert not wanted - set(told)
    assert max(told.values()) == 1


def test_described_objects_exist_and_have_docstrings(pages: dict[str, str]) -> None:
    """Each path leads to an object. Functions and classes have a docstring."""
    for text in pages.values():
        for kind, path in DIRECTIVE.findall(text):
            if kind == "module":
                assert importlib.import_module(path).__doc__
                continue
            module, _, name = path.rpartition(".")
            thing = getattr(importlib.import_module(module), name)
            assert kind == "data" or inspect.getdoc(thing), path


def test_every_page_is_in_the_index(pages: dict[str, str]) -> None:
    """It occurs once, and the index lists no page that does not exist."""
    trees = re.findall(r"```\{toctree\}\n:maxdepth: 1\n\n(.*?)\n```", pages["index"], re.DOTALL)
    named = [name for tree in trees for name in tree.splitlines()]
    assert sorted(named) == sorted(set(pages) - {"index"})
    assert all(text.startswith("# ") for text in pages.values())


def test_functions_are_grouped_by_family() -> None:
    """`rnea` is with `aba`. A name of two modules is on the page where a reader would look for
    it."""
    families = api_pages.families()
    assert {"rnea", "aba", "crba"} <= set(families["warpdyn.functions.dynamics"])
    assert "ContactPoint" in families["warpdyn.functions.simulation.contact_points"]
    assert sum(map(len, families.values())) == len(wd.__all__)


def test_the_pages_of_namespaces_are_complete() -> None:
    """Each module in `wd.__all__` that defines `__all__` has a page, and each of its names is
    public."""
    spaces = {name for name in wd.__all__ if hasattr(getattr(wd, name), "__all__")}
    assert {f"warpdyn.{name}" for name in spaces} == set(api_pages.NAMESPACES)


def test_public_names_have_the_order_of_the_pages() -> None:
    """`wd.__all__` is grouped by page, with the page's title in a comment above each group."""
    pages = [
        (module, api_pages.in_order(names, module.rpartition(".")[2]))
        for module, names in api_pages.families().items()
        if module not in api_pages.NAMESPACES
    ]
    groups = re.findall(r"^    # (.+)\n((?:    \"\w+\",\n)+)", inspect.getsource(wd), re.MULTILINE)
    titles, written = [title for title, _ in groups], [names.split() for _, names in groups]
    assert titles == [*(api_pages.title(module) for module, _ in pages), "Namespaces"]
    assert [[name.strip('",') for name in names] for names in written[:-1]] == [
        names for _, names in pages
    ]
    assert [name for group in written for name in group] == [f'"{name}",' for name in wd.__all__]


def test_every_algorithm_file_is_included_unchanged(pages: dict[str, str]) -> None:
    """Each file of warpdyn/algorithms/ has a page that includes it instead of a copy."""
    folder = Path(wd.__file__).parents[1]
    for path in folder.glob("warpdyn/algorithms/**/*.py"):
        if path.stem != "__init__":
            place = path.relative_to(folder).as_posix()
            assert f"{{literalinclude}} ../../{place}" in pages[f"text_{path.stem}"]


def test_data_has_the_docstring_of_its_module() -> None:
    """It is not that of `dict`. Without a docstring below the name there is none."""
    assert api_pages.value_docstring("warpdyn.description.KINDS").startswith("Joint kinds by name")
    assert api_pages.value_docstring("warpdyn.rl.TASKS").startswith("Tasks that come with warpdyn")
    assert (
        api_pages.value_docstring("warpdyn.config")
        == api_pages.value_docstring("warpdyn.inertial.ENTRIES")
        == ""
    )


def test_a_page_begins_with_the_function_of_its_name(pages: dict[str, str]) -> None:
    """Other functions follow, then classes of results."""
    page = pages["states"]
    assert page.index("autofunction:: warpdyn.random_state") < page.index("warpdyn.ModelState")
    assert api_pages.in_order(["Solution", "near", "reach"], "reach") == [
        "reach",
        "near",
        "Solution",
    ]


def test_pages_of_the_reference_and_of_the_guide_have_different_titles(
    pages: dict[str, str],
) -> None:
    """A search shows only titles."""
    folder = Path(wd.__file__).parents[1] / "docs"
    guide = {page.read_text().partition("\n")[0].lower() for page in folder.glob("*.md")}
    for name, text in pages.items():
        assert text.partition("\n")[0].lower() not in guide, name
