"""The SDF reader: models, worlds, links and their poses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sdf_texts import (
    AB,
    ROUND_OFF,
    axis,
    joint,
    link,
    load,
    model,
    pose_matrix,
    poses,
    quietly,
    refusal,
    remarks,
    robot,
    sdf,
    world,
)

import warpdyn as wd
from warpdyn.formats.sdf import sdf as chosen
from warpdyn.formats.sdf.sdf import load_sdf
from warpdyn.model.names import ModelError


def test_path_text_and_bytes_give_the_same_model(tmp_path: Path) -> None:
    """A byte order mark, blanks and a declared encoding change nothing."""
    text = robot(link("a"), link("é"), joint(child="é"))
    path = tmp_path / "arm.sdf"
    path.write_text(text, encoding="utf-8")
    declared = '<?xml version="1.0" encoding="iso-8859-1"?>' + text
    sources = [
        path,
        str(path),
        text,
        text.encode(),
        "\ufeff\n " + text,
        declared,
        declared.encode("latin-1"),
    ]
    models = [load(source) for source in sources]
    assert {m.key for m in models} == {models[0].key} and models[0].link_names == ("a", "é")


@pytest.mark.parametrize("version", [f"1.{k}" for k in range(4, 13)])
def test_versions_1_4_to_1_12_are_read(version: str) -> None:
    """1.10 is later than 1.9."""
    assert load(robot(AB, joint(), version=version)).nv == 7


@pytest.mark.parametrize("version", ["", "1.3", "1.13", "2.0", "1", "one", "-1.9", "1.9.1"])
def test_other_versions_are_refused(version: str) -> None:
    """The reader does not guess the meaning of a version that it does not know."""
    assert f'version is "{version}"; this reader knows 1.4 to 1.12' in refusal(
        robot(AB, joint(), version=version)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot/>", "this is URDF, use load_urdf"),
        ("<mujoco/>", "this is MJCF"),
        ("<x/>", "another format"),
        ("<sdf version='1.9'/>", "it has no <model>"),
        ("<sdf version='1.9'", "not well-formed XML"),
        ("", "the source is empty"),
        ("no.sdf", "no such file; give the path of a SDF file"),
    ],
)
def test_texts_that_are_not_sdf_are_refused(text: str, words: str) -> None:
    """The message is one sentence."""
    assert words in refusal(text)


ONE, TWO = model(link("a"), name="one"), model(link("b"), name="two")

GROUND = model("<static>true</static>", link("plate"), name="ground")


def test_the_only_model_that_is_not_static_is_the_robot() -> None:
    """So is a file's only model."""
    assert load(sdf(ONE)).name == "one"
    assert load(sdf(world(GROUND, ONE))).link_names == ("a",)
    assert load(sdf(world(GROUND))).link_names == ("world", "plate")
    assert load(sdf(GROUND, ONE)).name == "one"


def test_one_of_several_models_must_be_named() -> None:
    """The error lists them."""
    text = sdf(world(GROUND, ONE, TWO))
    message = refusal(text)
    assert 'it holds 3 models ("ground", "one", "two")' in message and 'model="..."' in message
    assert load(text, model="two").link_names == ("b",)
    assert 'no models named "three"' in refusal(text, model="three")
    assert '2 models named "one"' in refusal(
        sdf(world(ONE), f'<world name="v">{ONE}</world>'), model="one"
    )


def test_a_nested_model_can_be_loaded_by_its_path() -> None:
    """Its names lose the names of the models around it."""
    text = sdf(
        model(
            link("a"), model(link("b"), model(link("c"), name="deep"), name="inner"), name="outer"
        )
    )
    assert load(text).link_names == ("world", "a", "inner::b", "inner::deep::c")
    assert load(text, model="outer::inner").link_names == ("world", "b", "deep::c")
    assert load(text, model="outer::inner::deep").link_names == ("c",)


def test_all_models_of_a_world_can_be_one_robot() -> None:
    """Names begin with the name of the model."""
    whole = load(sdf(world(GROUND, ONE, TWO)), model="world")
    assert whole.link_names == ("world", "ground::plate", "one::a", "two::b") and whole.nv == 12
    assert whole.name == "w"


def test_a_model_loaded_alone_is_the_same_as_in_its_world() -> None:
    """Its links have the same mass, centre and inertia, and its torques are those of its part of
    the world's."""
    arm = model(AB, joint(), joint("hold", "fixed", "world", "a", ""), name="arm")
    text = sdf(world(GROUND, arm, TWO))
    alone, whole = load(text, model="arm"), load(text, model="world")
    for each in (alone.link(name) for name in "ab"):
        other = whole.link(f"arm::{each.name}")
        assert (each.mass, each.com) == (other.mass, other.com)
        np.testing.assert_array_equal(each.inertia, other.inertia)
    rng = np.random.default_rng(0)
    q, v, a = (np.zeros((3, n)) for n in (whole.nq, whole.nv, whole.nv))
    q[:] = whole.neutral
    at = whole.coordinates["arm::j"]
    q[:, at.q], v[:, at.v], a[:, at.v] = rng.normal(size=(3, 3, 1))
    expected = wd.oracle(wd.rnea, whole, q, v, a)[:, at.v]
    found = wd.oracle(wd.rnea, alone, q[:, at.q], v[:, at.v], a[:, at.v])
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.abs(found).min() > 0.0


def test_a_robot_floats_unless_it_is_static_or_joined_to_the_world() -> None:
    """These are SDF's rules."""
    held = joint("hold", "fixed", "world", "a", "")
    assert load(robot(AB, joint())).floating_base and load(robot(AB, joint())).root == "a"
    assert load(robot(AB, joint(), held)).link_names == ("world", "a", "b")
    assert load(robot("<static>1</static>", AB, joint())).nv == 0
    assert load(robot(AB, joint(), joint("k", "prismatic", "world", "a"))).nv == 2


def test_floating_base_overrides_static_and_a_missing_world_joint() -> None:
    """A joint to the world is not overridden."""
    assert load(robot("<static>1</static>", AB, joint()), floating_base=True).nv == 7
    fixed = load(robot("<pose>0 0 5 0 0 0</pose>", AB, joint()), floating_base=False)
    assert fixed.nv == 1 and fixed.root == "world" and poses(fixed)["a"][2, 3] == 5
    message = refusal(
        robot(AB, joint(), joint("hold", "fixed", "world", "a", "")), floating_base=True
    )
    assert 'joint "hold" fixes the robot to the world' in message


def test_several_free_bodies_have_floating_joints_on_the_world() -> None:
    """The coordinates of each joint are the link's pose in the world."""
    free = load(robot(link("a", "1 0 0 0 0 0"), link("b", "0 2 0 0 0 1")))
    assert free.joint_names == ("world_to_a", "world_to_b") and free.nv == 12
    drawn = poses(free, free.configurations["qpos0"])
    assert drawn["a"][:3, 3].tolist() == [1, 0, 0] and drawn["b"][:3, 3].tolist() == [0, 2, 0]
    assert drawn["b"][0, 0] == pytest.approx(np.cos(1))
    q = free.neutral.copy()
    q[free.q_indices(["world_to_b"])[:3]] = 7, 8, 9
    assert poses(free, q)["b"][:3, 3].tolist() == [7, 8, 9]
    still = load(robot(link("a", "1 0 0 0 0 0"), link("b", "0 2 0 0 0 1")), floating_base=False)
    assert np.allclose(poses(still)["b"], pose_matrix(0, 2, 0, 0, 0, 1), atol=ROUND_OFF)


def test_the_reader_has_the_quaternion_option() -> None:
    """The URDF reader has the same option."""
    assert load(robot(link("a")), quaternion="wxyz").q_names[3:] == tuple(
        f"floating_base.{c}" for c in ("qw", "qx", "qy", "qz")
    )


def test_link_values_are_read() -> None:
    """They are mass, centre of mass, and the inertia in the link's axes."""
    moments = "".join(
        f"<i{k}>{v}</i{k}>" for v, k in enumerate(("xx", "xy", "xz", "yy", "yz", "zz"), start=1)
    )
    inertial = f"<inertial><pose>1 2 3 0.1 0.2 0.3</pose><mass>5</mass><inertia>{moments}</inertia></inertial>"
    found = quietly(sdf(model(f'<link name="a">{inertial}</link>'))).link("a")
    R = pose_matrix(roll=0.1, pitch=0.2, yaw=0.3)[:3, :3]
    wanted = R @ np.array([[1, 2, 3], [2, 4, 5], [3, 5, 6]]) @ R.T
    assert (found.mass, found.com) == (5, (1, 2, 3))
    assert np.allclose(found.inertia, wanted, rtol=0, atol=ROUND_OFF)


def test_missing_mass_and_inertia_default_to_one() -> None:
    """SDFormat's defaults are 1 kg and 1 kg·m². Without <inertial> a remark names the link."""
    bare = robot('<link name="a"/><link name="b"><inertial/></link>', joint())
    found = quietly(bare)
    assert all(
        found.link(n).mass == 1 and np.array_equal(found.link(n).inertia, np.eye(3))
        for n in ("a", "b")
    )
    assert remarks(bare) == (
        "links without <inertial>, which have SDF's default mass of 1 kg and inertia of 1 kg·m²: a",
    )


@pytest.mark.parametrize(
    ("count", "names"), [(5, "l0, l1, l2, l3, l4"), (6, "l0, l1, l2, l3, l4, ...")]
)
def test_links_without_inertia_are_named_up_to_five(count: int, names: str) -> None:
    """Dots show that there are more."""
    links = "".join(f'<link name="l{i}"/>' for i in range(count))
    joints = "".join(joint(f"j{i}", parent=f"l{i - 1}", child=f"l{i}") for i in range(1, count))
    (said,) = remarks(robot(links, joints))
    assert said.endswith(f": {names}")


def test_impossible_numbers_of_a_joint_are_remarked() -> None:
    """The URDF reader makes the same remarks."""
    limit = "<limit><lower>1</lower><upper>-1</upper></limit>"
    written = axis(inside=limit + "<dynamics><damping>-2</damping></dynamics>")
    assert remarks(robot(AB, joint(inside=written))) == (
        'joint "j": its lower limit 1 is above its upper limit -1',
        'joint "j": its damping is negative, -2',
    )


def test_impossible_inertia_is_remarked() -> None:
    """The URDF reader makes the same remark."""
    odd = "<inertial><inertia><ixx>1</ixx><iyy>1</iyy><izz>3</izz></inertia></inertial>"
    assert "break the triangle inequality" in remarks(robot(f'<link name="a">{odd}</link>'))[0]


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<gravity>false</gravity>", "the file turns gravity off"),
        ("<kinematic>true</kinematic>", "ignored element <kinematic> of <link>"),
        (
            "<inertial><fluid_added_mass><xx>1</xx></fluid_added_mass></inertial>",
            "<fluid_added_mass> of <inertial>",
        ),
        ("<gear>1</gear>", "ignored element <gear> of <link> (line 1)"),
        ("<drake:x>1</drake:x>", "ignored element <drake:x> of <link>"),
        ("<inertial/><inertial/>", "ignored second element <inertial> of <link>"),
    ],
)
def test_ignored_elements_that_change_the_motion_are_remarked(inside: str, said: str) -> None:
    """Elements that change nothing are not remarked."""
    assert any(said in line for line in remarks(robot(f'<link name="a">{inside}</link>')))


def test_a_chain_of_a_thousand_links_loads() -> None:
    """The pose of each link is relative to the one before. The reader does not recurse along the
    robot."""
    count = 1000
    links = "".join(
        link(f"l{i}", "0 0 0.01 0 0 0", relative_to=f"l{i - 1}" if i else "") for i in range(count)
    )
    joints = "".join(joint(f"j{i}", parent=f"l{i - 1}", child=f"l{i}") for i in range(1, count))
    assert load(robot(links, joints)).nv == 6 + count - 1


def test_an_include_next_to_a_model_is_refused() -> None:
    """A world of a lamp and an included arm is not the lamp alone, unless the caller names it."""
    text = (
        '<sdf version="1.9"><world name="w"><model name="lamp"><link name="a"/></model>'
        "<include><uri>model://arm</uri></include></world></sdf>"
    )
    for options in ({}, {"model": "world"}):
        with pytest.raises(ModelError, match=r'includes "model://arm".*model="lamp"'):
            load_sdf(text, **options)
    assert load_sdf(text, model="lamp").nlinks == 1


def test_state_and_population_of_a_world_are_ignored_with_a_remark() -> None:
    """The remark names the line."""
    text = sdf(world(model(AB, joint(inside=axis())), "<state/>", "<population/>"))
    assert {each.partition(" (")[0] for each in remarks(text)} == {
        "ignored element <state> of <world>",
        "ignored element <population> of <world>",
    }


@pytest.mark.parametrize(("count", "shown"), [(2, 2), (12, 12), (13, 12)])
def test_the_message_names_up_to_twelve_models(count: int, shown: int) -> None:
    """It is one line and says which option to give."""
    text = sdf(world(*(model(link("a"), name=f"m{k}") for k in range(count))))
    names = ", ".join(f'"m{k}"' for k in range(shown))
    assert refusal(text).endswith(
        f': it holds {count} models ({names}); say which: model="..."; or model="world" for all as one '
        "robot"
    )
    assert refusal(text, model="x").endswith(
        f': it has no models named "x"; give the name of one of its models ({names})'
    )
    included = sdf(world("<include><uri>model://arm</uri></include>"))
    written = (
        "what comes by <include> is not read: write it into the file (gz sdf -p prints it whole)"
    )
    assert refusal(included).endswith(f": it has no <model> of its own; {written}")
    assert refusal(included, model="x").endswith(f': it has no model named "x"; {written}')
    assert refusal(sdf(world())).endswith(": it has no <model> of its own; a robot needs one")


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.OLDEST == (1, 4)
    assert chosen.NEWEST == (1, 12)
