"""Stacks of exported functions, as gcc tells them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from cuda_on_host import needs_compiler

import warpdyn as wd
from warpdyn.functions.export.stack_usage import stacks


@needs_compiler
@pytest.mark.parametrize("language", ["c++", "c"])
def test_frames_are_added(language) -> None:
    """A function that is cut takes its workspace and its deepest part; a batch takes more."""
    text = wd.export(wd.load_robot("panda"), [wd.crba, wd.aba], language=language)
    found, by = stacks(text, ["crba", "aba"], "panda", language)
    assert "-O2" in by
    for one, many in found.values():
        assert 0 < one < many < 20_000
    assert found["aba"][0] > found["crba"][0]


@needs_compiler
def test_a_file_says_them(tmp_path: Path) -> None:
    """In the comment of the function."""
    text = wd.export(wd.load_robot("cartpole"), [wd.rnea], tmp_path / "cartpole.hpp")
    assert re.search(r"/// Stack: \d+ bytes, a batch \d+ \(g\+\+ [\d.]+ -O2, ", text)


def test_without_gcc_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """No error: the file is the same but for that line."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert stacks("", ["rnea"], "panda", "c++") == ({}, "")


@needs_compiler
@pytest.mark.parametrize("language", ["c++", "c"])
def test_a_text_that_does_not_compile_has_no_stacks(language: str) -> None:
    assert stacks("no program", ["rnea"], "panda", language) == ({}, "")
