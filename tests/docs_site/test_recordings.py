"""Motions of the gallery: they move, and pages name only existing ones."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("warpdyn.viewer")
pytest.importorskip("torch")
import warpdyn as wd
from docs_site import recordings

DOCS = Path(__file__).resolve().parents[2] / "docs"

MOTIONS = {name: cache(motion) for name, motion in recordings.MOTIONS.items()}
"""The motions of the gallery, each simulated once."""


def test_pages_name_existing_recordings() -> None:
    """The gallery has all of them."""
    named = {
        path.name: re.findall(r"^```\{recording\} (\w+)$", path.read_text(), re.MULTILINE)
        for path in DOCS.glob("*.md")
    }
    assert set(named["gallery.md"]) == set(recordings.MOTIONS)
    assert {name for names in named.values() for name in names} == set(recordings.MOTIONS)


@pytest.mark.parametrize("name", MOTIONS)
def test_a_motion_is_finite_and_has_no_jump(name: str) -> None:
    """The configurations change. The quadruped does not fall, and the arm stays above its table."""
    model, q, seconds = MOTIONS[name]()
    assert seconds > 1.0 and np.isfinite(q).all()
    rows = q.reshape(len(q), -1, model.nq)
    assert np.ptp(rows, axis=0).max() > 0.1
    joints = rows[..., 7 if model.floating_base else 0 :]
    assert np.abs(np.diff(joints, axis=0)).max() < 1.0
    if name == "quadruped":
        assert (q[:, 2] > 0.2).all()
    if name == "reach":
        assert (wd.fk(model, q)[..., 2, 3] > -1e-6).all()


def test_the_client_is_one_file_and_recordings_are_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client is one page of less than 2 MB. Each motion has less than 0.5 MB."""
    monkeypatch.setattr(recordings, "MOTIONS", MOTIONS)
    recordings.write_all(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        "index.html",
        *(f"{name}.viser" for name in recordings.MOTIONS),
    }
    assert (tmp_path / "index.html").stat().st_size < 2e6
    assert all(path.stat().st_size < 5e5 for path in tmp_path.glob("*.viser"))


def test_the_camera_looks_at_the_middle_of_a_box() -> None:
    """It is above the ground."""
    from warpdyn.viewer import Viewer

    page, low, high = Viewer(port=0), np.array([-1.0, 0.0, 0.1]), np.array([1.0, 2.0, 0.9])
    try:
        recordings.look(page, low, high)
        camera = page.stage.server.initial_camera
        assert np.allclose(camera.look_at, (low + high) / 2) and camera.position[2] > high[2]
    finally:
        page.stop()
