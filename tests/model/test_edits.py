"""Models with other numbers: only the requested numbers change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hand_models import ROUND_OFF, hand
from states import error, states

import warpdyn as wd
from warpdyn.model import Model
from warpdyn.model.description import Link

COUNT = 3
PANDA = wd.load_robot("panda")


# Joints.


def test_armature_is_set_for_all_or_by_name() -> None:
    """A number applies to every moving joint, a mapping to the joints that it names. A fixed joint
    is refused."""
    assert {j.name: j.armature for j in hand().with_armature(0.5).joints}["mount"] == 0
    assert [j.armature for j in hand().with_armature(0.5).moving_joints] == [0.5, 0.5, 0.5]
    assert [j.armature for j in hand().with_armature({"finger": 2}).moving_joints] == [0, 0, 2]
    with pytest.raises(ValueError, match='joint "mount" of hand is fixed'):
        hand().with_armature({"mount": 1.0})
    with pytest.raises(KeyError, match="no joint named"):
        hand().with_armature({"elbow": 1.0})


def test_effects_are_set_for_all_by_name_or_as_described() -> None:
    """Other values do not change. Joints of two axes have one value for each. A fixed joint and one
    without limits are refused."""
    model = hand().with_friction(viscous=0.1, coulomb={"finger": 2.0})
    assert [j.effects[0].viscous for j in model.moving_joints] == [0.1] * 3
    assert model.joint("finger").effects[0].coulomb == 2.0 and not model.joint("mount").effects
    again = model.with_friction(viscous={"wrist": 0.0})
    assert not again.joint("wrist").effects and again.joint("finger") == model.joint("finger")
    damped = replace(hand(), joints=tuple(replace(j, damping=0.3) for j in hand().joints))
    assert damped.with_friction(viscous="description").joint("wrist").effects[0].viscous == 0.3
    sprung = hand().with_limit_springs(stiffness=50.0)
    assert [bool(j.effects) for j in sprung.moving_joints] == [True, False, True]
    with pytest.raises(ValueError, match='joint "mount" of hand is fixed; viscous friction'):
        hand().with_friction(viscous={"mount": 1.0})
    with pytest.raises(ValueError, match='joint "slide" of hand has no position limits'):
        hand().with_limit_springs(damping={"slide": 1.0})
    with pytest.raises(ValueError, match="must be finite and not negative, got -1"):
        hand().with_friction(coulomb=-1)
    for values in ([0.1] * 3, np.full(3, 0.1)):
        with pytest.raises(
            TypeError, match="viscous friction of hand must be one number, or numbers"
        ):
            hand().with_friction(viscous=values)


# Links.


def test_a_robot_records_the_kinds_of_forces_that_were_given() -> None:
    """No number, and no joints, are no choice."""
    assert hand().with_friction(viscous=0.1).chosen_forces == {"viscous"}
    assert hand().with_friction(coulomb=0.0, viscous={}).chosen_forces == {"coulomb"}
    assert hand().with_springs({"finger": 2.0}).chosen_forces == {"spring"}
    assert hand().with_springs({}).chosen_forces == set()
    assert hand().with_gravity_compensation("description").chosen_forces == {"gravcomp"}


def test_a_payload_adds_mass_first_moment_and_inertia() -> None:
    """Each is the sum of that of the link and that of the load, about the link's frame."""
    link = Link(
        "a", 2.0, (0.1, 0.2, 0.3), ((0.3, 0.01, 0.02), (0.01, 0.4, 0.03), (0.02, 0.03, 0.5))
    )
    load = Link(
        "load", 0.7, (-0.3, 0.1, 0.5), ((0.01, 0.0, 0.001), (0.0, 0.02, 0.0), (0.001, 0.0, 0.015))
    )
    both = (
        Model.assemble("m", [link], [])
        .with_payload("a", load.mass, load.com, load.inertia)
        .link("a")
    )

    def moments(part: Link) -> np.ndarray:
        com = np.array(part.com)
        about_frame = np.array(part.inertia) + part.mass * (
            com @ com * np.eye(3) - np.outer(com, com)
        )
        return np.concatenate([[part.mass], part.mass * com, about_frame.ravel()])

    assert np.allclose(moments(both), moments(link) + moments(load), rtol=ROUND_OFF, atol=0)


def test_an_attached_link_has_the_same_effect_as_a_payload() -> None:
    """The attached robot has one link, fixed to a frame."""
    model = wd.load_robot("panda")
    inertia = ((0.02, 0.001, 0.0), (0.001, 0.03, 0.002), (0.0, 0.002, 0.01))
    tool = Model.assemble(
        "tool", [Link("tool", 1.5, (0.1, 0, 0.2), inertia)], [], floating_base=True
    )
    s = states(model, COUNT)
    attached = wd.oracle(wd.rnea, model.attach(tool, "panda_hand"), s.q, s.v, s.a)
    loaded = wd.oracle(
        wd.rnea, model.with_payload("panda_hand", 1.5, (0.1, 0, 0.2), inertia), s.q, s.v, s.a
    )
    assert error(attached, loaded) < ROUND_OFF


def test_a_payload_without_mass_adds_inertia_at_the_links_centre() -> None:
    """Its inertia is added about the link's own com."""
    link = Link("a", 2.0, (0.1, 0.2, 0.3), ((0.3, 0, 0), (0, 0.4, 0), (0, 0, 0.5)))
    heavier = Model.assemble("m", [link], []).with_payload(
        "a", 0.0, inertia=((1, 0, 0), (0, 1, 0), (0, 0, 2))
    )
    assert heavier.link("a") == replace(link, inertia=((1.3, 0, 0), (0, 1.4, 0), (0, 0, 2.5)))


def test_numbers_of_links_and_joints_can_be_replaced() -> None:
    """One number is replaced at a time. The others do not change."""
    model = wd.load_robot("panda")
    old = model.link("panda_link3")
    assert model.with_link_mass("panda_link3", 2).link("panda_link3") == replace(old, mass=2.0)
    J = np.diag([0.1, 0.2, 0.25])
    heavier = model.with_link_inertia(
        "panda_link3", J, com=np.array([0, 0, 0.1], dtype=np.float32)
    ).link("panda_link3")
    assert (
        heavier.mass == old.mass
        and np.array_equal(heavier.inertia, J)
        and heavier.com[2] == np.float32(0.1)
    )
    assert model.with_link_inertia("panda_link3", J).link("panda_link3").com == old.com
    limits = model.joint("panda_joint1").limits
    assert model.with_limits("panda_joint1", lower=-1, effort=5).joint(
        "panda_joint1"
    ).limits == replace(limits, lower=-1.0, effort=5.0)
    kept = replace(model, warnings=("odd",)).with_link_mass("panda_link3", 2)
    assert kept.warnings == ("odd",) and kept.links[0] is model.links[0]


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        (lambda: PANDA.with_limits("joint1"), KeyError, "no joint named 'joint1'"),
        (lambda: PANDA.with_limits("panda_joint1", lower=9), ValueError, "lower <= upper"),
        (lambda: PANDA.with_limits("panda_hand_joint", lower=0), ValueError, "is fixed"),
        (
            lambda: PANDA.with_link_mass("panda_hand", -1),
            ValueError,
            "finite mass that is not negative",
        ),
        (lambda: PANDA.with_link_inertia("panda_hand", [1, 2, 3]), ValueError, r"inertia \(3, 3\)"),
        (
            lambda: PANDA.with_link_inertia("panda_hand", np.triu(np.ones((3, 3)))),
            ValueError,
            "symmetric",
        ),
        (lambda: PANDA.with_payload("hand", 1.0), KeyError, "no link named 'hand'"),
    ],
)
def test_invalid_changes_are_refused(change: Callable[[], Model], kind: type, said: str) -> None:
    """The message names the unknown name with similar ones, or the number with what it must be."""
    with pytest.raises(kind, match=said):
        change()


def test_numbers_that_are_none_are_refused_by_name() -> None:
    """None is not "as before" here, and NumPy takes it for NaN."""
    model = wd.load_robot("double_pendulum")
    with pytest.raises(ValueError, match=r'viscous friction of joint "elbow" must be finite.*None'):
        model.with_friction(viscous={"elbow": None})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match=r"^armature of double_pendulum must be one number, or"):
        model.with_armature(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r'joint "elbow" needs 1 finite coordinate.* got None'):
        model.with_configuration("home", {"elbow": None})  # type: ignore[dict-item]
