"""The table of formats: how each format is recognised, and that its reader exists."""

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
def test_every_reader_is_public(known: Format) -> None:
    """Messages name the reader as `warpdyn.<reader>`."""
    assert getattr(import_module(known.module), known.reader) is getattr(wd, known.reader)


@pytest.mark.parametrize("known", list(xml_formats()), ids=lambda each: each.name)
def test_xml_formats_are_recognised_by_their_root_element_only(known: Format) -> None:
    """No two formats have the same root element. XML is never data of another format."""
    assert known.root is not None and format_of_root(known.root) is known
    assert format_of_data(f"<{known.root}/>".encode(), ".urdf") is None


def test_unknown_roots_and_data_have_no_format() -> None:
    """Only USD is recognised without a root element."""
    assert format_of_root("gazebo") is None and format_of_data(b"solid") is None
    assert [each.name for each in FORMATS if each.root is None] == ["USD"]


def test_usd_is_recognised_by_its_beginning_or_suffix() -> None:
    """Text and crate files are recognised by their first bytes, an archive by its suffix."""
    for data, suffix in ((b"#usda 1.0", ""), (b"PXR-USDC", ""), (b"PK", ".USDZ")):
        assert format_of_data(data, suffix) is USD


def test_join_words_puts_or_before_the_last_word() -> None:
    """The lists have one, two and three words."""
    assert join_words(iter("abc")) == "a, b or c" and join_words(iter("ab")) == "a or b"
    assert join_words(iter("a")) == "a"
