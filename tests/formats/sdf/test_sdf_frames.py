"""SDF: frames, the frames in which their poses are given, and the links to which they are
attached."""

from __future__ import annotations

import numpy as np
import pytest
from sdf_texts import (
    AB,
    ROUND_OFF,
    at,
    axis,
    frame,
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
    rotation,
    sdf,
    world,
)

from warpdyn.formats.robot_source import xml_root
from warpdyn.formats.sdf import sdf_frames as chosen
from warpdyn.formats.sdf.sdf_frames import SdfFrames, snap_entry
from warpdyn.formats.sdf.sdf_values import SdfValues


def test_poses_may_be_relative_to_any_frame() -> None:
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
    a = pose_matrix(1, 0, 0, yaw=0.5)
    nested = pose_matrix(0, 0, 1, yaw=0.3)
    c = nested @ pose_matrix(0.1, 0, 0, 0.2)
    j = a @ pose_matrix(0, 1) @ pose_matrix(0, 0, 2, pitch=0.4)
    wanted = {
        "inner::c": c,
        "inner::f": c @ pose_matrix(0, 0.2),
        "in_link": a @ pose_matrix(0, 1),
        "in_joint": j @ pose_matrix(0, 0, 1),
        "g": j @ pose_matrix(0, 0, 3),
        "in_frame": j @ pose_matrix(0, 0, 3) @ pose_matrix(1),
        "in_model": nested @ pose_matrix(1, 1),
        "in_nested": c @ pose_matrix(0, 0.2) @ pose_matrix(1, 1, 1),
    }
    for name, pose in wanted.items():
        assert np.allclose(found[name], pose, rtol=0, atol=ROUND_OFF), name


@pytest.mark.parametrize("placement", ["a", "f", "j", "inner", "inner::c", "__model__"])
def test_the_pose_of_a_model_places_its_placement_frame(placement: str) -> None:
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
        "inner": found["inner::c"] @ np.linalg.inv(pose_matrix(0.1, 0, 0, 0.2)),
    }
    where["__model__"] = found["a"] @ np.linalg.inv(pose_matrix(1, 0, 0, 0, 0.1))
    assert np.allclose(
        where.get(placement, found.get(placement)),
        pose_matrix(1, 2, 3, 0.1, 0.2, 0.3),
        atol=ROUND_OFF,
    )


def test_only_models_have_a_placement_frame() -> None:
    """The attribute of another element is no attribute of SDF. It is remarked, and the pose is the
    written one."""
    text = robot(link("a", "1 0 0 0 0.1 0"), frame("f", "0 1 0 0.2 0 0", "a"))
    placed = text.replace("<link ", '<link placement_frame="f" ')
    placed = placed.replace("<frame ", '<frame placement_frame="a" ')
    assert placed.count("placement_frame") == 2
    wanted, found = poses(load(text)), poses(quietly(placed))
    assert [each.split(" of ")[1][:7] for each in remarks(placed)] == ["<link> ", "<frame>"]
    assert all(np.array_equal(found[name], wanted[name]) for name in ("a", "f"))


def test_frames_become_massless_links() -> None:
    """A frame is on the link to which it is attached, directly or through other frames. For a model
    that is its canonical link."""
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


def test_a_canonical_link_may_be_in_a_nested_model() -> None:
    """An attribute names it. Otherwise it is the first link of the first nested model."""
    inner = model(link("c"), link("d"), joint("k", parent="c", child="d"), name="inner")
    assert load(robot(inner, frame("f"))).parent("f") == "inner::c"
    assert (
        load(sdf(model(inner, frame("f"), more='canonical_link="inner::d"'))).parent("f")
        == "inner::d"
    )


def test_joints_may_name_frames() -> None:
    """parent and child are frames. The joint connects their links and is at the child frame."""
    text = robot(
        AB,
        frame("fa", "0 0 1 0 0 0", "a"),
        frame("fb", "0 1 0 0 0 0.3", "b"),
        joint("j", "revolute", "fa", "fb"),
    )
    found = load(text, floating_base=False)
    moved = poses(found, [0.7])
    start = pose_matrix(1, 2, 3, 0.1, 0.2, 0.3)
    J = pose_matrix(0, 1, 0, 0, 0, 0.3)
    turn = np.eye(4)
    turn[:3, :3] = rotation([0, 0, 1], 0.7)
    assert np.allclose(moved["b"], start @ J @ turn @ np.linalg.inv(J), rtol=0, atol=ROUND_OFF)


def test_old_files_may_give_a_link_and_a_joint_the_same_name() -> None:
    """This holds before version 1.7. Where the meaning differs, the name is that of the link."""
    text = robot(AB, joint("b", "revolute", "a", "b", pose="1 0 0 0 0 0"), version="1.6")
    found = load(text)
    assert found.joint("b").child == "b_joint" and found.parent("b") == "b_joint"
    assert 'a link and a joint are named "b" in one model' in refusal(text.replace("1.6", "1.7"))
    next_one = joint("b_joint", "revolute", "b", "c", pose="0 1 0 0 0 0")
    longer = load(text.replace("</model>", f"{link('c', '0 0 5 0 0 0')}{next_one}</model>"))
    assert longer.link_names == ("a", "b_joint", "b", "b_joint_joint", "c")


def test_flattened_names_of_nested_models_are_read() -> None:
    """Version 1.7 wrote nested models flat, with :: in names."""
    text = robot(
        link("inner::a"),
        link("b", "1 0 0 0 0 0", relative_to="inner::a"),
        joint(parent="inner::a"),
        version="1.7",
    )
    assert load(text).link_names == ("inner::a", "b")


def scene(text: str) -> SdfFrames:
    root = xml_root("text", text.encode(), None, "<sdf>")
    return SdfFrames(SdfValues("text", (1, 9)), root, movable=False)


def test_relative_poses_compose_and_invert() -> None:
    """a in b times b in c is a in c. b in a inverts a in b. A pose in its reference frame equals
    the written pose."""
    frames = scene(
        robot(
            link("a", "1 2 3 0.1 0.2 0.3"),
            link("b", "0 1 0 0.4 0 0.5", relative_to="a"),
            link("c", "0 0 1 0 0.6 0"),
        )
    )
    a, b, c = (frames.world.inside[0].names["link", name] for name in "abc")

    def matrix(frame, base) -> np.ndarray:
        X = frames.relative(frame, base).as_matrix()
        R = np.array([list(row) for row in X.R.matrix.rows])
        return np.block([[R, np.array(list(X.p))[:, None]], [0, 0, 0, 1]])

    assert np.allclose(matrix(a, c) @ matrix(b, a), matrix(b, c), rtol=0, atol=ROUND_OFF)
    assert np.allclose(matrix(a, b) @ matrix(b, a), np.eye(4), rtol=0, atol=ROUND_OFF)
    assert np.array_equal(matrix(b, a), pose_matrix(0, 1, 0, 0.4, 0, 0.5))


def test_circular_frames_are_refused() -> None:
    """The circles are those of poses and of attachments. The message lists the frames of the
    circle."""
    inside = robot(link("a"), frame("f", relative_to="g"), frame("g", relative_to="f"))
    assert "poses are given relative to each other in a cycle (f -> g -> f)" in refusal(inside)
    attached = robot(link("a"), frame("f", attached_to="g"), frame("g", attached_to="f"))
    assert "in a cycle (f -> g -> f)" in refusal(attached)


@pytest.mark.parametrize("whole", [-1.0, 0.0, 1.0])
def test_rounding_errors_of_rotations_are_removed(whole: float) -> None:
    """They are a few units of the last place. Small angles of the file are kept."""
    assert snap_entry(whole + 1e-16) == whole and snap_entry(whole + 1e-9) == whole + 1e-9


def test_links_of_a_world_are_ignored() -> None:
    """The content of a world is its models. Its other links move nothing, and are remarked."""
    alone = load(robot(AB, joint(inside=axis())))
    text = sdf(world(link("a"), link("loose"), model(AB, joint(inside=axis()))))
    assert quietly(text).link_names == alone.link_names
    assert quietly(text, model="world").link_names == ("m::a", "m::b")
    assert any("ignored element <link> of <world>" in line for line in remarks(text))


def test_names_of_nested_models_are_resolved() -> None:
    """They are looked up from the world, from a model, and from a model inside it."""
    inner = model(link("a"), frame("f", "", "a"), name="inner")
    root = xml_root("x", sdf(world(model(inner, link("a"), name="outer"))).encode(), None, "<sdf>")
    frames = SdfFrames(SdfValues("x", root), root[0], movable=False)
    outer = frames.find(frames.world, "outer")
    assert outer is not None and frames.world.within(frames.world)
    deep = frames.find(outer, "inner::f")
    assert deep is not None and deep.path(outer) == "inner::f" and deep.kind == "frame"
    assert deep.path(frames.world) == "outer::inner::f" and deep.within(outer)
    nested = frames.find(outer, "inner")
    assert nested is not None and deep.path(nested) == "f" and not outer.within(nested)
    assert [x.path(outer) for x in outer.walk("link")] == ["inner::a", "a"]
    assert [x.kind for x in outer.walk("link", "frame", "model")] == [
        "model",
        "link",
        "frame",
        "link",
    ]
    for scope, name, kinds, found in (
        (outer, "__model__", (), outer),
        (outer, "__model__", ("model",), outer),
        (outer, "__model__", ("link",), None),
        (outer, "world", (), None),
        (frames.world, "world", (), frames.world),
        (frames.world, "world", ("link",), None),
        (frames.world, "__model__", (), None),
        (outer, "inner::f", ("link",), None),
        (outer, "inner::g", (), None),
        (frames.world, "outer::inner::f", ("frame",), deep),
    ):
        assert frames.find(scope, name, *kinds) is found, (scope.name, name, kinds)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.ROUND_OFF == 1e-14
