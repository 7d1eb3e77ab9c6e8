"""Robots on a page: where their links are drawn, and which configurations are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from warpdyn.viewer.robot_view import RobotView, rotate_vectors
from warpdyn.viewer.stage import Page

MODEL = wd.load_robot("quadruped", floating_base=True)


@pytest.fixture(scope="module")
def stage() -> Iterator[Any]:
    made = Page(port=0)
    yield made
    made.stop()


def test_links_are_drawn_at_the_poses_of_fk(stage: Any) -> None:
    """Each environment has its own place. Quaternions have w first."""
    view = RobotView(stage, MODEL, "many", spacing=2.0)
    q = np.asarray(wd.random_configuration(MODEL, 5, seed=2))
    view.update(q)
    poses = wd.fk(MODEL, q, form="pose")
    at = view._at[:, 0]
    assert len({tuple(x) for x in at.round(3).tolist()}) == 5 and not at[:, 2].any()
    near = np.linalg.norm(at[:, None] - at[None], axis=-1) + 9 * np.eye(5)
    assert near.min() == pytest.approx(2.0)
    for body, handle in zip(view.bodies, view._handles, strict=True):
        assert np.allclose(handle.batched_positions, poses[:, body.link, :3] + at, atol=1e-5)
        assert np.allclose(handle.batched_wxyzs, poses[:, body.link][:, [6, 3, 4, 5]], atol=1e-5)
        assert handle.batched_positions.dtype == handle.batched_wxyzs.dtype == np.float32
    view.update(q[:1])
    assert view.envs == 1 and len(view._handles) == len(view.bodies)
    for body, handle in zip(view.bodies, view._handles, strict=True):
        assert np.allclose(handle.position, poses[0, body.link, :3], atol=1e-5)
        assert np.allclose(handle.wxyz, poses[0, body.link, [6, 3, 4, 5]], atol=1e-5)
    view.remove()


def test_an_update_sends_one_array_for_each_moving_link(stage: Any) -> None:
    """An arm needs 9 of 28 bytes for each environment, less for links that only rotate, all in one
    message. Many robots cast no shadows, few robots do."""
    arm = wd.load_robot("panda")
    view = RobotView(stage, arm, "crowd")
    q = np.asarray(wd.random_configuration(arm, 300, seed=1))
    view.update(q)
    handles = view._handles
    assert len(handles) == 10 and not any(x.cast_shadow for x in handles)
    sent: list[Any] = []
    handler = stage.server._websock_server
    queued = handler.queue_message
    handler.queue_message = sent.append
    try:
        view.update(q[::-1])
    finally:
        handler.queue_message = queued
    total = sum(x.nbytes for message in sent for x in message.updates.values())
    assert total <= 300 * 9 * 28 and total < 300 * 240
    view.update(q[:20])
    assert all(x.cast_shadow for x in view._handles)
    view.remove()


def test_a_torch_tensor_or_a_single_row_is_accepted(stage: Any) -> None:
    torch = pytest.importorskip("torch")
    view = RobotView(stage, MODEL, "one")
    view.update(torch.tensor(MODEL.neutral, requires_grad=True))
    assert view.envs == 1 and np.allclose(view.q[0], MODEL.neutral)
    assert np.allclose(view.first, wd.fk(MODEL, MODEL.neutral[None], form="pose")[0], atol=1e-6)
    view.remove()


def test_the_bounding_box_contains_the_robot(stage: Any) -> None:
    view = RobotView(stage, wd.load_robot("panda"), "arm")
    view.update(view.model.neutral)
    low, high = view.box(view.poses)
    assert low[2] == pytest.approx(0.0, abs=0.02) and 1.0 < high[2] < 1.5
    assert view.size == pytest.approx(np.linalg.norm(high - low))
    view.remove()


@pytest.mark.parametrize(
    ("q", "error"),
    [
        (np.zeros(4), "q of quadruped is (19,) or (B, 19), got (4,)"),
        (np.zeros((2, 3, 19)), "got (2, 3, 19)"),
        (np.zeros((0, 19)), "there is no robot to show"),
        (np.array([MODEL.neutral, np.full(19, np.nan)]), "not finite in 1 of 2 rows, first in 1"),
    ],
)
def test_invalid_configurations_are_refused(stage: Any, q: Any, error: str) -> None:
    with pytest.raises(viewer.ViewerError, match=re.escape(error)):
        RobotView(stage, MODEL, "none").update(q)


def test_vectors_are_rotated_by_quaternions() -> None:
    rng = np.random.default_rng(0)
    quaternion = rng.normal(size=(4, 1, 4))
    quaternion /= np.linalg.norm(quaternion, axis=-1, keepdims=True)
    vector = rng.normal(size=(1, 3, 3))
    matrices = [_matrix(x) for x in quaternion[:, 0]]
    wanted = np.einsum("bij,kj->bki", matrices, vector[0])
    assert np.allclose(rotate_vectors(quaternion, vector), wanted)


def _matrix(q: np.ndarray) -> np.ndarray:
    x, y, z, w = q
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.asarray(np.eye(3) + 2 * w * skew + 2 * skew @ skew)


def test_the_floor_of_a_file_receives_shadows(stage: Any) -> None:
    """It casts none on the ground below it. Other bodies cast shadows."""
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1" pos="0 0 .2"/>
    <body pos="0 0 1"><joint/><geom size=".1"/></body></worldbody></mujoco>"""
    with pytest.warns(wd.ModelWarning, match="kinds without contacts: 1 plane"):
        view = RobotView(stage, wd.load(text), "floor")
    view.update(view.model.neutral)
    shadows = {(x.cast_shadow, bool(x.receive_shadow)) for x in view._handles}
    assert shadows == {(False, True), (True, False)}
    view.remove()


def test_a_robot_without_shapes_has_a_box_about_the_origin(stage: Any) -> None:
    """The box has one metre on each side, so that a camera has something to show."""
    bare = wd.ModelBuilder("bare").add_link("base").add_link("rod", mass=1.0)
    bare.add_joint("hinge", "revolute", "base", "rod", lower=-1, upper=1)
    view = RobotView(stage, bare.build(), "bare")
    view.update(np.zeros((1, 1)))
    view.drawn = SimpleNamespace(solids=())
    low, high = view.box(view.poses)
    assert low.tolist() == [-0.5] * 3 and high.tolist() == [0.5] * 3
    assert view.size == pytest.approx(np.sqrt(3.0))
    view.remove()


def test_robots_are_a_quarter_of_their_width_apart(stage: Any) -> None:
    """Unless their spacing is given. Four are the corners of a square."""
    view = RobotView(stage, MODEL, "square")
    view.update(np.tile(MODEL.neutral, (4, 1)))
    low, high = view.box(view.poses[:1])
    step = 1.25 * max((high - low)[:2])
    at = view._at[:, 0]
    away = np.linalg.norm(at[:, None] - at[None], axis=-1)
    wanted = step * np.array([0.0, 1.0, 1.0, np.sqrt(2.0)])
    assert np.allclose(np.sort(away, axis=1), wanted, rtol=1e-5)
    view.remove()
