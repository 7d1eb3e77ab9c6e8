"""The viewer's calls: showing a robot, ghosts, arrows, plots and overlays, and refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
ARM = wd.load_robot("ur5e")


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    made = viewer.show(ARM)
    yield made
    made.stop()


def test_a_robot_is_shown_at_home(page: Any) -> None:
    assert np.allclose(page.robots["robot"].q[0], ARM.configurations["home"])
    assert page.controls is not None and len(page.controls.sliders) == 6
    assert repr(page) == f"<Viewer of robot at {page.address}>" and page.remarks == ()


def test_sliders_follow_the_robot(page: Any) -> None:
    page.update(ARM.neutral)
    assert [s.value for s in page.controls.sliders.values()] == [0.0] * 6
    low, high = ARM.position_lower[2], ARM.position_upper[2]
    assert (page.controls.sliders[2].min, page.controls.sliders[2].max) == (low, high)


def test_a_ghost_and_arrows_are_drawn(page: Any) -> None:
    ghost = page.ghost(ARM, ARM.neutral)
    assert page.ghost(ARM, ARM.configurations["home"]) is ghost and ghost.opacity < 1
    page.arrows([[0, 0, 0], [1, 0, 0]], [[0, 0, 9.81], [0, 0, 0]], scale=0.01)
    (drawn,) = page._drawn["arrows"]
    assert np.allclose(drawn.points, [[[0, 0, 0], [0, 0, 0.0981]]], atol=1e-6)
    page.arrows(np.zeros((0, 3)), np.zeros((0, 3)))
    assert "arrows" not in page._drawn
    with pytest.raises(ValueError, match=re.escape("must be (n, 3) both, got (1, 3) and (2, 3)")):
        page.arrows([[0, 0, 0]], np.zeros((2, 3)))


def test_curves_are_plotted(page: Any) -> None:
    x = np.linspace(0, 1, 5)
    page.plot("torques", x, {"shoulder": x**2, "elbow": -x})
    page.plot("torques", x, {"shoulder": x, "elbow": x})
    assert np.array_equal(page._plots["torques"].data[1], x)
    with pytest.raises(ValueError, match="curves of 'torques' must be"):
        page.plot("torques", x, {"shoulder": x[:3]})


def test_unknown_robots_and_file_endings_are_refused(page: Any) -> None:
    with pytest.raises(viewer.ViewerError, match="no robot is called 'leg'; there are robot"):
        page.update(ARM.neutral, "leg")
    with pytest.raises(viewer.ViewerError, match=r"should end in \.html, a page, or \.viser"):
        page.record("robot.png")
    with pytest.raises(viewer.ViewerError, match=r"should end in \.png"):
        page.png("robot.jpg")


def test_the_server_ends_if_its_robot_is_refused() -> None:
    with pytest.raises(viewer.ViewerError, match="q of ur5e is"):
        viewer.show(ARM, np.zeros(3))


def test_a_motion_of_another_robot_replaces_the_robot_of_that_name(page: Any) -> None:
    """A robot of the same model is kept and moved."""
    pendulum = wd.load_robot("double_pendulum")
    for model in (ARM, pendulum):
        page.trajectory(model, np.tile(model.neutral, (3, 1)), name="played")
        view = page.robots["played"]
        assert view.model is model
        page.trajectory(model, np.tile(model.neutral, (3, 1)), name="played")
        assert page.robots["played"] is view


def test_overlays_are_removed_with_their_robot(page: Any) -> None:
    """They can be switched on and off. In a notebook the page is a frame with its address."""
    page.update(ARM.configurations["home"])
    page.add(ARM, None, "second", at=(0.0, 1.0, 0.0))
    assert np.allclose(page.robots["second"].first[:, 1] - page.robots["robot"].first[:, 1], 1.0)
    page.over("frames", name="second")
    assert page._over["second"]._handles["frames"]
    page.over("frames", False, "second")
    assert "frames" not in page._over["second"]._handles
    with pytest.raises(viewer.ViewerError, match="got 'masses' over 'second'"):
        page.over("masses", name="second")
    page.clear()
    assert not page.robots and not page._over
    assert f'src="{page.address}"' in page._repr_html_()
    page.add(ARM)
