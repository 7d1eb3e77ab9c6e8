"""One command for a missing package: an extra that setup.py has, in the folder that the README names."""

from __future__ import annotations

import re
from pathlib import Path

from warpdyn.model.optional_packages import install_extra

ROOT = Path(__file__).parents[2]
SOURCES = [*ROOT.glob("warpdyn/**/*.py"), *ROOT.glob("ros2_node/**/*.py")]
PAGES = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.ipynb")]


def test_the_command_is_the_one_of_the_readme() -> None:
    command, _, folder = install_extra("viewer").partition(" in ")
    assert command == "pip install '.[viewer]'" and folder == "warpdyn's folder"
    assert "pip install ." in (ROOT / "README.md").read_text()


def test_every_extra_that_an_error_names_is_one_of_setup() -> None:
    extras = set(re.findall(r'^        "(\w+)": ', (ROOT / "setup.py").read_text(), re.M))
    named = [
        x
        for p in SOURCES
        for x in re.findall(r"""install_extra\(["']([\w,]+)["']\)""", p.read_text())
    ]
    assert len(named) >= 8
    assert {each for words in named for each in words.split(",")} <= extras


def test_no_text_asks_an_index_for_warpdyn() -> None:
    """`pip install 'warpdyn[viewer]'` would ask a package index, where another one may have the name."""
    for path in (*SOURCES, *PAGES):
        assert not re.search(r"""pip install ["'\\]*warpdyn\b""", path.read_text()), path
