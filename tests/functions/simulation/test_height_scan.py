"""Height scans of the ground: shapes, frames, libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_kinds import LIBRARIES, host, make_array, usable
from states import states

import warpdyn as wd

MODEL = wd.load_robot("quadruped")
PATTERN = np.array([[0.0, 0.0], [0.3, 0.1], [-0.2, 0.4], [50.0, 0.0]])
HEIGHTS = np.random.default_rng(0).normal(size=(8, 6))
Q = states(MODEL, 19).q
"""Configurations of 19 robots: whole vectors of lanes, and an incomplete one."""
PLACES = np.random.default_rng(1).uniform(-1, 1, (len(Q), 3))


def bilinear(x: np.ndarray, y: np.ndarray, cell: float) -> np.ndarray:
    """Bilinear interpolation by NumPy, on a map whose middle is at (0, 0)."""
    u, w = x / cell + 3.5, y / cell + 2.5
    u, w = np.clip(u, 0, 7), np.clip(w, 0, 5)
    i, j = np.minimum(u.astype(int), 6), np.minimum(w.astype(int), 4)
    s, t = u - i, w - j
    low = HEIGHTS[i, j] * (1 - t) + HEIGHTS[i, j + 1] * t
    high = HEIGHTS[i + 1, j] * (1 - t) + HEIGHTS[i + 1, j + 1] * t
    return low * (1 - s) + high * s


@pytest.mark.parametrize("frame", [None, "FL_foot"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_height_scan_equals_interpolation_at_the_turned_pattern(
    library: str, frame: str | None
) -> None:
    """Compared with NumPy at the frame's pose, in every library, and with the oracle."""
    usable(library)
    T = wd.fk(MODEL, Q, frame=frame or MODEL.link_names[0])
    yaw = np.arctan2(T[:, 1, 0], T[:, 0, 0])[:, None]
    c, s, (x, y) = np.cos(yaw), np.sin(yaw), PATTERN.T
    at_x = T[:, None, 0, 3] + c * x - s * y + PLACES[:, None, 0]
    at_y = T[:, None, 1, 3] + s * x + c * y + PLACES[:, None, 1]
    wanted = T[:, None, 2, 3] + PLACES[:, None, 2] - bilinear(at_x, at_y, 0.5)
    terrain = wd.HeightMap(HEIGHTS, 0.5, offset=make_array(library, PLACES))
    found = wd.height_scan(MODEL, make_array(library, Q), PATTERN, terrain=terrain, frame=frame)
    assert np.allclose(host(found), wanted, atol=1e-9)
    if library == "numpy":
        again = wd.oracle(wd.height_scan, MODEL, Q, PATTERN, terrain=terrain, frame=frame)
        assert np.allclose(again, wanted, atol=1e-9)


def test_single_precision_equals_the_oracle() -> None:
    """Its lanes load the corners of cells differently. The map's steepest slope is about 10."""
    q, heights, places, pattern = (x.astype(np.float32) for x in (Q, HEIGHTS, PLACES, PATTERN))
    terrain = wd.HeightMap(heights, 0.5, offset=places)
    found = wd.height_scan(MODEL, q, pattern, terrain=terrain)
    exact = wd.HeightMap(HEIGHTS, 0.5, offset=PLACES)
    assert found.dtype == np.float32
    assert np.allclose(
        found, wd.oracle(wd.height_scan, MODEL, Q, PATTERN, terrain=exact), atol=1e-4
    )


def test_invalid_patterns_and_frames_are_refused() -> None:
    with pytest.raises(ValueError, match=r"pattern must be \(n, 2\)"):
        wd.height_scan(MODEL, Q, np.zeros(4))
    with pytest.raises(KeyError, match="no_link"):
        wd.height_scan(MODEL, Q, PATTERN, frame="no_link")


@pytest.mark.parametrize("library", LIBRARIES)
def test_patterns_of_different_lengths_have_results_of_their_width(library: str) -> None:
    """Also one after the other for the same robot."""
    usable(library)
    q = make_array(library, Q)
    whole = host(wd.height_scan(MODEL, q, PATTERN))
    for count in (2, 1, 3):
        found = host(wd.height_scan(MODEL, q, PATTERN[:count]))
        assert found.shape == (len(Q), count) and np.array_equal(found, whole[:, :count])
    if library == "jax":
        import jax

        by_q = jax.jacobian(lambda q: wd.height_scan(MODEL, q, PATTERN[:2])[:, 0].sum())(q)
        assert by_q.shape == Q.shape


def test_a_tensor_as_pattern_has_a_gradient() -> None:
    """Also if q is NumPy's. The result is a tensor, as in all calls with both."""
    torch = pytest.importorskip("torch")
    pattern = torch.tensor(PATTERN, requires_grad=True)
    found = wd.height_scan(MODEL, Q, pattern, terrain=wd.HeightMap(HEIGHTS, 0.5))
    (slope,) = torch.autograd.grad(found.sum(), pattern)
    assert slope.shape == pattern.shape and slope[:3].abs().min() > 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("library", ["numpy", "torch", "warp", "jax"])
def test_a_pattern_of_plain_numbers_takes_the_type_of_the_state(library: str, dtype: Any) -> None:
    usable(library, "cpu")
    model = wd.load_robot("quadruped")
    q = wd.random_configuration(model, 3)
    pattern, terrain = [[0.1, -0.2], [0.3, 0.0]], wd.Plane((0.1, 0.2))
    wanted = wd.height_scan(model, q, np.array(pattern), terrain=terrain)
    single = make_array(library, q.astype(dtype), "cpu")
    found = np.asarray(wd.height_scan(model, single, pattern, terrain=terrain))
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, atol=1e-5)
