"""The model: order, names and indices, numbers, changed copies. What it refuses, `test_urdf.py` sees it refuse."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import warpdyn as wd
from warpdyn.model import BASE_JOINT, Model
from warpdyn.model.description import Joint, Limits, Link, Mimic, ModelError
from warpdyn.model.joints import KINDS

ROUND_OFF = 1e-12
"""Relative; sums of a few products in another order."""


def joint(name: str, parent: str, child: str, kind: str = "revolute", **more: object) -> Joint:
    return Joint(name, KINDS[kind], parent, child, **more)  # type: ignore[arg-type]


def hand(**options: object) -> Model:
    """A wrist with two fingers, the second following the first, a camera and a puck that slides on a plane."""
    links = [
        Link(name, mass)
        for name, mass in [
            ("puck", 0.1),
            ("palm", 1.0),
            ("left", 0.2),
            ("right", 0.2),
            ("eye", 0.3),
            ("base", 5),
        ]
    ]
    joints = [
        joint("slide", "palm", "puck", "planar", limits=Limits(velocity=3, effort=4)),
        joint("finger", "palm", "left", "prismatic", limits=Limits(0, 0.04, 1, 20)),
        joint("follower", "palm", "right", "prismatic", mimic=Mimic("finger")),
        joint("mount", "base", "eye", "fixed"),
        joint("wrist", "base", "palm", limits=Limits(-1, 2, 5, 30)),
    ]
    return Model.assemble("hand", links, joints, **options)  # type: ignore[arg-type]


# Order.


def test_tree_order_is_depth_first_with_siblings_as_they_stand() -> None:
    """Parents come before children, a branch before the next one, and siblings as the description has their joints."""
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
    """However links and joints are shuffled in the text, a joint's parent stands before its child."""
    links = [Link(f"l{i}") for i in range(len(parents) + 1)]
    joints = [joint(f"j{i}", f"l{parent}", f"l{i + 1}") for i, parent in enumerate(parents)]
    random.shuffle(links), random.shuffle(joints)  # type: ignore[attr-defined]
    model = Model.assemble("tree", links, joints)
    assert model.root == "l0" and set(model.link_names) == {link.name for link in links}
    for found in model.joints:
        assert model.link_index(found.parent) < model.link_index(found.child)
    for name in model.link_names:
        assert list(model.children(name)) == [j.child for j in joints if j.parent == name]


# Names and indices.


def test_coordinates_belong_to_independent_joints_in_tree_order() -> None:
    """Neither fixed nor mimic joints have columns; a planar joint has three."""
    model = hand()
    assert model.joint_names == ("wrist", "slide", "finger") and (model.nq, model.nv) == (5, 5)
    assert model.q_names == ("wrist", "slide.u", "slide.w", "slide.angle", "finger")
    assert model.q_indices(["finger", "slide"]) == [4, 1, 2, 3] and model.v_indices(["wrist"]) == [
        0
    ]


@pytest.mark.parametrize(("quaternion", "tail"), [("xyzw", "qx qy qz qw"), ("wxyz", "qw qx qy qz")])
def test_floating_base_comes_first(quaternion: str, tail: str) -> None:
    """Seven columns of q, x y z then the quaternion in the order asked for, and six of v before the joints'."""
    model = hand(floating_base=True, quaternion=quaternion)
    assert (model.nq, model.nv) == (12, 11) and model.joint_names == hand().joint_names
    assert (
        " ".join(name.removeprefix(f"{BASE_JOINT}.") for name in model.q_names[:7])
        == f"x y z {tail}"
    )
    assert (
        model.neutral[model.q_names.index(f"{BASE_JOINT}.qw")] == 1
        and np.count_nonzero(model.neutral) == 1
    )
    assert model.q_indices(["wrist"]) == [7] and model.v_indices(["wrist"]) == [6]


def test_names_and_indices_are_inverse() -> None:
    """index(name) and names[index] undo each other, singular and plural."""
    model = hand()
    for i, name in enumerate(model.link_names):
        assert model.link_index(name) == i and model.link(name) is model.links[i]
    for i, name in enumerate(model.joint_names):
        assert model.joint_index(name) == i and model.joint(name).name == name
    assert model.link_indices(reversed(model.link_names)) == list(reversed(range(model.nlinks)))
    assert model.joint_indices(["finger", "wrist"]) == [2, 0]


def test_parents_and_children_are_inverse() -> None:
    """A link is a child of its parent, and the root has none."""
    model = hand()
    assert model.parent("base") is None and model.parent_joint("base") is None
    for name in model.link_names[1:]:
        above = model.parent(name)
        assert above is not None and name in model.children(above)
        carrier = model.parent_joint(name)
        assert carrier is not None and (carrier.parent, carrier.child) == (above, name)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda model: model.link_index("plam"), "no link named 'plam'; did you mean 'palm'"),
        (lambda model: model.joint_index("follower"), "no moving joint named 'follower'"),
        (lambda model: model.joint("wirst"), "no joint named 'wirst'; did you mean 'wrist'"),
        (lambda model: model.q_indices(["zzz"]), "it has wrist, slide, finger"),
        (lambda model: model.children("zzz"), "no link named 'zzz'"),
        (lambda model: model.parent("zzz"), "no link named 'zzz'"),
    ],
)
def test_unknown_names_are_answered_with_near_ones(call: object, said: str) -> None:
    """A KeyError that says what there is."""
    with pytest.raises(KeyError) as caught:
        call(hand())  # type: ignore[operator]
    assert said in str(caught.value)


def test_joint_may_be_called_floating_base_where_there_is_none() -> None:
    """The base joint's name is taken only when the base floats; then the clash is refused."""
    parts = [Link("a"), Link("b")], [joint(BASE_JOINT, "a", "b")]
    assert Model.assemble("m", *parts).joint_names == (BASE_JOINT,)
    with pytest.raises(ModelError, match="rename it"):
        Model.assemble("m", *parts, floating_base=True)


# Numbers.


def test_limits_line_up_with_coordinates() -> None:
    """Position limits are (nq,), velocity and effort limits (nv,), infinite where there is none."""
    model, inf = hand(), math.inf
    assert model.position_lower.tolist() == [-1, -inf, -inf, -inf, 0]
    assert model.position_upper.tolist() == [2, inf, inf, inf, 0.04]
    assert model.velocity_limit.tolist() == [5, 3, 3, 3, 1] and model.effort_limit.tolist() == [
        30,
        4,
        4,
        4,
        20,
    ]
    floating = hand(floating_base=True)
    assert np.isinf(floating.position_lower[:7]).all() and np.isinf(floating.effort_limit[:6]).all()


def test_total_mass_counts_every_link() -> None:
    """Root-fixed links too."""
    assert hand().total_mass == pytest.approx(6.8, rel=ROUND_OFF)


@pytest.mark.parametrize(
    ("link", "said"),
    [
        (Link("a", math.nan), "finite"),
        (Link("a", 1.0, (0, 0, math.inf)), "finite"),
        (Link("a", -1.0), "must not be negative"),
    ],
)
def test_links_of_impossible_numbers_are_refused(link: Link, said: str) -> None:
    """Models made by hand pass the same checks as those from a file."""
    with pytest.raises(ModelError, match=said):
        Model.assemble("m", [link], [])


@pytest.mark.parametrize("axis", [(0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (math.nan, 0.0, 0.0)])
def test_axis_must_be_a_unit_vector(axis: tuple[float, float, float]) -> None:
    """A joint's axis has length one."""
    with pytest.raises(ModelError, match="axis is"):
        Model.assemble("m", [Link("a"), Link("b")], [joint("j", "a", "b", axis=axis)])


# Copies.


def test_model_is_immutable() -> None:
    """Fields cannot be set; changed copies leave the original as it was."""
    model = hand()
    with pytest.raises(FrozenInstanceError):
        model.name = "other"  # type: ignore[misc]
    key = model.key
    assert (
        model.with_armature(0.1).key != key
        and model.with_payload("palm", 1.0).key != key
        and model.key == key
    )


def test_armature_is_set_for_all_or_by_name() -> None:
    """A number reaches every moving joint, a mapping those it names; a fixed joint refuses."""
    assert {j.name: j.armature for j in hand().with_armature(0.5).joints}["mount"] == 0
    assert [j.armature for j in hand().with_armature(0.5).moving_joints] == [0.5, 0.5, 0.5]
    assert [j.armature for j in hand().with_armature({"finger": 2}).moving_joints] == [0, 0, 2]
    with pytest.raises(ValueError, match='joint "mount" of hand is fixed'):
        hand().with_armature({"mount": 1.0})
    with pytest.raises(KeyError, match="no joint named"):
        hand().with_armature({"elbow": 1.0})


def test_payload_keeps_mass_and_moments() -> None:
    """Total mass, first moment and inertia about the link frame are sums of those of link and load."""
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


def test_key_depends_on_what_the_dynamics_depend_on() -> None:
    """Same content, same key; another mass, base, quaternion or mimic, another key; limits and remarks do not."""
    model = hand()
    assert model.key == hand(warnings=["odd"]).key
    loose = tuple(replace(j, limits=Limits()) for j in model.joints)
    assert replace(model, joints=loose).key == model.key
    others = [
        hand(floating_base=True),
        hand(floating_base=True, quaternion="wxyz"),
        replace(model, links=(replace(model.links[0], mass=1.0), *model.links[1:])),
        replace(model, joints=tuple(replace(j, mimic=None) for j in model.joints)),
    ]
    assert len({model.key, *(other.key for other in others)}) == 5


def test_summary_draws_the_tree() -> None:
    """A line for the robot and one for each link, below its parent, with coordinates, limits and masses."""
    lines = hand().summary().splitlines()
    assert lines[0] == "hand: 6 links, 3 moving joints, nq = 5, nv = 5, fixed base, 6.8 kg"
    assert lines[1:] == [
        "base  5 kg",
        "├─ (fixed) ─ eye  0.3 kg",
        "└─ wrist q[0] (revolute -1..2) ─ palm  1 kg",
        "   ├─ slide q[1:4] (planar) ─ puck  0.1 kg",
        "   ├─ finger q[4] (prismatic 0..0.04) ─ left  0.2 kg",
        "   └─ follower (mimics finger x 1 + 0) ─ right  0.2 kg",
    ]


def test_a_copied_or_pickled_model_is_the_same_robot() -> None:
    """Its key, its kinds (the very records) and its numbers survive the way to another process."""
    model = wd.load_robot("panda")
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other.key == model.key
        assert all(a.kind is b.kind for a, b in zip(other.joints, model.joints, strict=True))
        assert np.array_equal(other.effort_limit, model.effort_limit)
