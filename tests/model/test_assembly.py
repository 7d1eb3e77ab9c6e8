"""Tree order: parents come first, whatever the order of the description. A description that is not
one tree is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hand_models import hand, joint
from hypothesis import given
from hypothesis import strategies as st

from warpdyn.model import BASE_JOINT, Model
from warpdyn.model.assembly import in_tree_order, loops_between, rebuild
from warpdyn.model.closed_loops.loop import Loop
from warpdyn.model.described_sensors import DescribedSensor
from warpdyn.model.description import Link
from warpdyn.model.names import ModelError


def test_tree_order_is_depth_first_and_keeps_the_order_of_siblings() -> None:
    """Parents come before children, one branch before the next, and siblings in the order of their
    joints in the description."""
    model = hand()
    assert model.root == "base"
    assert model.link_names == ("base", "eye", "palm", "puck", "left", "right")
    assert [j.name for j in model.joints] == ["mount", "wrist", "slide", "finger", "follower"]
    assert all(j.child == link.name for j, link in zip(model.joints, model.links[1:], strict=True))


@given(
    st.integers(1, 30).flatmap(lambda n: st.tuples(*[st.integers(0, i) for i in range(n)])),
    st.randoms(),
)
def test_every_tree_is_ordered_parents_first(parents: tuple[int, ...], random: object) -> None:
    """However links and joints are shuffled, the parent of a joint comes before its child."""
    links = [Link(f"l{i}") for i in range(len(parents) + 1)]
    joints = [joint(f"j{i}", f"l{parent}", f"l{i + 1}") for i, parent in enumerate(parents)]
    random.shuffle(links), random.shuffle(joints)  # type: ignore[attr-defined]
    model = Model.assemble("tree", links, joints)
    assert model.root == "l0" and set(model.link_names) == {link.name for link in links}
    for found in model.joints:
        assert model.link_index(found.parent) < model.link_index(found.child)
    for name in model.link_names:
        assert list(model.children(name)) == [j.child for j in joints if j.parent == name]


def test_a_joint_may_be_named_floating_base() -> None:
    """The joint of the free base then takes another name."""
    parts = [Link("a"), Link("b")], [joint(BASE_JOINT, "a", "b")]
    assert Model.assemble("m", *parts).joint_names == (BASE_JOINT,)
    model = Model.assemble("m", *parts, floating_base=True)
    assert model.base_joint == "floating_base_2" and model.joint_names == (BASE_JOINT,)
    assert model.q_names[0] == "floating_base_2.x" and model.q_names[7] == BASE_JOINT
    thrice = model.attach(Model.assemble("n", [Link("c"), Link("d")], [joint("j", "c", "d")]), "b")
    thrice = thrice.rename(joints={"j": "floating_base_2"})
    assert thrice.base_joint == "floating_base_3"


def test_configurations_follow_a_renamed_base_joint() -> None:
    """The coordinates of the base remain those of the base, whichever joint has its name before or
    after."""
    model = hand(floating_base=True)
    there, one = (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0), model.joint_names[0]
    named = model.with_configuration("home", {BASE_JOINT: there, one: 0.25})
    swapped = named.rename(joints={one: BASE_JOINT})
    assert swapped.base_joint != BASE_JOINT
    np.testing.assert_array_equal(swapped.configurations["home"], named.configurations["home"])
    back = swapped.rename(joints={BASE_JOINT: one})
    assert back.base_joint == BASE_JOINT
    np.testing.assert_array_equal(back.configurations["home"], named.configurations["home"])
    both = named.attach(swapped, model.root, prefix="other_", joint=BASE_JOINT)
    assert both.base_joint != BASE_JOINT
    np.testing.assert_array_equal(both.configurations["home"][:7], there)


def test_a_rebuilt_model_is_the_same() -> None:
    """Links and joints are sorted into tree order again. Remarks are kept."""
    model = hand(floating_base=True, warnings=["odd"])
    same = rebuild(model, model.links[::-1], model.joints)
    assert same.key == model.key and same.warnings == ("odd",) and same.links == model.links


def test_a_chain_of_thousands_of_links_does_not_recurse() -> None:
    """The order is computed with a stack."""
    count = 3000
    links = [Link(f"l{i}") for i in range(count)]
    joints = [joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in range(count - 1)]
    ordered, _ = in_tree_order("chain", links[::-1], joints[::-1])
    assert [link.name for link in ordered] == [link.name for link in links]


def test_sensors_and_pairs_of_removed_links_are_removed() -> None:
    """Sensors are removed with their link or joint, excluded pairs with either link. The others are
    kept."""
    model = hand()
    sensors = (
        DescribedSensor("clock", "clock"),
        DescribedSensor("imu", "imu", link="palm"),
        DescribedSensor("pad", "force", link="left"),
        DescribedSensor("angle", "jointpos", joint="finger"),
        DescribedSensor("turn", "jointpos", joint="wrist"),
    )
    pairs = (("palm", "eye"), ("left", "right"), ("left", "palm"))
    whole = replace(model, sensors=sensors, excluded_pairs=pairs)
    left = whole.reduce(["wrist", "slide"]).detach("left")
    assert [sensor.name for sensor in left.sensors] == ["clock", "imu", "turn"]
    assert left.excluded_pairs == (("palm", "eye"),)
    same = rebuild(whole, whole.links, whole.joints)
    assert same.sensors == sensors and same.excluded_pairs == pairs


def test_the_loops_of_a_changed_robot_are_checked() -> None:
    """Loops whose joints have gone are left out."""
    links, joints = [Link("a"), Link("b")], [joint("j", "a", "b")]
    gone, still = Loop("joint", "x", None), Loop("joint", "j", None, coefficients=(0.5,))
    assert loops_between("r", [gone, still], {}, links, joints) == (still,)
    with pytest.raises(ModelError, match=r"^r: loop joint: it needs 1 to 5 coefficients, got 0$"):
        loops_between("r", [replace(still, coefficients=())], {}, links, joints)
