"""Functions that peers share: coordinates of every joint, URDF reduced to what libraries agree on,
and refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_urdf import MIMIC_CHAIN
from lxml import etree
from states import reduction

import warpdyn as wd
from warpdyn.peers.peer import NotComparable, bare, driven_joints, first_line, refuse_mimic_joints


def test_mimic_joints_follow_their_leaders():
    """q_full = G q + g for every joint. The tests compute G and g in another way."""
    model = wd.load(MIMIC_CHAIN)
    G, _, g = reduction(model)
    q = np.random.default_rng(0).uniform(-1, 1, model.nq)
    positions = [d.multiplier * q[d.q][0] + d.offset for d in driven_joints(model)]
    np.testing.assert_allclose(positions, G @ q + g, rtol=1e-15, atol=1e-15)


def test_a_free_base_comes_first():
    """Every moving joint occurs once, after the base."""
    model = wd.load_robot("quadruped")
    names = [d.joint.name for d in driven_joints(model)]
    assert names == [joint.name for joint in model.moving_joints]
    assert next(driven_joints(model)).q == slice(0, 7)


def test_bare_text_has_only_links_and_joints():
    """Parts that add to the dynamics or are in other files are left out. The masses remain."""
    text = """<!-- c --><robot name="r"><material name="m"/><gazebo/>
      <link name="a"><visual><geometry><mesh filename="no.stl"/></geometry></visual>
        <inertial><mass value="2"/></inertial><collision/></link>
      <link name="b"/>
      <joint name="j" type="revolute"><parent link="a"/><child link="b"/><dynamics friction="1"/>
        <mimic joint="k"/><limit lower="-1" upper="1"/></joint><transmission/></robot>"""
    root = bare(text)
    assert [element.tag for element in root] == ["link", "link", "joint"]
    tags = {element.tag for element in root.iter()}
    assert not tags & {"visual", "collision", "mimic", "dynamics", "mesh", etree.Comment}
    origin = root.find("link/inertial/origin")
    assert root.find("link/inertial/mass").get("value") == "2"
    assert origin.attrib == {"xyz": "0 0 0", "rpy": "0 0 0"}


def test_forward_dynamics_with_mimic_joints_is_refused():
    """A peer's joints are all free, so it would compute another motion."""
    with pytest.raises(NotComparable, match='mimic joint "second" moves by itself there'):
        refuse_mimic_joints(wd.load(MIMIC_CHAIN))
    refuse_mimic_joints(wd.load_robot("cartpole"))


def test_an_error_without_text_is_named():
    """The result is the first line of the text, or the name of the type."""
    assert first_line(ValueError("\n  one\ntwo")) == "one"
    assert first_line(KeyError()) == "KeyError"
