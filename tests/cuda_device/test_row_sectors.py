"""A warp moves hardly more memory than its arrays occupy, in rows and with environments
contiguous."""

from __future__ import annotations

from cuda_device.emulated_processes import last_json, run_emulated

MOST = 1.15
"""Sectors moved by sectors needed. Rows of 324 numbers do not fill whole sectors."""

CALLS = (
    *(f"panda:{x}" for x in ("fk", "jacobian", "rnea", "crba", "aba", "rnea_derivatives")),
    *(f"quadruped:{x}" for x in ("fk", "rnea", "crba", "aba")),
)


def test_no_sector_is_moved_twice() -> None:
    found = last_json(run_emulated("-m", "benchmarks.cuda_counts", *CALLS))
    assert len(found) == 2 * len(CALLS)
    for name, x in found.items():
        assert x["loaded"] <= MOST * x["to_load"] and x["stored"] <= MOST * x["to_store"], name
