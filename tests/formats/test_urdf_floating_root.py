"""URDF: a root on a floating joint and floating_base=True make one free base."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.formats.urdf import load_urdf
from warpdyn.model.names import ModelWarning

BODY = """<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>"""


def drone(root: str = "", more: str = "") -> str:
    return f"""<robot name="drone"><link name="world">{root}</link><link name="body">{BODY}</link>
      <link name="rotor">{BODY}</link>{more}
      <joint name="free" type="floating"><parent link="world"/><child link="body"/></joint>
      <joint name="spin" type="continuous"><parent link="body"/><child link="rotor"/>
        <origin xyz="0 1 0"/><axis xyz="0 0 1"/></joint></robot>"""


def test_a_floating_root_joint_becomes_the_free_base() -> None:
    """The base has seven coordinates, once. The mass matrix equals that of the model with a
    floating joint."""
    with pytest.warns(
        ModelWarning, match='joint "free" is floating already: link "body" is the free base'
    ):
        model = load_urdf(drone(), floating_base=True)
    assert model.floating_base and model.root == "body" and (model.nq, model.nv) == (8, 7)
    held = load_urdf(drone())
    assert not held.floating_base and (held.nq, held.nv) == (8, 7)
    q = np.array([0.1, 0.2, 0.3, 0, 0, 0.6, 0.8, 0.5])
    ours, theirs = (wd.oracle(wd.crba, each, q) for each in (model, held))
    np.testing.assert_allclose(ours, theirs, atol=1e-14)


def test_a_root_with_mass_gets_a_free_base_of_its_own() -> None:
    """The floating joint then connects it with the second body."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = load_urdf(drone(BODY), floating_base=True)
    assert model.root == "world" and model.nv == 13


ODOM = """<link name="odom"/><joint name="at" type="fixed"><parent link="{}"/><child link="{}"/>
  <origin xyz="1 2 3"/></joint>"""


@pytest.mark.parametrize("ends", [("odom", "world"), ("world", "odom")])
def test_massless_links_on_fixed_joints_belong_to_the_root(ends: tuple[str, str]) -> None:
    """Frames above and next to the root link do not add a second free base."""
    with pytest.warns(ModelWarning, match='links "world", "odom" and the joint are left out'):
        model = load_urdf(drone(more=ODOM.format(*ends)), floating_base=True)
    assert model.root == "body" and (model.nq, model.nv) == (8, 7)
    assert load_urdf(drone(more=ODOM.format(*ends))).nv == 7


def test_a_link_with_mass_fixed_to_the_root_gets_a_free_base_of_its_own() -> None:
    """The floating joint then connects it with the second body, and no remark calls the root
    massless.
    """
    heavy = ODOM.format("world", "odom").replace(
        '<link name="odom"/>', f'<link name="odom">{BODY}</link>'
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_urdf(drone(more=heavy), floating_base=True)
    assert model.nv == 13
    assert not any("massless" in str(each.message) for each in caught)
