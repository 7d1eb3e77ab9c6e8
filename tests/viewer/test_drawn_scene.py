"""All drawn numbers, colours and words of robots, overlays and controls. After an intended change
`python tests/drawn_scene.py` writes the file again, and its difference shows the change."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

pytest.importorskip("warpdyn.viewer")
from drawn_scene import FILE, PAGES, calls_of

DRAWN = json.loads(FILE.read_text())

SAME = 2e-3
"""Difference of sums over float32 arrays between machines, relative to 1 or to the sum."""


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_drawn_as_before(name: str) -> None:
    """All calls and their order are compared."""
    found = calls_of(name)
    assert [call[0] for call in found] == [call[0] for call in DRAWN[name]]
    for k, (call, before) in enumerate(zip(found, DRAWN[name], strict=True)):
        _compare(call, before, f"{name}[{k}] {call[0]}")


def _compare(found: Any, before: Any, name: str) -> None:
    if isinstance(found, dict):
        assert list(found) == list(before), name
        for each, x in found.items():
            _compare(x, before[each], f"{name} {each}")
    elif isinstance(found, list):
        assert len(found) == len(before), name
        for x, y in zip(found, before, strict=True):
            _compare(x, y, name)
    elif isinstance(found, bool | str) or found is None:
        assert found == before, name
    else:
        np.testing.assert_allclose(found, before, SAME, SAME, err_msg=name)
