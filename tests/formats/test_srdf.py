"""SRDF's group states as named configurations."""

from __future__ import annotations

import itertools
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from urdf_texts import joint, links, robot

import warpdyn as wd
from warpdyn.formats import srdf as chosen
from warpdyn.formats.srdf import with_group_states
from warpdyn.model.names import ModelError, ModelWarning

URDF = robot(
    *(links("a", "b", "c", "d", "e"), joint("j", child="b"), joint("k", "continuous", "b", "c")),
    *(joint("f", "fixed", "c", "d", ""), joint("m", "prismatic", "d", "e")),
)
FLOATING = '<virtual_joint name="w" type="floating" parent_frame="world" child_link="a"/>'


def srdf(*parts: str) -> str:
    return f'<robot name="r">{"".join(parts)}</robot>'


def state(name: str = "home", group: str = "all", **joints: str) -> str:
    inside = "".join(f'<joint name="{j}" value="{value}"/>' for j, value in joints.items())
    return f'<group_state name="{name}" group="{group}">{inside}</group_state>'


def load(*parts: str, **options: object) -> wd.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return wd.load(URDF, srdf=srdf(*parts), **options)  # type: ignore[arg-type]


def test_a_group_state_is_a_configuration() -> None:
    """Joints that the state does not name are at neutral. Fixed joints have no value."""
    model = load(state(j="0.5", m="-0.2", f="0"), state("up", k="3"))
    assert list(model.configurations) == ["home", "up"] and not model.warnings
    np.testing.assert_array_equal(model.configurations["home"], [0.5, 0, -0.2])
    np.testing.assert_array_equal(model.configurations["up"], [0, 3, 0])


def test_states_with_the_same_name_are_merged() -> None:
    """The "home" of an arm and the "home" of its gripper make one configuration."""
    model = load(state(group="arm", j="0.5"), state("up", "arm", j="1"), state(group="hand", m="1"))
    np.testing.assert_array_equal(model.configurations["home"], [0.5, 0, 1])
    np.testing.assert_array_equal(model.configurations["up"], [1, 0, 0])


@pytest.mark.parametrize(("name", "virtual"), [("w", FLOATING), ("root_joint", "")])
def test_the_virtual_joint_gives_the_pose_of_a_free_base(name: str, virtual: str) -> None:
    """Both MoveIt's virtual joint and Pinocchio's root_joint give the pose. A fixed base ignores
    it."""
    parts = virtual, state(**{name: "0 0 0.3  0 0 0.6 0.8", "j": "0.5"})
    free = load(*parts, floating_base=True, quaternion="wxyz")
    home = free.configurations["home"]
    np.testing.assert_allclose(home, [0, 0, 0.3, 0.8, 0, 0, 0.6, 0.5, 0, 0], rtol=1e-15)
    np.testing.assert_array_equal(load(*parts).configurations["home"], [0.5, 0, 0])


def test_quaternions_are_normalised() -> None:
    """Files round to a few digits, so the length of a quaternion is only nearly 1."""
    long = load(
        FLOATING, state(w="1 2 3  0 0 0.6003 0.8004"), floating_base=True, quaternion="xyzw"
    )
    np.testing.assert_allclose(
        long.configurations["home"][:7], [1, 2, 3, 0, 0, 0.6, 0.8], rtol=1e-15
    )


def test_joints_that_the_robot_does_not_have_are_remarked() -> None:
    """A file for the robot with its gripper also serves the robot without it. The other joints are
    used."""
    with pytest.warns(
        ModelWarning, match=r'group_state "home": r has no joint "z"; it is left out'
    ):
        model = wd.load(URDF, srdf=srdf(state(j="0.5", z="1")))
    np.testing.assert_array_equal(model.configurations["home"], [0.5, 0, 0])
    assert len(model.warnings) == 1 and model.warnings[0].startswith("SRDF text: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (srdf(state(j="0.5 1")), 'the value of joint "j" is "0.5 1"; it needs a finite number'),
        (srdf(state(j="nan")), "it needs a finite number"),
        (srdf(state(j="")), "it needs a finite number"),
        (srdf(FLOATING, state(w="0 0 1")), "it needs 7 finite numbers"),
        (srdf(FLOATING, state(w="0 0 1 0 0 0 2")), "a quaternion of length 2, not 1"),
        (srdf(state("")), "it has no name"),
        ("<sdf/>", "the root element is <sdf>, an SRDF file has <robot>"),
        ("<robot", "not well-formed XML"),
    ],
)
def test_invalid_states_are_refused(text: str, said: str) -> None:
    """The message names the state and what it needs."""
    model = wd.load(URDF, floating_base=True)
    with pytest.raises(ModelError, match=said):
        with_group_states(model, text)


def test_excluded_pairs_are_read() -> None:
    """The file excludes all pairs of a link, or one pair. A pair enabled later is not excluded.
    Pairs with a link that the robot does not have, and of a link with itself, are ignored."""
    one = '<{}_collisions link1="{}" link2="{}"/>'
    assert load(one.format("disable", "a", "b")).excluded_pairs == (("a", "b"),)
    assert load(one.format("disable", "a", "a")).excluded_pairs == ()
    for first, second in (("a", "z"), ("z", "a")):
        with pytest.warns(ModelWarning, match='has no link "z"; left out'):
            model = wd.load(URDF, srdf=srdf(one.format("disable", first, second)))
        assert model.excluded_pairs == ()
    every = '<disable_default_collisions link="{}"/>'
    with pytest.warns(ModelWarning, match='has no link "z"; left out'):
        assert wd.load(URDF, srdf=srdf(every.format("z"))).excluded_pairs == ()
    several = load(
        every.format("c"), one.format("enable", "d", "c"), one.format("disable", "a", "b")
    )
    assert several.excluded_pairs == (("c", "a"), ("c", "b"), ("c", "e"), ("a", "b"))


def test_a_disabled_pair_is_disabled_in_any_order_of_the_file() -> None:
    """As in MoveIt, which first takes the defaults, then enables pairs and at last disables them."""
    parts = [
        '<disable_default_collisions link="c"/>',
        '<enable_collisions link1="c" link2="a"/>',
        '<enable_collisions link1="c" link2="b"/>',
        '<disable_collisions link1="b" link2="c"/>',
        '<disable_collisions link1="a" link2="e"/>',
    ]
    wanted = {frozenset(pair) for pair in ("cd", "ce", "bc", "ae")}
    for order in itertools.permutations(parts):
        assert {frozenset(pair) for pair in load(*order).excluded_pairs} == wanted


def test_the_srdf_option_is_for_urdf_only() -> None:
    """Readers of other formats do not have the option."""
    with pytest.raises(TypeError, match="load_mjcf, which reads it, has no option srdf"):
        wd.load("<mujoco><worldbody/></mujoco>", srdf=srdf())
    with pytest.raises(ModelError, match=r"none\.srdf: there is no such file"):
        wd.load(URDF, srdf="none.srdf")


def test_reference_configurations_equal_pinocchios() -> None:
    """The SRDF file is that of a quadruped: base and joints."""
    pin = pytest.importorskip("pinocchio")
    data = metadata.distribution("example-robot-data")
    folder = Path(str(data.locate_file("cmeel.prefix/share/example-robot-data/robots")))
    urdf = folder / "anymal_c_simple_description/urdf/anymal.urdf"
    companion = folder / "anymal_c_simple_description/srdf/anymal.srdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = wd.load(urdf, floating_base=True, srdf=companion)
    peer = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
    pin.loadReferenceConfigurations(peer, str(companion), False)
    theirs = {each.key(): each.data() for each in peer.referenceConfigurations}
    assert set(theirs) == set(model.configurations) != set()
    columns = [*range(7), *model.q_indices([n for n in peer.names if n in model.joint_names])]
    for name, q in theirs.items():
        np.testing.assert_allclose(model.configurations[name][columns], q, atol=1e-12)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.NEARLY_UNIT == 0.001


def test_other_configurations_of_the_model_are_kept() -> None:
    """One with the name of a group state is replaced."""
    model = load(state(j="0.5"), state("up", k="3"))
    again = with_group_states(model, srdf(state("up", k="2"), state("down", j="1")))
    assert list(again.configurations) == ["home", "up", "down"]
    np.testing.assert_array_equal(again.configurations["up"], [0, 2, 0])
    np.testing.assert_array_equal(again.configurations["home"], [0.5, 0, 0])


def test_the_only_two_links_may_be_excluded() -> None:
    """A link and itself, or a link that is not there, are left out."""
    pairs = [("a", "b"), ("a", "a"), ("a", "z")]
    words = "".join(f'<disable_collisions link1="{a}" link2="{b}"/>' for a, b in pairs)
    model = wd.load(robot(links("a", "b"), joint("j", child="b")), srdf=srdf(words))
    assert model.excluded_pairs == (("a", "b"),)


def test_words_that_srdf_does_not_have_are_remarked() -> None:
    """A misspelled element or link would otherwise have no effect and leave no trace."""
    misspelled = '<disable_collision link1="a" link2="c"/>'
    with pytest.warns(ModelWarning, match="ignored element <disable_collision> of <robot>"):
        wd.load(URDF, srdf=srdf(misspelled))
    misspelled = '<group_state name="up" group="all"><jont name="j" value="1"/></group_state>'
    with pytest.warns(ModelWarning, match="ignored element <jont> of <group_state>"):
        wd.load(URDF, srdf=srdf(misspelled))
    for word in ("disable", "enable"):
        pair = f'<{word}_collisions link1="a" link2="z"/>'
        with pytest.warns(ModelWarning, match='collisions: .* has no link "z"'):
            wd.load(URDF, srdf=srdf(pair))
    group = '<group name="arm"><chain base_link="a" tip_link="c"/></group>'
    end = '<end_effector name="e" parent_link="c" group="g"/><passive_joint name="m"/>'
    assert (
        load(group, end, '<disable_collisions link1="a" link2="c" reason="Never"/>').warnings == ()
    )
