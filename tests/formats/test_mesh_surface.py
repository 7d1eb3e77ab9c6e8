"""The surface of a mesh file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpdyn.formats.mesh_surface import surface_of
from warpdyn.model.mesh_files import MeshError

trimesh = pytest.importorskip("trimesh")


def test_vertices_and_triangles_are_the_files(tmp_path: Path) -> None:
    box = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    box.export(tmp_path / "box.ply")
    found = surface_of(tmp_path / "box.ply")
    assert np.allclose(np.ptp(found.vertices, axis=0), (1, 2, 3)) and found.faces.shape == (12, 3)
    again = trimesh.Trimesh(*found, process=False)
    assert again.volume == pytest.approx(6.0)


def test_what_is_no_mesh_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part.stl").write_text("no mesh")
    with pytest.raises(MeshError, match=r"trimesh cannot read it|it has no vertices"):
        surface_of(tmp_path / "part.stl")
