"""The tables of docs/gpu.md, which are between marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import gpu_page


def test_the_page_has_the_stored_results() -> None:
    """Its tables are those that `python -m benchmarks.gpu_page` writes."""
    page = gpu_page.PAGE.read_text()
    assert gpu_page.text(page) == page


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no place for a table: <!-- times -->"):
        gpu_page.text("# GPU\n")


def test_the_page_is_written(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    assert gpu_page.main([str(path)]) == 0
    assert path.read_text() == gpu_page.PAGE.read_text()
