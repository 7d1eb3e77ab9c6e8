"""Contact points become constants of a program, so they must be plain numbers."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.point_checks import (
    checked_points,
    need_slots,
    refusing_for_explicit_forces,
    refusing_for_step,
    refusing_still_points,
)

MODEL = wd.load_robot("panda")


def test_points_are_converted_to_plain_numbers() -> None:
    """Arrays and tuples become floats, so that equal points use one kernel."""
    made = checked_points(
        MODEL,
        [("panda_hand", np.array([0, 0, 0.1], np.float32).astype(float).round(3), np.float32(0))],
    )
    assert made == (wd.ContactPoint("panda_hand", (0.0, 0.0, 0.1), 0.0),)
    assert all(type(x) is float for x in (*made[0].centre, made[0].radius)) and hash(made)


@pytest.mark.parametrize(
    "wrong", [((0, 0), 0.1), ((0, 0, math.nan), 0.1), ((0, 0, 0), -1.0), ((0, 0, 0), math.inf)]
)
def test_invalid_centres_and_radii_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="a contact point is a link, a centre"):
        checked_points(MODEL, [("panda_hand", *wrong)])


@pytest.mark.parametrize("one", ["*_foot", wd.ContactPoint("base", (0.0, 0.0, 0.0), 0.1)])
def test_one_point_or_a_pattern_is_refused_as_a_whole(one: Any) -> None:
    """The message named the first letter, or the link."""
    with pytest.raises(TypeError, match=re.escape(f"selects; got {one!r}")):
        checked_points(wd.load_robot("quadruped"), one)


def test_an_unknown_link_is_refused_with_a_suggestion() -> None:
    with pytest.raises(KeyError, match="did you mean 'panda_hand'"):
        checked_points(MODEL, [("panda_hnd", (0, 0, 0), 0.1)])


@pytest.mark.parametrize(
    ("by_link", "slots"),
    [
        ((40,), False),
        ((41,), True),
        ((2,) * 10 + (1,), False),
        ((2,) * 10 + (1,) * 2, True),
        ((3,) * 10 + (1,), False),
    ],
)
def test_many_points_or_rows_need_slots(by_link: tuple[int, ...], slots: bool) -> None:
    """More than 40 points, or more than 64 rows: three for one point on a link, six for several."""
    points = [
        wd.ContactPoint(f"link {k}", (0.0, 0.0, 0.0), 0.0)
        for k, count in enumerate(by_link)
        for _ in range(count)
    ]
    assert need_slots(points) == slots


def test_points_on_a_fixed_link_are_refused() -> None:
    refuse = refusing_still_points(checked_points(MODEL, [(MODEL.root, (0, 0, 0), 0.1)]))
    with pytest.raises(ValueError, match="which is fixed in the world"):
        refuse(MODEL)
    refusing_still_points(checked_points(MODEL, [("panda_hand", (0, 0, 0), 0.1)]))(MODEL)


def test_explicit_forces_need_joints_that_move_inertia() -> None:
    """A link without mass at the end of a chain. An implicit step with a drive may hold it."""
    text = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0"
    ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="b"/><joint name="j"
    type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
    model = wd.load_urdf(text)
    arrays = [np.zeros((1, n)) for n in (model.nq, model.nv, model.nv)]
    for call in (
        lambda: wd.step(model, *arrays, integrator="rk4"),
        lambda: wd.state_derivative(model, *arrays),
    ):
        with pytest.raises(wd.ModelError, match='joint "j" moves no inertia'):
            call()


def test_an_implicit_step_needs_inertia_or_a_force_that_holds_the_joint() -> None:
    """Friction, a spring or a drive; without them the step would be NaN."""
    text = """<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0"
    ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link><link name="b"/><joint name="j"
    type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>"""
    model = wd.load_urdf(text)
    one = np.ones((1, 1))
    with pytest.raises(wd.ModelError, match='joint "j" moves no inertia'):
        wd.step(model, 0 * one, one, 0 * one, dt=0.01)
    drive = {"targets": one, "control": wd.PD(kp=2.0, kd=1.0)}
    for held, options in (
        (model.with_friction(viscous=0.5), {}),
        (model.with_springs(3.0), {}),
        (model.with_armature(0.1), {}),
        (model, drive),
        (model, {"params": model.params(armature={"j": 0.1})}),
    ):
        after = wd.step(held, 0 * one, one, 0 * one, dt=0.01, **options)
        assert np.isfinite(after.q).all() and np.isfinite(after.v).all()
    free = wd.load_robot("double_pendulum", floating_base=True)
    arrays = [np.zeros(n) for n in (free.nv, free.nv)]
    with pytest.raises(wd.ModelError, match=r"floating_base.*moves no inertia"):
        wd.step(free, free.neutral, *arrays, dt=0.01)


def test_explicit_forces_need_points_on_moving_links() -> None:
    refuse = refusing_for_explicit_forces([wd.ContactPoint(MODEL.root, (0, 0, 0), 0.1)])
    with pytest.raises(
        ValueError, match=f"contact points on '{MODEL.root}', which is fixed in the"
    ):
        refuse(MODEL)
    refusing_for_explicit_forces([wd.ContactPoint("panda_hand", (0, 0, 0), 0.1)])(MODEL)


def test_a_step_refuses_by_its_forces() -> None:
    """A joint that moves no inertia, and a point on a fixed link."""
    builder = wd.ModelBuilder("light").add_link("base", mass=1.0).add_link("end")
    light = builder.add_joint("hinge", "revolute", "base", "end", axis=(0, 0, 1)).build()
    options = {"implicit": True, "driven": False, "varied": False}
    for model, choices, refused in (
        (light, {}, True),
        (light, {"implicit": False}, True),
        (light.with_friction(viscous=0.5), {"implicit": False}, True),
        (light.with_friction(viscous=0.5), {}, False),
        (light.with_springs(3.0), {}, False),
        (light, {"driven": True}, False),
        (light, {"varied": True}, False),
    ):
        refuse = refusing_for_step([], **{**options, **choices})
        if refused:
            with pytest.raises(wd.ModelError, match='joint "hinge" moves no inertia'):
                refuse(model)
        else:
            refuse(model)
    still = refusing_for_step(
        [wd.ContactPoint("base", (0, 0, 0), 0.1)], implicit=True, driven=True, varied=True
    )
    with pytest.raises(ValueError, match="fixed in the world"):
        still(light)
