"""MJCF: lists that are shorter than those of their class, compared with MuJoCo."""

from __future__ import annotations

import numpy as np
import pytest
from mjcf_texts import load

import warpdyn as wd
from warpdyn.formats.mjcf.mjcf_defaults import LISTS, with_class_defaults

TEXT = """<mujoco><default><geom size="0.1 0.2 0.3" friction="2 0.3 0.4" solref="0.1 2" solimp="0.1 0.2 0.3 0.4 3"
condim="6"/><joint stiffness="1 2" damping="1" solreflimit="0.1 2" solimplimit="0.1 0.2 0.3 0.4 3"/>
<default class="k"><geom friction="0.7"/></default></default><worldbody><body>
<joint name="j" range="-1 1" stiffness="4" solreflimit="0.05" solimplimit="0.05"/>
<geom name="g" type="box" size="0.5" friction="0.5" solref="0.05" solimp="0.05"/>
<geom name="h" class="k" pos="1 0 0"/></body></worldbody></mujoco>"""


def test_numbers_that_an_element_lacks_are_those_of_its_class() -> None:
    """Sizes, friction and softness have MuJoCo's numbers, and so has the mass matrix."""
    mujoco = pytest.importorskip("mujoco")
    there, model = mujoco.MjModel.from_xml_string(TEXT), load(TEXT)
    (body,) = (link for link in model.links if link.collisions)
    box, ball = body.collisions
    assert box.size == tuple(2 * there.geom_size[0])
    for shape, number in ((box, 0), (ball, 1)):
        said = dict(shape.contact)
        assert said["friction"] == tuple(there.geom_friction[number])
        assert said["solref"] == tuple(there.geom_solref[number])
        assert said["solimp"] == tuple(there.geom_solimp[number])
    limits = model.joint("j").soft_limit
    assert limits is not None and limits.impedance == pytest.approx(there.jnt_solimp[0])
    time, ratio = there.jnt_solref[0]
    assert limits.rate == pytest.approx(2.0 / (0.2 * time))
    assert limits.stiffness == pytest.approx(1.0 / (0.2 * time * ratio) ** 2)
    data = mujoco.MjData(there)
    mujoco.mj_forward(there, data)
    q = np.zeros(1)
    inertia = np.linalg.norm(wd.oracle(wd.crba, model, q))
    assert inertia == pytest.approx(data.qM[0] if hasattr(data, "qM") else data.M[0])
    assert any("stiffness" in line and "higher powers" in line for line in model.warnings)


def test_lists_of_a_class_fill_shorter_ones() -> None:
    """Other attributes, and lists that are long enough, replace those of the class."""
    of_class = {"size": "1 2 3", "pos": "1 2 3", "springlength": "1 2", "euler": "1 2 3"}
    own = {"size": "4", "pos": "5 6 7", "springlength": "8", "quat": "1 0 0 0"}
    assert with_class_defaults(own, of_class) == {**own, "size": "4 2 3"}
    assert with_class_defaults({"size": "4 5 6 7"}, of_class)["size"] == "4 5 6 7"
    assert with_class_defaults({}, of_class) == of_class
    assert "springlength" not in LISTS and "gear" in LISTS
