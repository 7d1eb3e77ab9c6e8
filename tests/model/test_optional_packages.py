"""One command for a missing package: it names an extra of setup.py and the folder of the README."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from warpdyn.model import optional_packages
from warpdyn.model.optional_packages import install_extra

ROOT = Path(__file__).parents[2]
SOURCES = [*ROOT.glob("warpdyn/**/*.py"), *ROOT.glob("ros2_node/**/*.py")]
PAGES = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.ipynb")]


def test_the_command_is_that_of_the_readme() -> None:
    command, _, folder = install_extra("viewer").partition(" in ")
    assert command == "pip install '.[viewer]'" and folder == "warpdyn's folder"
    assert "pip install ." in (ROOT / "README.md").read_text()


def test_every_extra_in_an_error_message_exists_in_setup() -> None:
    extras = set(re.findall(r'^        "(\w+)": ', (ROOT / "setup.py").read_text(), re.M))
    named = [
        x
        for p in SOURCES
        for x in re.findall(r"""install_extra\(["']([\w,]+)["']\)""", p.read_text())
    ]
    assert len(named) >= 8
    assert {each for words in named for each in words.split(",")} <= extras


def test_no_text_installs_warpdyn_from_a_package_index() -> None:
    """`pip install 'warpdyn[viewer]'` would search a package index, where another project may have
    the name."""
    for path in (*SOURCES, *PAGES):
        assert not re.search(r"""pip install ["'\\]*warpdyn\b""", path.read_text()), path


def test_the_version_of_a_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    assert optional_packages.installed_version.__wrapped__() != "not installed"
    monkeypatch.setattr(optional_packages, "version", version)
    assert optional_packages.installed_version.__wrapped__() == "not installed"
