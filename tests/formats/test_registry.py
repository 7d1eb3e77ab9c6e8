"""The table of formats: each is found by what its texts look like, and names a reader that there is."""

from __future__ import annotations

from importlib import import_module

import pytest

import warpdyn as wd
from warpdyn.formats.registry import (
    FORMATS,
    USD,
    Format,
    format_of_data,
    format_of_root,
    join_words,
    xml_formats,
)

each_format = pytest.mark.parametrize("known", FORMATS, ids=lambda each: each.name)


@each_format
def test_its_reader_is_public(known: Format) -> None:
    """The function that messages send users to is `warpdyn.<reader>`."""
    assert getattr(import_module(known.module), known.reader) is getattr(wd, known.reader)


@pytest.mark.parametrize("known", list(xml_formats()), ids=lambda each: each.name)
def test_it_is_found_by_its_root_alone(known: Format) -> None:
    """No two formats have one root; a text that is XML is of no other format."""
    assert known.root is not None and format_of_root(known.root) is known
    assert format_of_data(f"<{known.root}/>".encode(), ".urdf") is None


def test_what_nobody_knows_is_of_no_format() -> None:
    """Neither by its root nor by its beginning."""
    assert format_of_root("gazebo") is None and format_of_data(b"solid") is None
    assert [each.name for each in FORMATS if each.root is None] == ["USD"]


def test_usd_is_found_by_its_beginning_or_suffix() -> None:
    """Text and crate; an archive by its name."""
    for data, suffix in ((b"#usda 1.0", ""), (b"PXR-USDC", ""), (b"PK", ".USDZ")):
        assert format_of_data(data, suffix) is USD


def test_lists_end_with_or() -> None:
    """One, another or a third."""
    assert join_words(iter("abc")) == "a, b or c" and join_words(iter("ab")) == "a or b"
    assert join_words(iter("a")) == "a"
