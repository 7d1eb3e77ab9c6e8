"""The folder of the cache: one that other users can write, its tag, and one that cannot be
written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.execution.compile import sealed_files
from warpdyn.execution.compile.cache_folder import kept_programs


def test_a_cache_that_others_can_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says so, with the remedy. Nothing is read or written there."""
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path / "open"))
    monkeypatch.setattr(wd.config, "compile_messages", True)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o1777)
    for k in range(2):
        model = replace(wd.load_robot("cartpole"), name=f"open_{k}")
        assert np.all(np.isfinite(wd.crba(model, model.neutral)))
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert f"{tmp_path / 'open'} is not used, for every user can write to it" in said
    assert "WARPDYN_CACHE_SHARED=1" in said and not list((tmp_path / "open").iterdir())
    monkeypatch.setenv("WARPDYN_CACHE_SHARED", "1")
    wd.crba(replace(model, name="shared"), model.neutral)
    assert len(list((tmp_path / "open").glob("*.json"))) == 1


def test_a_new_cache_folder_is_tagged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with other files is not."""
    for name, others in (("ours", False), ("project", True)):
        monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path / name))
        if others:
            (tmp_path / name).mkdir()
            (tmp_path / name / "thesis.txt").touch()
        wd.crba(replace(wd.load_robot("cartpole"), name=name), np.zeros((1, 2)))
        assert sealed_files.is_tagged(tmp_path / name) is not others


def test_a_cache_that_cannot_be_written_is_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message has the remedy. The home is read-only, or a file has the name of the folder."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(blocked / "inside"))
    monkeypatch.setattr(wd.config, "compile_messages", True)
    model = wd.load_robot("cartpole")
    assert np.all(np.isfinite(wd.crba(model, model.neutral)))
    assert np.all(np.isfinite(wd.com(model, model.neutral)))
    (said,) = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
    assert said.startswith(
        f"warpdyn: warning: programs cannot be kept in {blocked / 'inside'} (Not a directory)"
    )
    assert "Set WARPDYN_CACHE_DIR" in said
    assert kept_programs() == []
