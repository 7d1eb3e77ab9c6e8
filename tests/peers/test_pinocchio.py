"""The command line's Pinocchio results in warpdyn's coordinates, which agree with the oracle.
tests/pinocchio_peer.py is another adapter, on purpose. warpdyn's kernels are tested with that
one."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_urdf import PLANAR, PLANAR_SLANTED, joint, link, urdf
from peer_answers import check_answers
from robots import by_name

import warpdyn as wd
from warpdyn.peers.peer import NotComparable
from warpdyn.peers.pinocchio import Pinocchio

pytest.importorskip("pinocchio", reason="Pinocchio is not installed (pip install pin)")

FLAT = urdf(
    "flat",
    link("floor"),
    link("cart", 8.0, (0.1, 0.05, 0.2)),
    link("mast", 2.0, (0, 0.1, 0.4)),
    joint("drive", "planar", "floor", "cart", (0.3, 0, 0.1), (0.1, 0, 0.4)),
    joint("tilt", "revolute", "cart", "mast", (0, 0, 0.3), axis=(0, 1, 0)),
)


@pytest.mark.parametrize(
    "name",
    [
        "axes",
        "slides",
        "mimic_chain",
        "mimic_chain_floating",
        "branches_wxyz",
        "quadruped_floating",
    ],
)
def test_results_agree_with_the_oracle(name):
    """The robots have fixed and free bases, quaternions of both orders, slanted axes, slides, and
    chains of mimic joints."""
    robot = by_name(name)
    model = robot.model
    check_answers(Pinocchio(model, robot.text), model)


def test_a_planar_joint_has_two_positions_and_an_angle():
    """Pinocchio stores the angle as cosine and sine, as for joints without limits."""
    model = wd.load(FLAT)
    peer = Pinocchio(model, FLAT)
    check_answers(peer, model)
    q = np.array([0.1, 0.2, 0.3, 0.4])
    wanted = [0.1, 0.2, np.cos(0.3), np.sin(0.3), 0.4]
    np.testing.assert_array_equal(peer.configuration(q), wanted)


@pytest.mark.parametrize("text", [PLANAR, PLANAR_SLANTED])
def test_planar_joints_with_other_axes_are_refused(text):
    """Pinocchio's planar joints are in the xy plane, whatever their axis."""
    with pytest.raises(NotComparable, match="in the xy plane, whatever its axis"):
        Pinocchio(wd.load(text), text)


def test_another_robot_is_refused():
    """A text with other joints than the model is not compared, nor is one that cannot be read."""
    model, single = wd.load_robot("cartpole"), by_name("single").text
    with pytest.raises(NotComparable, match="Pinocchio has no joint"):
        Pinocchio(model, single)
    with pytest.raises(NotComparable, match="joints that are not in the model"):
        Pinocchio(wd.load("<robot name='s'><link name='base'/></robot>"), single)
    with pytest.raises(NotComparable, match="Pinocchio does not read it: "):
        Pinocchio(model, "<robot")
