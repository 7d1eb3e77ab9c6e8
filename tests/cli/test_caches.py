"""`warpdyn cache`: what is kept, and that it can be removed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fresh_caches import ONE_CALL, environment, run

from warpdyn.cli import caches
from warpdyn.cli.command_line import UserError


def cache(folder: Path, *arguments: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "warpdyn", "cache", *arguments],
        env=environment(folder),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_both_caches_are_shown_and_emptied(tmp_path: Path) -> None:
    """Where, how many, how large; afterwards nothing of ours is left, and what is another's stays."""
    run(ONE_CALL, environment(tmp_path))
    (warps,) = (tmp_path / "kernels").iterdir()
    others = warps / "wp_somebody_else", tmp_path / "programs" / "notes.txt"
    others[0].mkdir()
    others[1].write_text("mine")
    shown = cache(tmp_path)
    programs, headers, kernels = [line.split() for line in shown]
    assert programs[0] == "programs" and programs[1] == "1" and f"{tmp_path}/programs" in programs
    assert headers[:3] == ["parsed", "headers", "1"] and 2 < float(headers[3]) < 20
    assert kernels[:3] == ["compiled", "kernels", "1"] and str(warps) in kernels
    assert "WARP_CACHE_PATH" in shown[2] and "WARPDYN_CACHE_DIR" in shown[0]
    assert cache(tmp_path, "--empty") == [*shown, "emptied"]
    assert [line.split(" MB")[0].split()[-2:] for line in cache(tmp_path)] == [["0", "0.0"]] * 3
    assert all(path.exists() for path in others)


def test_what_cannot_be_removed_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One line; what is gone already is no mistake."""
    caches.remove(tmp_path / "gone")

    def refused(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refused)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot remove .*file: Permission denied"):
        caches.remove(tmp_path / "file")
