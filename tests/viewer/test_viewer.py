"""The viewer's calls: showing a robot, ghosts, arrows, plots and overlays, and refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
viewer_module = import_module("warpdyn.viewer.viewer")
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
    nan, inf = np.nan, np.inf
    page.arrows([[nan, 0, 0], [0, 0, 0], [1, 2, 3]], [[1, 0, 0], [0, inf, 0], [0, 0, 1]])
    (drawn,) = page._drawn["arrows"]
    assert drawn.points.tolist() == [[[1, 2, 3], [1, 2, 4]]], "those that are not finite are left"
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
    with pytest.raises(
        ValueError, match=re.escape("curves of 'square' must be (n,) as x is, (5, 1)")
    ):
        page.plot("square", x[:, None], {"shoulder": x[:, None]})


def test_unknown_robots_and_file_endings_are_refused(page: Any) -> None:
    with pytest.raises(viewer.ViewerError, match="no robot is called 'leg'; there are robot"):
        page.update(ARM.neutral, "leg")
    with pytest.raises(viewer.ViewerError, match=r"must end in \.html for a page or \.viser"):
        page.record("robot.png")
    with pytest.raises(viewer.ViewerError, match=r"must end in \.png"):
        page.png("robot.jpg")


def test_the_page_waits_until_ctrl_c(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(viewer_module, "time", SimpleNamespace(sleep=sleep))
    page.wait()
    assert len(slept) == 3 and min(slept) > 1.0


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


def test_a_new_motion_stops_the_one_before(page: Any) -> None:
    """Removing the robot ends its motion and its controls."""
    page.clear()
    cart = wd.load_robot("cartpole")
    view = page.add(cart)
    rows = np.tile(cart.neutral, (3, 1))
    with pytest.raises(viewer.ViewerError, match="speed must be above 0, got 0; 1 is real time"):
        page.trajectory(cart, rows, speed=0.0)
    stopped: list[Any] = []
    page.player = SimpleNamespace(stop=lambda: stopped.append("first"), view=None)
    page.trajectory(cart, rows)
    assert stopped == ["first"] and page.player.view is view
    page.player.stop()
    page.player = SimpleNamespace(stop=lambda: stopped.append("second"), view=view)
    page.controls = SimpleNamespace(remove=lambda: stopped.append("controls"), view=view)
    page.clear()
    assert stopped[1:] == ["second", "controls"] and page.player is page.controls is None
    other = SimpleNamespace(remove=lambda: stopped.append("other"), view=None)
    page.controls = other
    page.add(cart)
    page.update(cart.neutral)
    page.clear()
    assert page.controls is other and len(stopped) == 3
    page.controls = None
    page.add(cart)
    page.update(cart.neutral)
    page.add(ARM)


def test_arrows_of_a_name_replace_the_ones_before(page: Any) -> None:
    removed: list[str] = []
    page._drawn["arrows"] = [SimpleNamespace(remove=lambda: removed.append("arrows"))]
    page.arrows([[0, 0, 0]], [[0, 0, 1]])
    assert removed == ["arrows"] and len(page._drawn["arrows"]) == 1


def test_a_page_writes_its_motion_and_its_picture(
    page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("write_page", "picture_of"):
        monkeypatch.setattr(viewer_module, name, lambda *x: x)
    assert page.record("a.html", rate=20.0) == (page.stage, page.player, Path("a.html"), 20.0)
    assert page.png("a.png", width=3, height=2) == (page.stage, Path("a.png"), 3, 2)


def test_the_ground_is_below_the_lowest_robot(page: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot on a fixed base stands on the ground, or above it. The ground is as wide as the
    diagonal of the box around all robots."""
    grounds: list[tuple[float, float]] = []
    monkeypatch.setattr(page.stage, "ground", lambda *x: grounds.append(x))
    box = np.array([1.0, 2.0, 2.0]), np.array([3.0, 8.0, 5.0])
    for floating, lowest, level in ((False, 2.0, 0.0), (False, -1.0, -1.0), (True, 2.0, 2.0)):
        planes = np.array([0.0, 0.0, lowest]), box[1]
        robot = SimpleNamespace(
            model=SimpleNamespace(floating_base=floating),
            poses=None,
            box=lambda _, planes=False, at=planes: at if planes else box,
        )
        monkeypatch.setattr(page, "robots", {"robot": robot})
        page.look()
        assert grounds.pop() == (level, 7.0)
