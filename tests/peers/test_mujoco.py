"""The command line's MuJoCo answers in warpdyn's coordinates: what it answers is what the oracle says.

tests/mujoco_peer.py is another adapter, on purpose, that reads MJCF.
"""

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
def test_answers_are_the_oracles(name):
    """Fixed and free bases, quaternions of both orders, slanted axes, slides, chains of mimic joints."""
    robot = by_name(name)
    model = robot.model
    check_answers(MuJoCo(model, robot.text), model)


def test_fused_links_move_the_same():
    """With links on fixed joints made one body, M and h are what they were."""
    model = wd.load(ROOTED)
    whole, fused = MuJoCo(model, ROOTED), MuJoCo(model, ROOTED, fused=True)
    assert fused.robot.nbody < whole.robot.nbody
    q, v = np.full(model.nv, 0.3), np.full(model.nv, -0.7)
    np.testing.assert_allclose(fused.crba(q), whole.crba(q), rtol=1e-12)
    np.testing.assert_allclose(fused.rnea(q, v, v), whole.rnea(q, v, v), rtol=1e-12)


@pytest.mark.parametrize(("text", "kind"), [(PLANAR, "planar"), (FREE_INSIDE, "floating")])
def test_joints_without_a_word_in_mujoco_are_refused(text, kind):
    """MuJoCo's reader of URDF makes other joints of these."""
    with pytest.raises(NotComparable, match=f"MuJoCo has no {kind} joint in URDF"):
        MuJoCo(wd.load(text), text)


def test_a_text_is_read_whole_too():
    """What `whole` leaves in is of MJCF files; a URDF text has nothing of it."""
    robot = by_name("axes")
    check_answers(MuJoCo(robot.model, robot.text, whole=True), robot.model)


def test_another_robot_is_refused():
    """A text that lacks the model's joints or links is not compared; nor one that MuJoCo does not read."""
    robot = by_name("slides")
    more = robot.model.with_frame("tip", robot.model.root, (0.0, 0.0, 0.1))
    with pytest.raises(NotComparable, match='MuJoCo has no body "tip"'):
        MuJoCo(more, robot.text)
    with pytest.raises(NotComparable, match="MuJoCo has no joint"):
        MuJoCo(wd.load_robot("cartpole"), by_name("single").text)
    massless = by_name("mimic_chain_floating")  # its base
    with pytest.raises(NotComparable, match="MuJoCo does not read it: "):
        MuJoCo(massless.model, massless.text)
