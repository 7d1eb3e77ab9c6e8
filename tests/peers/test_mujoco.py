"""The command line's MuJoCo results in warpdyn's coordinates, which agree with the oracle.
tests/mujoco_peer.py is another adapter, on purpose, that reads MJCF."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_urdf import FREE_INSIDE, PLANAR, ROOTED
from peer_answers import check_answers
from robots import by_name

import warpdyn as wd
from warpdyn.peers.mujoco import MuJoCo
from warpdyn.peers.peer import NotComparable

pytest.importorskip("mujoco", reason="MuJoCo is not installed (pip install mujoco)")


@pytest.mark.parametrize(
    "name",
    ["axes", "slides", "mimic_chain", "branches_wxyz", "quadruped_floating"],
)
def test_results_agree_with_the_oracle(name):
    """The robots have fixed and free bases, quaternions of both orders, slanted axes, slides, and
    chains of mimic joints."""
    robot = by_name(name)
    model = robot.model
    check_answers(MuJoCo(model, robot.text), model)


def test_fused_links_have_the_same_dynamics():
    """M and h do not change if links on fixed joints are merged into one body."""
    model = wd.load(ROOTED)
    whole, fused = MuJoCo(model, ROOTED), MuJoCo(model, ROOTED, fused=True)
    assert fused.robot.nbody < whole.robot.nbody
    q, v = np.full(model.nv, 0.3), np.full(model.nv, -0.7)
    np.testing.assert_allclose(fused.crba(q), whole.crba(q), rtol=1e-12)
    np.testing.assert_allclose(fused.rnea(q, v, v), whole.rnea(q, v, v), rtol=1e-12)


@pytest.mark.parametrize(("text", "kind"), [(PLANAR, "planar"), (FREE_INSIDE, "floating")])
def test_joint_kinds_that_mujoco_lacks_are_refused(text, kind):
    """MuJoCo's URDF reader would make other joints of them."""
    with pytest.raises(NotComparable, match=f"MuJoCo has no {kind} joint in URDF"):
        MuJoCo(wd.load(text), text)


def test_whole_has_no_effect_on_a_urdf_text():
    """It only concerns parts of MJCF files."""
    robot = by_name("axes")
    check_answers(MuJoCo(robot.model, robot.text, whole=True), robot.model)


def test_another_robot_is_refused():
    """A text without the model's joints or links is not compared, nor is one that MuJoCo cannot
    read."""
    robot = by_name("slides")
    more = robot.model.with_frame("tip", robot.model.root, (0.0, 0.0, 0.1))
    with pytest.raises(NotComparable, match='MuJoCo has no body "tip"'):
        MuJoCo(more, robot.text)
    with pytest.raises(NotComparable, match="MuJoCo has no joint"):
        MuJoCo(wd.load_robot("cartpole"), by_name("single").text)
    massless = by_name("mimic_chain_floating")  # the base
    with pytest.raises(NotComparable, match="MuJoCo does not read it: "):
        MuJoCo(massless.model, massless.text)
