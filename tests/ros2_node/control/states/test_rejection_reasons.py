"""The words under which messages are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from ros2_node.control.states.rejection_reasons import NOTICES, REJECTIONS

NODE = Path(__file__).resolve().parents[4] / "ros2_node"
SOURCES = [f.read_text() for f in NODE.rglob("*.py") if f.name != "rejection_reasons.py"]


def test_a_reason_has_one_meaning():
    """No word occurs twice, or in both lists."""
    assert len({*REJECTIONS, *NOTICES}) == len(REJECTIONS) + len(NOTICES)


@pytest.mark.parametrize("reason", [*REJECTIONS, *NOTICES])
def test_each_reason_is_counted_somewhere(reason):
    """A reason that nothing counts would mislead."""
    assert any(f'"{reason}"' in text for text in SOURCES)
