"""MJCF: which body is the base, and the attributes of its joint in the file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from mjcf_texts import INERTIAL, body, load
from mujoco_peer import Peer, mujoco
from states import error, states

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf_bodies import bodies_at_rest, free_rest
from warpdyn.functions.dynamics import effect_torques
from warpdyn.model import BASE_JOINT
from warpdyn.model.names import ModelError
from warpdyn.model.poses_and_limits import Pose
from warpdyn.model.scene.free_bodies import free_coordinates

SPRINGS = 1e-12
"""Relative error of spring forces."""

TUMBLING = """
<mujoco><compiler angle="degree" alignfree="true"/><worldbody>
<body name="a" pos="0.1 0.2 1" euler="10 20 30"><joint name="NAME" type="free" stiffness="3" armature="0.1"/>
  <inertial pos="0.1 0.2 0.3" mass="2" diaginertia="0.1 0.2 0.25"/>
  <body name="b" pos="0.3 0 0" euler="40 0 10">
    <joint name="ball" type="ball" stiffness="5" pos="0 0.1 0" springref="7"/>
    <inertial pos="0 0.2 0" mass="1" diaginertia="0.1 0.2 0.25"/></body>
  </body>OTHERS</worldbody></mujoco>"""

BESIDE = f"""<body name="c" pos="1 0 0"><joint type="ball" name="beside" stiffness="2"/>{INERTIAL}</body>
<body name="d" pos="2 1 0" quat="1 2 0 0"><joint type="free" name="aligned" stiffness="4"/>
<inertial pos="0.1 0.2 0" mass="1" fullinertia="1 2 2.5 0.1 0.2 0.3"/></body>"""


@pytest.mark.parametrize("others", ["", BESIDE], ids=["base", "inside"])
def test_springs_of_ball_and_free_joints_equal_mujocos(others: str) -> None:
    """qfrc_passive of a free base, of free bodies in a tree (also aligned ones) where the file
    draws them, and of ball joints, which have no springref."""
    name = "free" if others else BASE_JOINT
    text = TUMBLING.replace("NAME", name).replace("OTHERS", others)
    described = load(text.replace(f'name="{name}"', 'name="free"'))
    assert described.floating_base is not bool(others)
    model, s = described.with_springs("description"), states(described, 5)
    assert not wd.oracle(effect_torques, described, s.q, s.v).any()
    peer = Peer(text, model)
    for q, v in zip(s.q, s.v, strict=True):
        T = peer.set(q, v)
        wanted = -T.T @ peer.data.qfrc_passive
        assert abs(wanted).max() > 1
        assert error(wd.oracle(effect_torques, model, q, v), wanted) < SPRINGS


def test_every_base_velocity_representation_has_the_same_base_spring() -> None:
    """The spring's force transforms like any other force on the base."""
    model = load(TUMBLING.replace("NAME", "free").replace("OTHERS", "")).with_springs("description")
    s = states(model, 3)
    wanted = wd.oracle(effect_torques, model, s.q, s.v)
    for there in ("world", "local_world_aligned"):
        other = model.with_base_velocity(there)
        v = wd.convert.velocity(model, s.q, s.v, target=there)
        found = wd.oracle(effect_torques, other, s.q, v)
        assert error((found * v).sum(-1), (wanted * s.v).sum(-1)) < 10 * SPRINGS


def test_base_armature_and_base_springs_are_read() -> None:
    model = load(TUMBLING.replace("NAME", "free").replace("OTHERS", ""))
    assert model.base_armature == 0.1 and not model.base_effects
    assert [e.spring for e in model.base_springs] == [3.0] * 6
    np.testing.assert_allclose([e.rest for e in model.base_springs[:3]], [0.1, 0.2, 1.0])
    assert model.with_springs("description").base_effects == model.base_springs


def test_the_rest_pose_of_a_free_joint_is_that_of_the_drawn_body() -> None:
    X = Pose.at((1, 2, 3), (0.1, 0.2, 0.3)).placement
    *p, x, y, z = free_rest(X)
    w = np.linalg.norm([x, y, z])
    turned = [*(np.sin(w / 2) * np.array([x, y, z]) / w), np.cos(w / 2)]
    np.testing.assert_allclose([*p, *turned], free_coordinates(X), atol=1e-15)


def test_a_free_joint_must_be_the_only_joint_of_a_body_in_the_world() -> None:
    inner = f"<body><freejoint/>{INERTIAL}</body>{INERTIAL}<joint/>"
    with pytest.raises(ModelError, match=r"a free joint must be the one joint of a body in"):
        load(body(inner))


@pytest.mark.parametrize(
    ("settings", "inner", "said"),
    [
        ('settotalmass="3"', "<geom size='0.1'/>", 'settotalmass does not count body "still"'),
        ('boundmass="0.1"', "", 'boundmass and boundinertia do not count body "still"'),
        ('boundinertia="0.1"', "", 'boundmass and boundinertia do not count body "still"'),
    ],
)
def test_compiler_settings_that_skip_fused_bodies_are_refused(
    settings: str, inner: str, said: str
) -> None:
    """MuJoCo fuses such bodies with their parents before it scales masses and applies bounds."""
    text = f"""<mujoco><compiler {settings} fusestatic="{{}}"/><worldbody><body name="still">{inner}</body>
    <body name="b"><joint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""
    with pytest.raises(ModelError, match=said):
        load(text.format("true"))
    assert load(text.format("false")).total_mass >= 1.0
    assert load(text.format("true").replace(settings, "")).nv == 1


@pytest.mark.parametrize(
    ("settings", "joint", "inner", "said"),
    [
        ('alignfree="true"', "<freejoint/>", "", 'body "a" has no child, so that MuJoCo moves'),
        ("", '<freejoint align="true"/>', "", 'body "a" has no child, so that MuJoCo moves'),
        ('alignfree="true"', "<freejoint/>", "<body><joint/><geom size='1'/></body>", ""),
        ('alignfree="true"', '<freejoint align="false"/>', "", ""),
        ('inertiafromgeom="true"', "<joint/>", "", '"a" has other geoms after "b" is joined'),
        ('inertiafromgeom="auto"', "<joint/>", "", ""),
        ('inertiafromgeom="true"', "<joint/><geom size='1'/>", "", ""),
    ],
)
def test_fused_bodies_that_change_their_parent_are_refused(
    settings: str, joint: str, inner: str, said: str
) -> None:
    """MuJoCo aligns a free body that has no child left, and weighs a body by its child's geoms."""
    inertial = '<inertial pos="1 0 0" mass="3" diaginertia="1 1 1"/>'
    text = f"""<mujoco><compiler {settings} fusestatic="{{}}"/><worldbody><body name="a">{joint}{inertial}
    <body name="b"><geom size="0.1" mass="1"/>{inner}</body></body></worldbody></mujoco>"""
    if said:
        with pytest.raises(ModelError, match=said):
            load(text.format("true"))
    else:
        model = load(text.format("true"))
        peer = mujoco.MjModel.from_xml_string(text.format("true"))
        assert np.isclose(model.total_mass, peer.body_mass.sum(), rtol=1e-12)
    assert load(text.format("false")).total_mass >= 4.0


def test_dry_friction_of_free_joints_is_remarked() -> None:
    """MuJoCo's friction of a free base or of several free bodies acts along the world's axes."""
    text = body('<joint type="free" frictionloss="{}"/><geom size="0.1" contype="0"/>')
    assert load(text.format(0.2)).warnings == ("ignored frictionloss of a free joint (line 1)",)
    assert load(text.format(0)).warnings == ()
    still = (
        '<body><joint name="j"/><geom size="0.1" contype="0" conaffinity="0"/></body></worldbody>'
    )
    two = load(text.format(0.2).replace("</worldbody>", still))
    assert two.joint_names == ("joint0", "j") and two.joint("joint0").friction == 0.0
    assert "ignored frictionloss of a free joint (line 1)" in two.warnings


def test_bodies_with_free_joints_rest_only_if_the_base_is_fixed() -> None:
    """Neither the base itself nor what other joints move is at rest. Children follow their parents."""

    def body(parent: str, *kinds: str) -> Any:
        return SimpleNamespace(
            parent=parent, joints=[(None, {"type": kind}, None) for kind in kinds]
        )

    bodies = {
        "base": body("world", "free"),
        "cup": body("world", "free"),
        "handle": body("cup"),
        "lid": body("cup", "hinge"),
        "knob": body("lid"),
        "table": body("world"),
        "door": body("world", "free", "slide"),
    }
    assert bodies_at_rest(bodies, "base", None) == {"world", "table"}
    assert bodies_at_rest(bodies, "base", True) == {"world", "table"}
    assert bodies_at_rest(bodies, "base", False) == {"world", "table", "cup", "handle"}
    assert bodies_at_rest(bodies, "", False) == {"world", "table", "cup", "handle", "base"}
