"""The robots that come with warpdyn: clean descriptions, found by name."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import warpdyn.robots
from warpdyn.model.checks import unphysical
from warpdyn.robots import FLOATING, load_robot, robot_names

FOLDER = Path(warpdyn.robots.__file__).parent


@pytest.mark.parametrize("name", robot_names())
def test_bundled_robots_load_without_a_remark(name: str) -> None:
    """What comes with warpdyn is clean."""
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


@pytest.mark.parametrize("name", robot_names())
def test_bundled_robots_are_physical_and_name_their_source(name: str) -> None:
    """Every link is one that a rigid body can be, and the file says where its numbers come from."""
    model = load_robot(name)
    assert not list(unphysical(model.links)) and model.floating_base == (name in FLOATING)
    assert "<!--" in (FOLDER / f"{name}.urdf").read_text()[:2000]


def test_robots_that_stand_have_what_touches() -> None:
    """Feet, knees and trunk; the soles of both feet in one plane, where the sole's frame is."""
    legs = ("FL", "FR", "RL", "RR")
    quadruped = {x.name for x in load_robot("quadruped").links if x.collisions}
    assert quadruped == {"base", *(f"{leg}_{part}" for leg in legs for part in ("foot", "calf"))}
    humanoid = load_robot("humanoid")
    dressed = {x.name: x.collisions for x in humanoid.links if x.collisions}
    assert {"pelvis", "torso_link", "head_link", "left_knee_link", "right_knee_link"} <= set(
        dressed
    )
    for side in ("left", "right"):
        feet = dressed[f"{side}_ankle_roll_link"]
        (sole,) = [j for j in humanoid.joints if j.child == f"{side}_foot_sole"]
        assert len(feet) == 4
        for sphere in feet:
            lowest = sphere.pose.position[2] - sphere.size[0]
            assert lowest == pytest.approx(sole.pose.position[2])
