"""The SDF reader: mimic joints and gearboxes."""

from __future__ import annotations

import numpy as np
import pytest
from sdf_texts import (
    AB,
    ROUND_OFF,
    axis,
    joint,
    link,
    load,
    model,
    motion,
    pose_matrix,
    poses,
    refusal,
    remarks,
    robot,
    rotation,
)


def mimic(inside: str = "", leader: str = "j", more: str = "") -> str:
    return f'<mimic joint="{leader}" {more}>{inside}</mimic>'


def test_mimic_joints_follow_their_leader() -> None:
    """The position is multiplier * (leader - reference) + offset."""
    values = "<multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference>"
    text = robot(
        link("a"),
        link("b"),
        link("c"),
        joint(),
        joint("k", child="c", inside=axis(inside=mimic(values))),
    )
    found = load(text, floating_base=False)
    assert found.nv == 1
    expected = 2 * (0.7 - 0.1) + 0.5
    assert np.allclose(
        poses(found, [0.7])["c"],
        motion(rotation([0, 0, 1], expected)),
        rtol=0,
        atol=ROUND_OFF,
    )


def test_mimic_joints_follow_a_joint_of_a_nested_model() -> None:
    """The path names the joint."""
    inner = model(link("c"), link("d"), joint("k", parent="c", child="d"), name="inner")
    follower = joint(inside=axis(inside=mimic(leader="inner::k")))
    held = joint("hold", "fixed", "a", "inner::c", "")
    assert load(robot(AB, inner, held, follower), floating_base=False).joint_names == ("inner::k",)


def gears(ratio: str = "5", inside: str | None = None) -> str:
    """A shaft b and a wheel c on a, and a gearbox between them."""
    links = link("a") + link("b", "0 0 1 0 0 0") + link("c", "1 0 1 0 0.3 0")
    wheel = joint("wheel", child="c", inside=axis("0 0 1", expressed_in="__model__"))
    body = "<gearbox_reference_body>a</gearbox_reference_body>"
    inside = (
        axis(expressed_in="__model__") + axis(tag="axis2", expressed_in="__model__")
        if inside is None
        else inside
    )
    gear = joint(
        "gear", "gearbox", "b", "c", f"{body}<gearbox_ratio>{ratio}</gearbox_ratio>{inside}"
    )
    return robot(links, joint("shaft"), wheel, gear)


@pytest.mark.parametrize("ratio", [5.0, -0.25])
def test_a_gearbox_couples_two_joints(ratio: float) -> None:
    """theta_2 = -ratio theta_1 holds, both relative to the reference body. The wheel's joint is not
    a coordinate."""
    found = load(gears(str(ratio)), floating_base=False)
    assert found.joint_names == ("shaft",)
    moved = poses(found, [0.3])
    assert np.allclose(moved["b"][:3, :3], rotation([0, 0, 1], 0.3), rtol=0, atol=ROUND_OFF)
    wheel = rotation([0, 0, 1], -ratio * 0.3) @ pose_matrix(pitch=0.3)[:3, :3]
    assert np.allclose(moved["c"][:3, :3], wheel, rtol=0, atol=ROUND_OFF)


def test_a_reversed_axis2_reverses_the_gearbox() -> None:
    """axis2 opposite to the wheel's axis changes the sign."""
    reversed_axis = axis(expressed_in="__model__") + axis(
        "0 0 -1", tag="axis2", expressed_in="__model__"
    )
    moved = poses(load(gears("5", reversed_axis), floating_base=False), [0.3])
    wheel = rotation([0, 0, 1], 5 * 0.3) @ pose_matrix(pitch=0.3)[:3, :3]
    assert np.allclose(moved["c"][:3, :3], wheel, rtol=0, atol=ROUND_OFF)


def test_a_gearbox_may_be_the_only_joint_of_its_child() -> None:
    """theta_2 is the child's angle relative to the reference body, not to its parent."""
    body = "<gearbox_reference_body>a</gearbox_reference_body><gearbox_ratio>2</gearbox_ratio>"
    gear = joint("gear", "gearbox", "b", "c", body + axis() + axis(tag="axis2"))
    found = load(robot(link("a"), link("b"), link("c"), joint("shaft"), gear), floating_base=False)
    assert found.joint_names == ("shaft",)
    assert np.allclose(
        poses(found, [0.3])["c"][:3, :3],
        rotation([0, 0, 1], -2 * 0.3),
        rtol=0,
        atol=ROUND_OFF,
    )


def test_a_mimic_of_a_joint_in_a_static_model_is_refused() -> None:
    """A static model's joints are not joints of the robot."""
    still = model(
        *("<static>true</static>", link("c"), link("d", "0 0 1 0 0 0")),
        *(joint("k", parent="c", child="d", inside=axis()),),
        name="still",
    )
    text = robot(AB, still, joint(inside=axis(inside=mimic(leader="still::k"))))
    assert 'it mimics "k", which is not part of this model' in refusal(text)


def test_a_second_axis_without_effect_is_remarked() -> None:
    """A universal joint reads it, a revolute joint does not."""
    axes = axis() + axis("0 1 0", tag="axis2")
    (remark,) = remarks(robot(AB, joint(inside=axes)))
    assert remark.endswith("its <axis2> has no effect: the joint is revolute")
    load(robot(AB, joint(kind="universal", inside=axes)))  # a remark would be an error
