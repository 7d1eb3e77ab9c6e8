"""`warpdyn view`: what it writes, and what it refuses in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("warpdyn.viewer")
from warpdyn.cli.main import main


def test_a_page_is_written_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.html"
    assert main(["view", "ur5e", "--envs", "3", "--record", str(path)]) == 0
    assert path.stat().st_size > 1e5
    assert "a browser opens it without a server" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--trajectory", "nowhere.csv"], "there is no file nowhere.csv"),
        (["--record", "arm.mp4"], "arm.mp4 should end in .html, a page, or .viser, a recording"),
        (["--png", "arm.gif"], "arm.gif should end in .png"),
    ],
)
def test_what_cannot_be_shown(
    options: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "ur5e", "--port", "0", *options]) == 2
    assert capsys.readouterr().err.strip().endswith(f"warpdyn: error: {error}")
