"""Named configurations: stored by joint name, and kept through every change of the robot."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hand_models import hand

import warpdyn as wd
from warpdyn.model.named_configurations import Configuration, Configurations


def quadruped(quaternion: str = "xyzw") -> wd.Model:
    return wd.load_robot("quadruped", quaternion=quaternion)


def test_a_configuration_is_stored_as_q() -> None:
    """It is (nq,) in the model's columns, read-only, with the free base. A name that is used again
    is replaced."""
    model = quadruped()
    q = np.linspace(-0.5, 0.5, model.nq)
    q[3:7] = (0, 0, 3.0, 4.0)
    named = model.with_configuration("stand", q).with_configuration("zero", model.neutral)
    assert list(named.configurations) == ["home", "stand", "zero"]
    assert list(model.configurations) == ["home"]
    stand = named.configurations["stand"]
    np.testing.assert_allclose(stand[3:7], (0, 0, 0.6, 0.8), rtol=1e-15)
    np.testing.assert_array_equal(np.delete(stand, range(3, 7)), np.delete(q, range(3, 7)))
    with pytest.raises(ValueError, match="read-only"):
        stand[0] = 1.0
    again = named.with_configuration("stand", model.neutral)
    assert list(again.configurations) == ["home", "stand", "zero"]
    np.testing.assert_array_equal(again.configurations["stand"], model.neutral)
    np.testing.assert_array_equal(named.configurations["stand"], stand)


def test_a_configuration_may_be_a_mapping_of_joints() -> None:
    """Other joints are neutral. Quaternions have the model's order."""
    model = quadruped("wxyz").with_configuration(
        "up", {"FL_calf_joint": -1.5, "floating_base": (0, 0, 0.4, 0, 1, 0, 0)}
    )
    q = dict(zip(model.q_names, model.configurations["up"], strict=True))
    changed = {name: x for name, x in q.items() if x}
    assert changed == {"floating_base.z": 0.4, "floating_base.qx": 1.0, "FL_calf_joint": -1.5}


def test_invalid_configurations_are_refused() -> None:
    """The message names the shape, joint, number or name."""
    model = hand()
    with pytest.raises(
        ValueError, match=r"q must be a mapping by joint name, or q \(nq,\) = \(5,\)"
    ):
        model.with_configuration("home", np.zeros(4))
    with pytest.raises(KeyError, match="did you mean 'wrist'"):
        model.with_configuration("home", {"wirst": 1.0})
    with pytest.raises(ValueError, match='joint "wrist" needs 1 finite coordinate'):
        model.with_configuration("home", {"wrist": np.nan})
    with pytest.raises(ValueError, match="a configuration needs a name, got ''"):
        model.with_configuration("", model.neutral)
    with pytest.raises(ValueError, match="its quaternion is zero"):
        quadruped().with_configuration("home", np.zeros(19))


def test_an_unknown_configuration_is_answered_with_similar_names() -> None:
    """If there are none, the message says how to make one."""
    with pytest.raises(KeyError, match=r"no configurations; make one: model\.with_configuration"):
        hand().configurations["home"]
    model = hand().with_configuration("home", hand().neutral)
    with pytest.raises(KeyError, match="no configuration named 'hme'; did you mean 'home'"):
        model.configurations["hme"]
    assert "home" in model.configurations and "hme" not in model.configurations
    assert repr(model.configurations) == "<1 configuration of hand: home>"


def test_configurations_survive_changes_of_numbers() -> None:
    """A configuration q is the same after payloads, limits, effects, frames, copies and pickles."""
    model = hand()
    q = np.arange(1.0, 6.0)
    model = model.with_configuration("home", q)
    for changed in (
        model.with_payload("palm", 1.0),
        model.with_link_mass("palm", 2.0),
        model.with_limits("wrist", upper=1.0),
        model.with_armature(0.1),
        model.with_frame("camera", "palm", (0, 0, 0.1)),
        model.with_base_velocity("world"),
        model.collapse(),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(changed.configurations["home"], q)


def test_configurations_follow_changes_of_joints() -> None:
    """Locked and detached joints are removed, renamed ones are kept. An attached robot has its own
    configuration of the same name, or is neutral."""
    model = hand().with_configuration("home", {"wrist": 1.0, "slide": (2, 3, 4), "finger": 0.03})
    reduced = model.reduce(["finger"], at=model.configurations["home"].copy())
    assert reduced.configurations["home"].tolist() == [0.03]
    assert model.detach("puck").configurations["home"].tolist() == [1.0, 0.03]
    renamed = model.rename(joints={"wrist": "turn"})
    np.testing.assert_array_equal(renamed.configurations["home"], model.configurations["home"])
    other = (
        hand().with_configuration("home", {"wrist": -1.0}).with_configuration("away", np.ones(5))
    )
    both = model.with_configuration("rest", model.neutral).attach(other, "palm", prefix="other_")
    q = dict(zip(both.q_names, both.configurations["home"], strict=True))
    assert q["wrist"] == 1.0 and q["other_wrist"] == -1.0 and q["other_finger"] == 0.0
    assert list(both.configurations) == ["home", "rest"]
    assert not both.configurations["rest"].any()
    back = both.detach("other_base")
    np.testing.assert_array_equal(back.configurations["home"], model.configurations["home"])
    assert back.named == model.with_configuration("rest", model.neutral).named


def test_configurations_are_not_part_of_the_key() -> None:
    """A robot has one kernel, whatever its configurations."""
    model = hand()
    assert model.with_configuration("home", np.ones(5)).key == model.key


def test_configuration_records_can_be_restricted_renamed_and_joined() -> None:
    """The name of the record does not change."""
    record = Configuration("home", (("a", (1.0,)), ("b", (2.0,))))
    assert record.restrict_to({"b"}) == Configuration("home", (("b", (2.0,)),))
    assert record.with_renamed_joints({"a": "c"}).coordinates[0] == ("c", (1.0,))
    assert record.join(Configuration("x", (("d", (3.0,)),))).coordinates[-1] == ("d", (3.0,))
    assert len(Configurations("r", {"home": np.zeros(1)})) == 1
