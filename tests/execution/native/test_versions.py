"""Versions of other packages whose private structures warpdyn reads."""

from __future__ import annotations

import sys

import pytest

from warpdyn.execution.native import versions


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2.4.6", (2, 4)),
        ("2.13.0+cpu", (2, 13)),
        ("1.20.0rc1", (1, 20)),
        ("odd", (0, 0)),
        ("3", (0, 0)),
    ],
)
def test_major_and_minor_version(text: str, wanted: tuple[int, int]) -> None:
    assert versions.version_of(text) == wanted


def test_bounds_belong_to_the_tested_versions() -> None:
    for name, (first, last) in versions.TESTED.items():
        assert versions.is_tested(name, first) and versions.is_tested(name, last)
        assert not versions.is_tested(name, (first[0], first[1] - 1))
        assert not versions.is_tested(name, (last[0], last[1] + 1))
        assert not versions.is_tested(name, (0, 0))


def test_another_python_version_is_not_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    # The tests of this folder are skipped with 3.10, so this must hold for later versions.
    assert versions.are_tested() == (sys.version_info >= (3, 11))
    monkeypatch.setitem(versions.TESTED, "cpython", ((3, 98), (3, 99)))
    assert not versions.are_tested()
    assert sys.implementation.name == "cpython"
