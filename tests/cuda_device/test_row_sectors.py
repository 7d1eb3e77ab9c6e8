"""A warp moves hardly more memory than its arrays fill, in rows and side by side."""

from __future__ import annotations

from cuda_device.emulated_processes import json_of

MOST = 1.15
"""Sectors moved by sectors needed. Rows of 324 numbers do not fill whole sectors."""


def test_no_sector_is_moved_twice() -> None:
    found = json_of("row_sectors.py")
    assert len(found) == 20
    for name, x in found.items():
        assert x["loaded"] <= MOST * x["to_load"] and x["stored"] <= MOST * x["to_store"], name
