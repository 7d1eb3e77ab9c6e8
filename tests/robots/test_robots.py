"""The robots that come with warpdyn: clean descriptions, found by name."""

from __future__ import annotations

import re
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

import warpdyn as wd
import warpdyn.robots
from warpdyn.model.remarks import unphysical
from warpdyn.robots import FLOATING, load_robot, robot_names

FOLDER = Path(warpdyn.robots.__file__).parent


@pytest.mark.parametrize("name", robot_names())
def test_bundled_robots_load_without_a_remark(name: str) -> None:
    """The robots that come with warpdyn have no warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load_robot(name)
    assert model.nv > 0 and model.total_mass > 0 and not model.warnings


def test_load_robot_knows_names_and_floating_bases() -> None:
    """quadruped and humanoid float unless told otherwise; options pass through; an unknown name lists the known."""
    assert {"cartpole", "double_pendulum", "humanoid", "panda", "quadruped", "ur5e"} <= set(
        robot_names()
    )
    assert load_robot("quadruped").floating_base and load_robot("humanoid").floating_base
    assert (
        not load_robot("panda").floating_base
        and not load_robot("quadruped", floating_base=False).floating_base
    )
    assert (
        load_robot("panda", floating_base=True, quaternion="wxyz").q_names[3] == "floating_base.qw"
    )
    for name in ("pandas", "../panda", "panda.urdf", ""):
        with pytest.raises(ValueError, match="choose one of cartpole, "):
            load_robot(name)


def test_equal_options_give_the_same_model() -> None:
    """Reading a file takes 2 to 20 ms. A value that only equals an option has a model of its own."""
    model = load_robot("panda")
    assert load_robot("panda", floating_base=False, base_velocity="local") is model
    assert load_robot("panda", quaternion="wxyz") is not model
    assert load_robot("panda", floating_base=0) is not model  # type: ignore[arg-type]
    assert load_robot("quadruped", floating_base=True) is load_robot("quadruped")


@pytest.mark.parametrize("name", robot_names())
def test_bundled_robots_are_physical_and_name_their_source(name: str) -> None:
    """Every link is one that a rigid body can be, and the file says where its numbers come from."""
    model = load_robot(name)
    assert not list(unphysical(model.links, model.joints)) and model.floating_base == (
        name in FLOATING
    )
    assert "<!--" in (FOLDER / f"{name}.urdf").read_text()[:2000]


STILL = ("cartpole", "double_pendulum")
"""Robots of textbooks, which hang or roll in the plane z = 0: a simulation's ground is not for them."""


@pytest.mark.parametrize("name", robot_names())
def test_bundled_robots_have_shapes(name: str) -> None:
    """Every link with mass has a visual shape.

    Every robot except the textbook ones has contact points.
    """
    model = load_robot(name)
    heavy = {link.name for link in model.links if link.mass}
    assert heavy <= {link.name for link in model.links if link.visuals}
    assert all(link.visuals for link in model.links if link.collisions)
    points = wd.ContactPoints(model)
    assert not points.left_out and bool(points) == (name not in STILL)


def test_robots_that_stand_have_what_touches() -> None:
    """Feet, knees, hips and trunk; the soles of both feet in one plane, where the sole's frame is."""
    legs = ("FL", "FR", "RL", "RR")
    quadruped = set(wd.ContactPoints(load_robot("quadruped")).links)
    parts = ("foot", "calf", "hip")
    assert quadruped == {"base", *(f"{leg}_{part}" for leg in legs for part in parts)}
    humanoid = load_robot("humanoid")
    points = wd.ContactPoints(humanoid)
    assert {"pelvis", "torso_link", "head_link", "left_knee_link", "right_knee_link"} <= set(
        points.links
    )
    for side in ("left", "right"):
        feet = points.only(f"{side}_ankle_roll_link")
        (sole,) = [j for j in humanoid.joints if j.child == f"{side}_foot_sole"]
        assert len(feet) == 4
        for sphere in feet:
            lowest = sphere.centre[2] - sphere.radius
            assert lowest == pytest.approx(sole.pose.position[2])


def test_shapes_are_the_same_on_both_sides() -> None:
    """Left and right of the quadruped and the humanoid are mirror images (y changes its sign)."""
    for name, sides in (("quadruped", ("FL_", "FR_")), ("humanoid", ("left_", "right_"))):
        points = wd.ContactPoints(load_robot(name))
        left, right = ([p for p in points if p.link.startswith(side)] for side in sides)
        mirrored = [(p.link[len(sides[0]) :], np.multiply(p.centre, [1, -1, 1])) for p in left]
        assert len(left) == len(right) > 0
        for p in right:
            same = [at for link, at in mirrored if link == p.link[len(sides[1]) :]]
            assert any(np.allclose(at, p.centre, atol=1e-5) for at in same)


# Home.

PAGE = Path(__file__).parents[2] / "docs/simulation.md"
ROW = re.compile(r"^\| `(\w+)` \| .* \| `wd\.PD\((\d+), (\d+)\)` \| ([\d.]+) \|", re.MULTILINE)


def gains() -> dict[str, tuple[float, float, float]]:
    """kp, kd and the largest joint error [rad, m] by robot, as the page on simulation has them."""
    return {m[1]: (float(m[2]), float(m[3]), float(m[4])) for m in ROW.finditer(PAGE.read_text())}


@pytest.mark.parametrize("name", robot_names())
def test_home_is_within_limits_and_on_the_floor(name: str) -> None:
    """Nothing lies in the ground; what stands, stands: its lowest points are at z = 0."""
    model = load_robot(name)
    home = model.configurations["home"]
    assert (home >= model.position_lower).all() and (home <= model.position_upper).all()
    poses = wd.oracle(wd.fk, model, home)
    heights = [
        (poses[model.link_index(p.link)] @ [*p.centre, 1.0])[2] - p.radius
        for p in wd.ContactPoints(model)
    ]
    if name in FLOATING:
        feet = sorted(heights)[: 4 if name == "quadruped" else 8]
        assert np.abs(feet).max() < 1e-4
    assert min(heights, default=0.0) > -1e-4


@pytest.mark.parametrize("name", robot_names())
def test_home_is_held_for_four_seconds(name: str) -> None:
    """Drives with the gains of the page hold it within the error of the page.

    Standing robots are at rest and upright, with their whole weight on their feet.
    """
    model = load_robot(name)
    kp, kd, error = gains()[name]
    feet = {"quadruped": "*_foot", "humanoid": "*_ankle_roll_link"}
    points = wd.ContactPoints(model).only(feet[name]) if name in feet else ()
    sim = wd.Simulation(model, 2, points=points, control=wd.PD(kp, kd))
    home = model.configurations["home"]
    np.testing.assert_allclose(sim.q, [home, home], rtol=1e-6)
    for _ in range(200):
        sim.step()
    assert sim.time[0] == pytest.approx(4.0) and not sim.failures.any()
    joints = slice(7 * model.floating_base, None)
    off = np.abs(sim.q - home)[:, joints].max()
    assert off <= error and (error == 0.0 or off > 0.5 * error)
    assert np.abs(sim.v).max() < 2e-3
    if name in FLOATING:
        assert np.abs(sim.q[:, :3] - home[:3]).max() < 0.015 and sim.q[:, 6].min() > 0.9999
        weight = 9.81 * model.total_mass
        assert np.allclose(sim.forces[:, :, 2].sum(1), weight, rtol=1e-3)


def notice() -> Path:
    """The file NOTICE of the checkout, or the one that came with the installed package."""
    beside = FOLDER.parents[1] / "NOTICE"
    if beside.exists():
        return beside
    (file,) = (file for file in metadata.files("warpdyn") or () if file.name == "NOTICE")
    return Path(str(file.locate()))


def test_the_notice_names_the_source_of_every_robot() -> None:
    """The notice names the licence of that source. A robot that is added needs a line."""
    rows = notice().read_text().splitlines()
    for name in robot_names():
        (row,) = [row for row in rows if row.split()[:1] == [name]]
        assert row.split()[-1] in ("publication", "BSD-3-Clause", "Apache-2.0", "(warpdyn)")
