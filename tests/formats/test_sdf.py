"""The SDF reader: models, worlds, links and where they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sdf_texts import (
    AB,
    ROUND_OFF,
    at,
    frame,
    joint,
    link,
    load,
    model,
    placed,
    poses,
    quietly,
    refusal,
    remarks,
    robot,
    sdf,
    turned,
    world,
)

from warpdyn.formats.load import load as load_any
from warpdyn.formats.sdf import load_sdf
from warpdyn.model.description import ModelWarning

# Sources.


def test_path_text_and_bytes_give_the_same_model(tmp_path: Path) -> None:
    """A path, a str and bytes; a mark, blanks and a declared encoding change nothing."""
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
def test_versions_that_are_read(version: str) -> None:
    """1.10 is after 1.9."""
    assert load(robot(AB, joint(), version=version)).nv == 7


@pytest.mark.parametrize("version", ["", "1.3", "1.13", "2.0", "1", "one", "-1.9", "1.9.1"])
def test_other_versions_are_refused(version: str) -> None:
    """What the reader does not know it does not guess."""
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
def test_what_is_no_sdf_is_refused(text: str, words: str) -> None:
    """In one sentence."""
    assert words in refusal(text)


def test_load_tells_formats_apart(tmp_path: Path) -> None:
    """By content, not by name."""
    path = tmp_path / "robot.xml"
    path.write_text(robot(AB, joint()))
    assert load_any(path).nv == 7 and load_any(path, floating_base=False).nv == 1
    assert load_any('<robot name="r"><link name="a"/></robot>', floating_base=True).nv == 6
    with pytest.raises(Exception, match="the root element is <x>; URDF begins with <robot>"):
        load_any("<x/>")


# Which model.

ONE, TWO = model(link("a"), name="one"), model(link("b"), name="two")
GROUND = model("<static>true</static>", link("plate"), name="ground")


def test_the_one_model_that_can_move_is_taken() -> None:
    """A file's only model, or the only one that is not static."""
    assert load(sdf(ONE)).name == "one"
    assert load(sdf(world(GROUND, ONE))).link_names == ("a",)
    assert load(sdf(world(GROUND))).link_names == ("world", "plate")
    assert load(sdf(GROUND, ONE)).name == "one"


def test_of_several_models_one_must_be_named() -> None:
    """The error lists them."""
    text = sdf(world(GROUND, ONE, TWO))
    message = refusal(text)
    assert 'it holds 3 models ("ground", "one", "two")' in message and 'model="..."' in message
    assert load(text, model="two").link_names == ("b",)
    assert 'no models named "three"' in refusal(text, model="three")
    assert '2 models named "one"' in refusal(
        sdf(world(ONE), f'<world name="v">{ONE}</world>'), model="one"
    )


def test_a_nested_model_can_be_taken_alone() -> None:
    """By its path; its names lose what was taken away."""
    text = sdf(
        model(
            link("a"), model(link("b"), model(link("c"), name="deep"), name="inner"), name="outer"
        )
    )
    assert load(text).link_names == ("world", "a", "inner::b", "inner::deep::c")
    assert load(text, model="outer::inner").link_names == ("world", "b", "deep::c")
    assert load(text, model="outer::inner::deep").link_names == ("c",)


def test_a_world_can_be_one_robot() -> None:
    """Every model of it, names with the model's."""
    whole = load(sdf(world(GROUND, ONE, TWO)), model="world")
    assert whole.link_names == ("world", "ground::plate", "one::a", "two::b") and whole.nv == 12
    assert whole.name == "w"


# What floats.


def test_a_robot_floats_unless_something_holds_it() -> None:
    """By SDF's rules: neither a joint to the world nor <static>."""
    held = joint("hold", "fixed", "world", "a", "")
    assert load(robot(AB, joint())).floating_base and load(robot(AB, joint())).root == "a"
    assert load(robot(AB, joint(), held)).link_names == ("world", "a", "b")
    assert load(robot("<static>1</static>", AB, joint())).nv == 0
    assert load(robot(AB, joint(), joint("k", "prismatic", "world", "a"))).nv == 2


def test_floating_base_overrules_static_and_the_lack_of_a_joint() -> None:
    """True and False are the caller's word; a joint to the world is not overruled."""
    assert load(robot("<static>1</static>", AB, joint()), floating_base=True).nv == 7
    fixed = load(robot("<pose>0 0 5 0 0 0</pose>", AB, joint()), floating_base=False)
    assert fixed.nv == 1 and fixed.root == "world" and poses(fixed)["a"][2, 3] == 5
    message = refusal(
        robot(AB, joint(), joint("hold", "fixed", "world", "a", "")), floating_base=True
    )
    assert 'joint "hold" fixes the robot to the world' in message


def test_several_free_bodies_hang_on_the_world() -> None:
    """Each on a floating joint whose coordinates are the link's pose in the world."""
    free = load(robot(link("a", "1 0 0 0 0 0"), link("b", "0 2 0 0 0 1")))
    assert free.joint_names == ("world_to_a", "world_to_b") and free.nv == 12
    q = free.neutral
    q[free.q_indices(["world_to_b"])[:3]] = 7, 8, 9
    assert poses(free, q)["b"][:3, 3].tolist() == [7, 8, 9]
    still = load(robot(link("a", "1 0 0 0 0 0"), link("b", "0 2 0 0 0 1")), floating_base=False)
    assert np.allclose(poses(still)["b"], placed(0, 2, 0, 0, 0, 1), atol=ROUND_OFF)


def test_quaternion_order_is_the_readers_business_too() -> None:
    """As for URDF."""
    assert load(robot(link("a")), quaternion="wxyz").q_names[3:] == tuple(
        f"floating_base.{c}" for c in ("qw", "qx", "qy", "qz")
    )


# Links.


def test_link_values_are_read() -> None:
    """Mass, centre of mass, and the inertia turned into the link's axes."""
    moments = "".join(
        f"<i{k}>{v}</i{k}>" for v, k in enumerate(("xx", "xy", "xz", "yy", "yz", "zz"), start=1)
    )
    inertial = f"<inertial><pose>1 2 3 0.1 0.2 0.3</pose><mass>5</mass><inertia>{moments}</inertia></inertial>"
    found = quietly(sdf(model(f'<link name="a">{inertial}</link>'))).link("a")
    R = placed(roll=0.1, pitch=0.2, yaw=0.3)[:3, :3]
    wanted = R @ np.array([[1, 2, 3], [2, 4, 5], [3, 5, 6]]) @ R.T
    assert (found.mass, found.com) == (5, (1, 2, 3))
    assert np.allclose(found.inertia, wanted, rtol=0, atol=ROUND_OFF)


def test_defaults_of_an_inertia_are_one() -> None:
    """SDFormat's: 1 kg and 1 kg·m²; without <inertial> at all a remark says so."""
    bare = robot('<link name="a"/><link name="b"><inertial/></link>', joint())
    found = quietly(bare)
    assert all(
        found.link(n).mass == 1 and np.array_equal(found.link(n).inertia, np.eye(3))
        for n in ("a", "b")
    )
    assert remarks(bare) == (
        "without <inertial>, so of SDF's default mass 1 kg and inertia 1 kg·m²: a",
    )


def test_impossible_inertia_is_remarked() -> None:
    """As for URDF."""
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
def test_what_is_left_out_is_remarked(inside: str, said: str) -> None:
    """Unless it changes nothing."""
    assert any(said in line for line in remarks(robot(f'<link name="a">{inside}</link>')))


def test_what_changes_nothing_is_left_out_silently() -> None:
    """Elements without dynamics, and others that say zero or false."""
    inside = (
        "<self_collide>1</self_collide><sensor name='s' type='imu'/>"
        "<kinematic>false</kinematic><gravity>1</gravity>"
    )
    assert (
        load(
            robot(link("a", inside=inside), "<plugin name='p' filename='f'><x>1</x></plugin>")
        ).nlinks
        == 1
    )


def test_a_worlds_gravity_is_remarked_if_it_is_not_the_earths() -> None:
    """A model holds none."""
    assert load(sdf(world("<gravity>0 0 -9.8</gravity>", ONE))).nv == 6
    moon = world("<gravity>0 0 -1.62</gravity>", ONE)
    assert "its gravity is (0, 0, -1.62)" in remarks(sdf(moon))[0]
    old = world("<physics type='ode'><gravity>0 0 -1.62</gravity></physics>", ONE)
    assert "its gravity is (0, 0, -1.62)" in remarks(sdf(old, version="1.5"))[0]


def test_shapes_are_kept_as_data() -> None:
    """In the link's frame, whatever frame they are given in; nothing is opened."""
    shapes = {
        "box": "<size>1 2 3</size>",
        "cylinder": "<radius>1</radius><length>2</length>",
        "sphere": "<radius>3</radius>",
        "mesh": "<uri>model://no/such.dae</uri><scale>2 2 2</scale>",
    }
    visuals = "".join(
        f'<visual name="{kind}">{at("0 0 1 0 0 0", "b")}<geometry><{kind}>{size}</{kind}></geometry></visual>'
        for kind, size in shapes.items()
    )
    found = (
        load(robot(link("a", inside=visuals), link("b", "5 0 0 0 0 0"), joint())).link("a").visuals
    )
    assert [shape.shape for shape in found] == list(shapes)
    assert [shape.size for shape in found] == [(1, 2, 3), (1, 2), (3,), (2, 2, 2)]
    assert (
        all(shape.pose.position == (5, 0, 1) for shape in found)
        and found[3].filename == "model://no/such.dae"
    )


def test_broken_or_unknown_shapes_are_remarked() -> None:
    """No motion depends on them."""
    broken = "<collision name='c'><geometry><box><size>1 2</size></box></geometry></collision>"
    plane = "<visual name='v'><geometry><plane><normal>0 0 1</normal></plane></geometry></visual>"
    said = remarks(robot(link("a", inside=broken + plane)))
    assert any("3 finite numbers" in line and "this collision is left out" in line for line in said)
    assert any("ignored shape <plane> of <visual>" in line for line in said)


# Frames.


def test_poses_are_given_in_any_frame() -> None:
    """relative_to names a link, a joint, a frame, a model, or one inside a nested model."""
    inner = model(
        at("0 0 1 0 0 0.3"),
        link("c", "0.1 0 0 0.2 0 0"),
        frame("f", "0 0.2 0 0 0 0", "c"),
        name="inner",
    )
    text = robot(
        link("a", "1 0 0 0 0 0.5"),
        inner,
        link("in_link", "0 1 0 0 0 0", relative_to="a"),
        link("in_joint", "0 0 1 0 0 0", relative_to="j"),
        link("in_frame", "1 0 0 0 0 0", relative_to="g"),
        link("in_model", "1 1 0 0 0 0", relative_to="inner"),
        link("in_nested", "1 1 1 0 0 0", relative_to="inner::f"),
        joint("j", "fixed", "a", "in_link", "", "0 0 2 0 0.4 0"),
        frame("g", "0 0 3 0 0 0", "in_link", relative_to="j"),
    )
    found = poses(load(text, floating_base=False))
    a = placed(1, 0, 0, yaw=0.5)
    nested = placed(0, 0, 1, yaw=0.3)
    c = nested @ placed(0.1, 0, 0, 0.2)
    j = a @ placed(0, 1) @ placed(0, 0, 2, pitch=0.4)
    wanted = {
        "inner::c": c,
        "inner::f": c @ placed(0, 0.2),
        "in_link": a @ placed(0, 1),
        "in_joint": j @ placed(0, 0, 1),
        "g": j @ placed(0, 0, 3),
        "in_frame": j @ placed(0, 0, 3) @ placed(1),
        "in_model": nested @ placed(1, 1),
        "in_nested": c @ placed(0, 0.2) @ placed(1, 1, 1),
    }
    for name, pose in wanted.items():
        assert np.allclose(found[name], pose, rtol=0, atol=ROUND_OFF), name


def test_poses_in_degrees_and_as_quaternions() -> None:
    """pose/@degrees and pose/@rotation_format, since 1.9."""
    degrees = '<link name="a"><pose degrees="true">1 2 3 10 20 30</pose><inertial/></link>'
    halves = f"{np.sin(0.2)} 0 0 {np.cos(0.2)}"
    quaternion = (
        f'<link name="b"><pose rotation_format="quat_xyzw">1 2 3 {halves}</pose><inertial/></link>'
    )
    found = poses(load(robot(degrees, quaternion), floating_base=False))
    assert np.allclose(
        found["a"], placed(1, 2, 3, *np.radians([10, 20, 30])), rtol=0, atol=ROUND_OFF
    )
    assert np.allclose(found["b"], placed(1, 2, 3, 0.4), rtol=0, atol=ROUND_OFF)


def test_empty_poses_are_the_origin() -> None:
    """<pose/> is six zeros, or no turn."""
    empty = (
        '<link name="a"><pose/><inertial/></link>'
        '<link name="b"><pose rotation_format="quat_xyzw"/><inertial/></link>'
    )
    found = poses(load(robot(empty), floating_base=False))
    assert np.array_equal(found["a"], np.eye(4)) and np.array_equal(found["b"], np.eye(4))


@pytest.mark.parametrize("placement", ["a", "f", "j", "inner", "inner::c", "__model__"])
def test_placement_frames(placement: str) -> None:
    """The model's pose is that of the frame it names."""
    inner = model(at("0 0 1 0 0 0.3"), link("c", "0.1 0 0 0.2 0 0"), name="inner")
    parts = [
        link("a", "1 0 0 0 0.1 0"),
        inner,
        frame("f", "0 1 0 0.2 0 0", "a"),
        joint("j", "fixed", "a", "inner::c", ""),
    ]
    text = sdf(model(at("1 2 3 0.1 0.2 0.3"), *parts, more=f'placement_frame="{placement}"'))
    found = poses(load(text, floating_base=False))
    where = {
        "j": found["inner::c"],
        "inner": found["inner::c"] @ np.linalg.inv(placed(0.1, 0, 0, 0.2)),
    }
    where["__model__"] = found["a"] @ np.linalg.inv(placed(1, 0, 0, 0, 0.1))
    assert np.allclose(
        where.get(placement, found.get(placement)), placed(1, 2, 3, 0.1, 0.2, 0.3), atol=ROUND_OFF
    )


def test_frames_become_massless_links() -> None:
    """On the link that they are attached to, directly or through others; a model's is its canonical link."""
    text = robot(
        AB,
        joint(),
        frame("on_model", "1 0 0 0 0 0"),
        frame("on_b", "0 1 0 0 0 0", "b"),
        frame("on_joint", "0 0 1 0 0 0", "j"),
        frame("on_frame", "", "on_joint"),
    )
    found = load(text)
    assert {n: found.parent(n) for n in found.link_names if n.startswith("on")} == {
        "on_model": "a",
        "on_b": "b",
        "on_joint": "b",
        "on_frame": "b",
    }
    assert found.link("on_b").mass == 0
    named = text.replace('<model name="m" >', '<model name="m" canonical_link="b">')
    assert load(named).parent("on_model") == "b"


def test_a_canonical_link_may_lie_in_a_nested_model() -> None:
    """Named, or the first of the first model where there is no link."""
    inner = model(link("c"), link("d"), joint("k", parent="c", child="d"), name="inner")
    assert load(robot(inner, frame("f"))).parent("f") == "inner::c"
    assert (
        load(sdf(model(inner, frame("f"), more='canonical_link="inner::d"'))).parent("f")
        == "inner::d"
    )


def test_joints_may_name_frames() -> None:
    """parent and child are frames; the links that carry them are joined, the joint lies in the child frame."""
    text = robot(
        AB,
        frame("fa", "0 0 1 0 0 0", "a"),
        frame("fb", "0 1 0 0 0 0.3", "b"),
        joint("j", "revolute", "fa", "fb"),
    )
    found = load(text, floating_base=False)
    moved = poses(found, [0.7])
    start = placed(1, 2, 3, 0.1, 0.2, 0.3)
    J = placed(0, 1, 0, 0, 0, 0.3)
    turn = np.eye(4)
    turn[:3, :3] = turned([0, 0, 1], 0.7)
    assert np.allclose(moved["b"], start @ J @ turn @ np.linalg.inv(J), rtol=0, atol=ROUND_OFF)


def test_old_files_say_frame_for_relative_to() -> None:
    """pose/@frame below 1.7; it means nothing after."""
    text = robot(
        link("a", "1 0 0 0 0 0"),
        '<link name="b"><pose frame="a">0 1 0 0 0 0</pose><inertial/></link>',
    )
    old, new = text.replace("1.9", "1.6"), text
    assert poses(load(old, floating_base=False))["b"][:3, 3].tolist() == [1, 1, 0]
    assert poses(load(new, floating_base=False))["b"][:3, 3].tolist() == [0, 1, 0]


def test_old_files_may_use_a_name_twice() -> None:
    """A link and a joint of one name, below 1.7; the link is meant where it matters."""
    text = robot(AB, joint("b", "revolute", "a", "b", pose="1 0 0 0 0 0"), version="1.6")
    found = load(text)
    assert found.joint("b").child == "b_joint" and found.parent("b") == "b_joint"
    assert 'a link and a joint are named "b" in one model' in refusal(text.replace("1.6", "1.7"))


def test_flattened_names_are_names() -> None:
    """1.7 wrote nested models flat, with :: in names."""
    text = robot(
        link("inner::a"),
        link("b", "1 0 0 0 0 0", relative_to="inner::a"),
        joint(parent="inner::a"),
        version="1.7",
    )
    assert load(text).link_names == ("inner::a", "b")


def test_a_chain_of_a_thousand_links_loads() -> None:
    """Each given in the last: nothing here recurses along the robot."""
    count = 1000
    links = "".join(
        link(f"l{i}", "0 0 0.01 0 0 0", relative_to=f"l{i - 1}" if i else "") for i in range(count)
    )
    joints = "".join(joint(f"j{i}", parent=f"l{i - 1}", child=f"l{i}") for i in range(1, count))
    assert load(robot(links, joints)).nv == 6 + count - 1


def test_a_load_warns_once() -> None:
    """One ModelWarning names the file, and where it was asked for."""
    with pytest.warns(ModelWarning, match="SDF text is used as written, but:") as caught:
        load_sdf(robot('<link name="a"><kinematic>1</kinematic></link>'))
        load_any(robot('<link name="a"/>'))
    assert [warning.filename for warning in caught] == [__file__, __file__]


def test_comments_may_stand_within_numbers() -> None:
    """And character data in sections."""
    text = robot(
        '<link name="a"><pose>1 2 <!-- up --> 3 <![CDATA[0 0]]> 0</pose><inertial/></link>'
    )
    assert poses(load(text, floating_base=False))["a"][:3, 3].tolist() == [1, 2, 3]
