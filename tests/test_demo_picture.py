"""The demo's picture: which joints it shows, and with which scale."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
from examples.demo.demo import simulate
from examples.demo.demo_picture import (
    FALLING,
    HELD,
    MOMENTS,
    MOST_JOINTS,
    Trajectories,
    across,
    curves,
    picture,
)
from warpdyn.functions.pictures.robot_picture import Sight

TEXT = """<robot name="spinner"><link name="base"/><link name="a"/><link name="b"/><link name="c"/>
<joint name="spin" type="continuous"><parent link="base"/><child link="a"/></joint>
<joint name="lift" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0 0 0.5"/>
<limit lower="0" upper="0.4" effort="1" velocity="1"/></joint>
<joint name="nod" type="revolute"><parent link="b"/><child link="c"/><origin xyz="0.5 0 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture(scope="module")
def spinner() -> wd.Model:
    return wd.load_urdf(TEXT)


def motion_of(model: wd.Model, turns: float = 7.5) -> Trajectories:
    """A motion in which the first joint spins and the others move a little."""
    time = np.linspace(0.0, 2.0, 401)
    q = 0.05 * np.sin(time)[:, None] * np.ones(model.nq)
    q[:, 0] = 2 * np.pi * turns * time / time[-1]
    return Trajectories(time, q, np.zeros_like(q))


def test_a_curve_breaks_only_where_the_angle_wraps(spinner) -> None:
    """A step of 150 degrees within a turn is drawn."""
    spin = curves(spinner, motion_of(spinner))[0]
    q = np.zeros((3, spinner.nq))
    q[:, 0] = np.deg2rad([0.0, 150.0, 200.0])
    assert np.allclose(spin.of(q), [0.0, 150.0, np.nan], equal_nan=True)


def test_an_unlimited_joint_is_drawn_modulo_one_turn(spinner) -> None:
    """Its curve is the angle modulo 360 degrees and breaks where the angle wraps. Joints with
    limits and sliding joints are drawn unchanged."""
    motion = motion_of(spinner)
    spin, lift, nod = curves(spinner, motion)
    assert (spin.endless, lift.endless, nod.endless) == (True, False, False)
    assert [spin.unit, lift.unit, nod.unit] == ["deg", "m", "deg"]
    drawn = spin.of(motion.falling)
    broken = np.isnan(drawn)
    assert broken.sum() == 8 and np.abs(drawn[~broken]).max() <= 180.0
    whole = np.rad2deg(motion.falling[:, 0])
    assert np.allclose(np.sin(np.deg2rad(drawn - whole))[~broken], 0.0, atol=1e-9)
    assert np.abs(np.diff(drawn))[~np.isnan(np.diff(drawn))].max() < 180.0
    assert np.allclose(lift.of(motion.falling), motion.falling[:, 1])
    assert np.allclose(nod.of(motion.falling), np.rad2deg(motion.falling[:, 2]))


def test_the_joints_that_move_most_are_shown() -> None:
    """The curves are in the model's order."""
    model = wd.load_robot("humanoid")
    q = np.zeros((3, model.nq))
    q[2] = np.arange(model.nq)
    shown = curves(model, Trajectories(np.arange(3.0), q, q))
    assert [x.column for x in shown] == list(range(model.nq - MOST_JOINTS, model.nq))


def test_every_joint_has_its_own_scale(spinner, tmp_path: Path, monkeypatch) -> None:
    """Each joint has a small plot, whose axis spans little more than its own curve."""
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    made: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path, **_: made.append(self))
    motion = motion_of(spinner)
    picture(spinner, motion, tmp_path / "p.png")
    (figure,) = made
    plots = {side.get_title(): side for side in figure.axes}
    low, high = plots["lift [m]"].get_ylim()
    assert low > -0.02 and high < 0.08
    assert np.ptp(plots["spin [deg]"].get_ylim()) > 300


BALL = """<mujoco><worldbody><body><joint type="ball"/><geom type="capsule" size="0.05"
fromto="0 0 0 0.3 0 0"/></body></worldbody></mujoco>"""


def test_a_robot_with_only_ball_joints_is_drawn_without_curves(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    model = wd.load_mjcf(BALL)
    q = np.tile(model.neutral, (3, 1))
    path = tmp_path / "p.png"
    picture(model, Trajectories(np.arange(3.0), q, q), path)
    assert path.stat().st_size > 0


@pytest.mark.parametrize("way", [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (-1.0, 0.5)])
def test_a_fall_is_seen_from_the_side(way: tuple[float, float]) -> None:
    """The view shows horizontal motion as motion to the left or right, never towards the viewer. A
    robot that only moves up and down is drawn from the default view."""
    links = np.array([[0.0, 0.0], [0.3, -0.2]])
    places = links + np.linspace(0.0, 1.0, 5)[:, None, None] * np.array(way)
    right, _, towards = across(places).axes()
    assert abs(right[:2] @ way) == pytest.approx(np.hypot(*way)) and right[0] >= 0.0
    assert abs(towards[:2] @ way) < 1e-9
    assert across(np.tile(links, (5, 1, 1))) == Sight()


def test_the_robot_is_drawn_at_several_times_and_fills_its_plot(
    tmp_path: Path, monkeypatch
) -> None:
    """The falling robot is drawn in shades of one colour, the last one full, and the held robot
    once. Both plots have the same scale."""
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex
    from matplotlib.figure import Figure

    made: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda self, path, **_: made.append(self))
    model = wd.load_robot("ur5e")
    picture(model, simulate(model), tmp_path / "p.png")
    falls, stays, *_ = made[0].axes
    shades = list(dict.fromkeys(to_hex(patch.get_facecolor()) for patch in falls.patches))
    assert len(shades) == MOMENTS and shades[-1] == FALLING
    assert {to_hex(patch.get_facecolor()) for patch in stays.patches} == {HELD}
    assert falls.get_xlim() == stays.get_xlim() and falls.get_ylim() == stays.get_ylim()
    corners = np.concatenate([patch.get_xy() for patch in (*falls.patches, *stays.patches)])
    for k, limits in enumerate((falls.get_xlim(), falls.get_ylim())):
        assert np.ptp(corners[:, k]) > 0.8 * np.ptp(limits)
