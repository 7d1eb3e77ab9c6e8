"""Names, indices, columns and limits of a model."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hand_models import ROUND_OFF, hand

from warpdyn.model import BASE_JOINT, Model
from warpdyn.model.joints import KINDS
from warpdyn.model.poses_and_limits import Limits, Pose
from warpdyn.model.tendons import Tendon


def test_coordinates_belong_to_independent_joints_in_tree_order() -> None:
    """Neither fixed nor mimic joints have columns. A planar joint has three."""
    model = hand()
    assert model.joint_names == ("wrist", "slide", "finger") and (model.nq, model.nv) == (5, 5)
    assert model.q_names == ("wrist", "slide.u", "slide.w", "slide.angle", "finger")
    assert model.q_indices(["finger", "slide"]) == [4, 1, 2, 3] and model.v_indices(["wrist"]) == [
        0
    ]


@pytest.mark.parametrize(("quaternion", "tail"), [("xyzw", "qx qy qz qw"), ("wxyz", "qw qx qy qz")])
def test_the_floating_base_comes_first(quaternion: str, tail: str) -> None:
    """q begins with seven columns: x, y, z, then the quaternion in the chosen order. v begins with
    six columns before those of the joints."""
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
    """index(name) and names[index] are inverse, singular and plural."""
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
def test_unknown_names_are_answered_with_similar_ones(call: object, said: str) -> None:
    """The KeyError lists the names that exist."""
    with pytest.raises(KeyError) as caught:
        call(hand())  # type: ignore[operator]
    assert said in str(caught.value)


def test_limits_have_the_order_of_coordinates() -> None:
    """Position limits are (nq,), velocity and effort limits (nv,). A missing limit is infinite."""
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
    """Links fixed to the root count, too."""
    assert hand().total_mass == pytest.approx(6.8, rel=ROUND_OFF)


def test_the_key_depends_on_the_numbers_of_the_dynamics() -> None:
    """The same content has the same key. Another mass, base, quaternion or mimic has another.
    Limits and remarks do not count."""
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


def test_every_number_of_the_dynamics_changes_the_key() -> None:
    """Each is changed on its own. Limits count if a spring acts beyond them. Visuals do not
    count."""
    model = hand(floating_base=True)
    wrist, palm = model.joint("wrist"), model.link("palm")

    def of_joint(model: Model = model, **changes: Any) -> Model:
        joints = (replace(j, **changes) if j.name == "wrist" else j for j in model.joints)
        return replace(model, joints=tuple(joints))

    def of_link(**changes: Any) -> Model:
        links = (replace(k, **changes) if k.name == "palm" else k for k in model.links)
        return replace(model, links=tuple(links))

    sprung = model.with_limit_springs(stiffness={"wrist": 5.0})
    narrow = replace(wrist.limits, lower=wrist.limits.lower / 2)
    effect = sprung.joint("wrist").effects[0]
    changed = [
        model,
        of_link(mass=palm.mass * 2),
        of_link(com=(0.5, *palm.com[1:])),
        of_link(inertia=((9.0, 0.0, 0.0), *palm.inertia[1:])),
        of_link(borne=0.5),
        of_joint(pose=Pose((0.5, 0.0, 0.0))),
        of_joint(axis=tuple(-x for x in wrist.axis)),
        of_joint(armature=0.5),
        of_joint(kind=KINDS["continuous"]),
        model.with_friction(viscous={"wrist": 0.5}),
        sprung,
        of_joint(sprung, limits=narrow),
        replace(model, base_armature=0.5),
        replace(model, base_effects=(effect,) * 6),
        model.with_base_velocity("world"),
        model.rename(joints={"wrist": "turn"}),
        model.rename(links={"palm": "plate"}),
        replace(model, tendons=(Tendon("t", (("wrist", 1.0),), spring=2.0),)),
    ]
    assert len({each.key for each in changed}) == len(changed)
    same = [
        of_joint(limits=narrow),
        of_joint(damping=0.5, friction=0.25),
        of_link(visuals=()),
        of_link(gravcomp=0.5),
        replace(model, name="another"),
        model.with_configuration("home", {"wrist": 0.5}),
    ]
    assert {each.key for each in same} == {model.key}


def test_subtree_joints_are_the_joints_beyond_a_link() -> None:
    """The default is the moving ones. `fixed=True` gives all of them."""
    model = hand(floating_base=True)
    assert model.subtree_joints("base") == tuple(j.name for j in model.joints if j.kind.nv)
    assert model.subtree_joints("base", fixed=True) == tuple(j.name for j in model.joints)
    assert model.subtree_joints("palm") == ("slide", "finger", "follower")
    assert model.subtree_joints("eye", fixed=True) == ()
    with pytest.raises(KeyError, match="no link named 'plam'"):
        model.subtree_joints("plam")


def test_moving_links_are_the_children_of_moving_joints() -> None:
    """Links on fixed joints are left out, and the root of a fixed robot."""
    assert hand().moving_link_names == ("palm", "puck", "left", "right")
    assert hand(floating_base=True).moving_link_names[0] == "base"


def test_supports_contains_the_path_from_the_root() -> None:
    """A row is the path from the root to a link. A column contains all links that a link
    carries."""
    model = hand()
    for i, name in enumerate(model.link_names):
        way, above = [name], model.parent(name)
        while above is not None:
            way.append(above)
            above = model.parent(above)
        assert [model.link_names[k] for k in np.flatnonzero(model.supports[i])] == way[::-1]
    assert model.supports[:, 0].all() and not model.supports.flags.writeable
