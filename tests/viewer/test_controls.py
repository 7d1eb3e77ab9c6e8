"""Controls that move a robot by hand: sliders, a frame with inverse kinematics, and overlays."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from warpdyn.model.scene.free_bodies import free_joints
from warpdyn.viewer.controls import NO_FRAME

BY_HAND = SimpleNamespace(client=object())
"""An event of a browser; a program's has no client."""


BY_PROGRAM = SimpleNamespace(client=None)
"""An event of a program that sets a slider."""


def call_back(handle: Any, event: Any) -> None:
    """Do what the page's server does after a person has changed something."""
    for each in getattr(handle, "_impl_aux", handle._impl).update_cb:
        each(event)


def test_a_slider_moves_its_joint() -> None:
    """Mimic joints follow it, and limits bound it. A button moves all joints back."""
    model = wd.load_robot("panda")
    page = viewer.show(model)
    try:
        controls, view = page.controls, page.robots["robot"]
        assert len(controls.sliders) == model.nq
        controls.sliders[3].value = -2.0
        call_back(controls.sliders[3], BY_HAND)
        assert view.q[0, 3] == pytest.approx(-2.0)
        controls.sliders[3].value = -1.0
        call_back(controls.sliders[3], BY_PROGRAM)
        assert view.q[0, 3] == pytest.approx(-2.0), "sliders that a program sets move nothing"
        page.update(np.full(model.nq, 0.9, np.float32))
        assert controls.sliders[0].value == 0.9, "and not 0.8999999762"
        controls._start_again()
        assert np.allclose(view.q[0], model.configurations["home"])
        assert controls.sliders[3].value == pytest.approx(view.q[0, 3], abs=1e-6)
    finally:
        page.stop()


@pytest.fixture(scope="module")
def arm() -> Iterator[Any]:
    """A page with sliders for an arm of two joints."""
    page = viewer.show(wd.load_robot("double_pendulum"))
    yield page
    page.stop()


def handle_of(page: Any, path: str) -> Any:
    """The handle with arrows and rings under a path of the page."""
    return page.stage.server.scene._handle_from_node_name[path]


def test_a_dragged_frame_moves_the_robot(arm: Any) -> None:
    """Inverse kinematics moves the robot and the sliders. A frame out of reach is reported."""
    controls, view, model = arm.controls, arm.robots["robot"], arm.robots["robot"].model
    frame = model.link_names[-1]
    target = np.asarray(wd.fk(model, np.array([[0.4, -0.7]]), form="pose"))[0, -1]
    controls.frame.value = frame
    call_back(controls.frame, BY_HAND)
    handle = handle_of(arm, "/reach")
    handle.wxyz, handle.position = target[[6, 3, 4, 5]], target[:3]
    call_back(handle, BY_HAND)
    assert controls.reached.content == "reached"
    assert np.allclose(view.poses[0, -1, :3], target[:3], atol=2e-3)
    assert np.allclose([s.value for s in controls.sliders.values()], view.q[0], atol=1e-3)
    handle.position = (50.0, 0.0, 0.0)
    call_back(handle, BY_HAND)
    assert controls.reached.content == "out of reach"
    controls.frame.value = NO_FRAME
    call_back(controls.frame, BY_HAND)
    assert "/reach" not in arm.stage.server.scene._handle_from_node_name


def test_the_handle_of_a_free_base_moves_it() -> None:
    """The base translates and rotates, and the joints do not move."""
    model = wd.load_robot("quadruped", floating_base=True)
    page = viewer.show(model)
    try:
        before = page.controls.q.copy()
        (joint,) = free_joints(model)
        page.controls._body_handle(joint, True)
        handle = handle_of(page, "/moved/base")
        handle.wxyz, handle.position = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)), (1.0, 2.0, 0.5)
        call_back(handle, BY_HAND)
        pose = page.robots["robot"].poses[0, 0]
        assert np.allclose(pose, [1.0, 2.0, 0.5, 0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)], atol=1e-6)
        assert np.allclose(page.robots["robot"].q[0, 7:], before[7:])
        page.controls._body_handle(joint, False)
        assert "/moved/base" not in page.stage.server.scene._handle_from_node_name
    finally:
        page.stop()


def test_the_handle_of_a_free_body_moves_it() -> None:
    """Its coordinates may refer to another frame, and the arm next to it does not move."""
    model = wd.load_robot("double_pendulum")
    place = wd.description.Pose((0.5, 0.0, 0.0), ((0, -1, 0), (1, 0, 0), (0, 0, 1)))
    box = wd.description.Geometry("box", (0.1, 0.1, 0.1))
    builder = wd.ModelBuilder("world").add_link("world")
    builder.add_link("cube", mass=1.0, inertia=np.eye(3), visuals=[box])
    builder.add_joint("free", "floating", "world", "cube", place)
    scene = builder.build().attach(model, "world", prefix="arm_")
    page = viewer.show(scene)
    try:
        (joint,) = free_joints(scene)
        before = page.controls.q.copy()
        page.controls._body_handle(joint, True)
        handle = handle_of(page, "/moved/cube")
        handle.wxyz, handle.position = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0), (1.0, 2.0, 0.5)
        call_back(handle, BY_HAND)
        view = page.robots["robot"]
        pose = view.poses[0, scene.link_index("cube")]
        assert np.allclose(pose, [1.0, 2.0, 0.5, 0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5)], atol=1e-6)
        columns = scene.joint_position_columns
        assert np.allclose(view.q[0, columns], before[columns])
        page.controls.remove()
        assert "/moved/cube" not in page.stage.server.scene._handle_from_node_name
    finally:
        page.stop()


BALL = """<mujoco><worldbody><body><joint name="lift" type="slide" range="-1 1" limited="true"/>
<geom type="capsule" size="0.05 0.2"/><body pos="0 0 0.4"><joint name="ball" type="ball"/>
<geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/></body></body></worldbody></mujoco>"""


def test_a_ball_joint_has_three_sliders() -> None:
    """They are its rotation vector. The child follows the sliders, and the sliders follow the
    program."""
    model = wd.load_mjcf(BALL)
    page = viewer.show(model)
    try:
        controls, view = page.controls, page.robots["robot"]
        assert len(controls.sliders) == 1 and [*controls.turns] == ["ball"]
        turn = np.array([0.3, -0.5, 0.8])
        for slider, angle in zip(controls.turns["ball"], turn, strict=True):
            slider.value = angle
            call_back(slider, BY_HAND)
        half = np.linalg.norm(turn) / 2
        wanted = [*np.sin(half) * turn / (2 * half), np.cos(half)]
        assert np.allclose(view.first[-1, 3:], wanted, atol=1e-6)
        controls.turns["ball"][0].value = 0.0
        call_back(controls.turns["ball"][0], BY_PROGRAM)
        assert np.allclose(view.first[-1, 3:], wanted, atol=1e-6)
        page.update(model.neutral)
        assert np.allclose([s.value for s in controls.turns["ball"]], 0.0)
        q = wd.random_configuration(model, 1, seed=3)
        page.update(q)
        away = wd.difference(model, np.asarray(model.neutral)[None], np.asarray(q))[0]
        said = [s.value for s in (controls.sliders[0], *controls.turns["ball"])]
        assert np.allclose(said, away, atol=1e-3)
    finally:
        page.stop()


def test_controls_are_removed_with_their_robot() -> None:
    """Another robot in its place gets none of its sliders, and its handles are removed."""
    page = viewer.show(wd.load_robot("double_pendulum"))
    try:
        controls = page.controls
        controls.overlays.switch("frames", True)
        controls._reach_with(controls.view.model.link_names[-1])
        page.add(wd.load_robot("ur5e"))
        assert page.controls is None and all(x._impl.removed for x in controls.sliders.values())
        paths = page.stage.server.scene._handle_from_node_name
        assert "/reach" not in paths and "/over_robot/frames" not in paths
    finally:
        page.stop()
