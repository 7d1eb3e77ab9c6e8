"""A page with the robots of environments, and where they are drawn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from module_numbers import module_numbers

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("warpdyn.viewer")

import warpdyn as wd
from warpdyn.cli.learning.environment_page import (
    AROUND,
    SIDE,
    EnvironmentPage,
    _origins,
)


def test_robots_are_drawn_at_the_positions_of_their_arrays() -> None:
    """A robot that leaves its area enters it on the other side."""
    task = rl.QuadrupedVelocity()
    q = np.tile([0, 0, task.height, 0, 0, 0, 1.0, *task.stance], (2, 1))
    shown = EnvironmentPage(task, {"q": q}, host="127.0.0.1", port=0)
    try:
        q[:, 0] = 0.5, 3.0
        shown.update({"q": q})
        view = shown.page.robots["robot"]
        assert np.allclose(view.q[:, 0], [0.5, 3.0 - SIDE], atol=1e-5)
    finally:
        shown.page.stop()


def test_ground_is_drawn_around_each_place_once() -> None:
    """It is the part of the height map within AROUND, cut at the map's edges. All its triangles
    face up."""
    drawn: list[tuple[str, np.ndarray, np.ndarray]] = []
    scene = SimpleNamespace(add_mesh_simple=lambda name, v, f, **_: drawn.append((name, v, f)))
    shown = EnvironmentPage.__new__(EnvironmentPage)
    shown.page = SimpleNamespace(stage=SimpleNamespace(server=SimpleNamespace(scene=scene)))
    shown._patches = set()
    cell, count = 0.5, round(AROUND / 0.5)
    heights = np.random.default_rng(0).uniform(0.0, 0.1, (3 * count, 2 * count + 7))
    shown.terrain = wd.HeightMap(heights, cell, origin=(1.0, 2.0))
    corner, middle = (1.0, 2.0, 0.0), (1.0 + 1.5 * AROUND, 2.0 + AROUND, 0.0)
    shown._show_ground({"origin": np.array([corner, middle, corner])})
    shown._show_ground({"origin": np.array([middle])})
    assert [name for name, *_ in drawn] == ["/terrain/1", "/terrain/2"]
    sizes = ((count + 1, count + 1), (2 * count + 1, 2 * count + 1))
    for (_, vertices, faces), (rows, columns) in zip(drawn, sizes, strict=True):
        assert vertices.shape == (rows * columns, 3)
        assert faces.shape == (2 * (rows - 1) * (columns - 1), 3)
        i, j = np.rint((vertices[:, :2] - [1.0, 2.0]) / cell).astype(int).T
        np.testing.assert_allclose(vertices[:, 2], heights[i, j], atol=1e-6)
        a, b, c = vertices[faces].transpose(1, 0, 2)
        areas = 0.5 * np.cross(b - a, c - a)[:, 2]
        np.testing.assert_allclose(areas, 0.5 * cell**2, rtol=1e-4)
    assert drawn[0][1][:, :2].min(axis=0).tolist() == [1.0, 2.0]


def test_without_a_height_map_all_robots_are_at_the_origin() -> None:
    q = np.zeros((3, 7))
    np.testing.assert_array_equal(_origins({"q": q}), np.zeros((3, 3)))
    places = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(_origins({"q": q, "origin": places}), places)


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["learning.environment_page"] == {
        "SIDE": 4.0,
        "AROUND": 6.0,
    }
