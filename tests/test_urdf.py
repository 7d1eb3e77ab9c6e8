"""The URDF reader: what it reads, what it remarks, what it refuses."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from warpdyn.description import EYE, Geometry, Limits, Mimic, ModelError, ModelWarning
from warpdyn.formats.urdf import load_urdf
from warpdyn.model import Model
from warpdyn.robots import load_robot, robot_names

ROUND_OFF = 1e-15
"""Entries of a product of rotation matrices: a few units in the last place of 1."""

PINOCCHIO = 1e-12
"""Relative; Pinocchio sums and normalises in another order."""

LIMIT = '<limit lower="-1" upper="2" velocity="3" effort="4"/>'


def robot(*parts: str) -> str:
    return f'<robot name="r">{"".join(parts)}</robot>'


def links(*names: str) -> str:
    return "".join(f'<link name="{name}"/>' for name in names)


def joint(name: str = "j", kind: str = "revolute", parent: str = "a", child: str = "b", inside: str = LIMIT) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="{name}" type="{kind}">{ends}{inside}</joint>'


def body(inside: str, name: str = "a") -> str:
    return f'<link name="{name}"><inertial>{inside}</inertial></link>'


def inertia(ixx: float, iyy: float, izz: float, ixy: float = 0.0, ixz: float = 0.0, iyz: float = 0.0) -> str:
    return f'<inertia ixx="{ixx}" iyy="{iyy}" izz="{izz}" ixy="{ixy}" ixz="{ixz}" iyz="{iyz}"/>'


def load(text: str | bytes, **options: object) -> Model:
    """Load without a remark."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_urdf(text, **options)  # type: ignore[arg-type]


def remarks(text: str) -> tuple[str, ...]:
    with pytest.warns(ModelWarning):
        return load_urdf(text).warnings


def refusal(source: str | bytes | Path) -> str:
    with pytest.raises(ModelError) as caught:
        load_urdf(source)
    return str(caught.value)


# Sources.


def test_path_text_and_bytes_give_the_same_model(tmp_path: Path) -> None:
    """A Path, a path in a str, XML in a str and XML in bytes are one robot."""
    text = '<?xml version="1.0" encoding="utf-8"?>' + robot(links("a", "bü"), joint(child="bü"))
    path = tmp_path / "r.urdf"
    path.write_text(text, encoding="utf-8")
    models = [load_urdf(path), load_urdf(str(path)), load(text), load(text.encode())]
    assert len({model.key for model in models}) == 1
    assert models[0].link_names == ("a", "bü")


@pytest.mark.parametrize("before", ["", "\n\n  ", "\ufeff", "\ufeff\n"])
@pytest.mark.parametrize("declaration", ["", '<?xml version="1.0" encoding="iso-8859-1"?>'])
def test_text_may_begin_with_blanks_and_name_any_encoding(before: str, declaration: str) -> None:
    """A str is text already: blanks, a byte order mark and a declared encoding change nothing."""
    assert load(before + declaration + robot(links("é"))).link_names == ("é",)


def test_bytes_are_read_in_their_own_encoding() -> None:
    """Bytes carry their encoding in a mark or a declaration."""
    text = robot(links("é"))
    assert load(text.encode("utf-16")).link_names == ("é",)
    assert load(('<?xml version="1.0" encoding="iso-8859-1"?>' + text).encode("latin-1")).link_names == ("é",)


def test_robot_without_a_name_is_called_after_its_file(tmp_path: Path) -> None:
    """The name of a robot changes no motion, so that a missing one is no error."""
    path = tmp_path / "arm.urdf"
    path.write_text('<robot><link name="a"/></robot>')
    assert load_urdf(path).name == "arm"


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", ["empty", "give a path or XML text"]),
        (" \n ", ["empty"]),
        (b"", ["empty"]),
        (b" \n", ["empty"]),
        ("no/such.urdf", ["no/such.urdf", "no such file", "give the path"]),
        (Path("no/such.urdf"), ["no/such.urdf", "no such file"]),
        ("x\0y", ["cannot be read"]),
        ("long" * 2000, ["..."]),
        ("no angle bracket <robot/>", ["no such file", "begins with <"]),
    ],
)
def test_source_that_is_no_description_is_refused(source: str | bytes | Path, words: list[str]) -> None:
    """Nothing to read: one ModelError that says what to give."""
    message = refusal(source)
    assert all(word in message for word in words) and len(message) < 400


def test_directory_and_empty_file_are_refused(tmp_path: Path) -> None:
    """A directory and a file of nothing are named in the ModelError."""
    assert "is a directory" in refusal(tmp_path)
    empty = tmp_path / "empty.urdf"
    empty.write_text("")
    assert refusal(empty).startswith("empty.urdf: the text is empty")


def test_source_of_another_type_is_a_type_error() -> None:
    """What is neither path nor text is the caller's mistake, not the file's."""
    with pytest.raises(TypeError, match="needs a path or XML text, got int"):
        load_urdf(3)  # type: ignore[arg-type]


# XML.


@pytest.mark.parametrize(
    "text", ["<", "<robot", "<robot>", robot(links("a"))[:-3], robot(links("a")) + "<robot/>", "<a b='1' b='2'/>"]
)
def test_text_that_is_cut_or_malformed_is_refused(text: str) -> None:
    """Recovery is for undeclared prefixes only: broken XML is an error with its line."""
    message = refusal(text)
    assert "not well-formed XML" in message and "line 1" in message


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_bundled_robot_cut_anywhere_is_refused(cut: int) -> None:
    """No beginning of a description passes for the whole."""
    text = Path(sys.modules["warpdyn.robots"].__file__ or "").with_name("cartpole.urdf").read_text()
    assert refusal(text[: len(text) * cut // 12]).startswith("URDF text: ")


def bomb(use: str) -> str:
    layers = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    return f'<!DOCTYPE robot [<!ENTITY e0 "ha">{layers}]>{use}'


@pytest.mark.parametrize(
    "text",
    [
        bomb('<robot name="&e11;"/>'),
        bomb("<robot>&e11;</robot>"),
        bomb('<robot><link name="a"/></robot>'),
        f'<!DOCTYPE robot [<!ENTITY e "{"x" * 100_000}">]><robot name="{"&e;" * 20_000}"/>',
        '<!DOCTYPE robot [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]><robot><link name="a"/></robot>',
        '<!DOCTYPE robot SYSTEM "http://example.invalid/urdf.dtd"><robot><link name="a"/></robot>',
        '<!DOCTYPE robot PUBLIC "x" "urdf.dtd"><robot><link name="a"/></robot>',
    ],
)
def test_entities_and_external_dtds_are_refused(text: str) -> None:
    """Entity bombs never go off; the remedy is named."""
    assert "remove the DOCTYPE" in refusal(text)


@pytest.mark.parametrize("use", ['<link name="&secret;"/>', "<link name='a'>&secret;</link>", '<link name="a"/>'])
def test_external_entities_are_never_read(tmp_path: Path, use: str) -> None:
    """A file named by an entity stays closed."""
    secret = tmp_path / "secret"
    secret.write_text("opened")
    message = refusal(f'<!DOCTYPE robot [<!ENTITY secret SYSTEM "{secret.as_uri()}">]><robot>{use}</robot>')
    assert "remove the DOCTYPE" in message and "opened" not in message


def test_plain_doctype_is_harmless() -> None:
    """A DOCTYPE that declares nothing is read over."""
    assert load(f"<!DOCTYPE robot>{robot(links('a'))}").link_names == ("a",)


def test_undeclared_entity_is_refused() -> None:
    """A reference to nothing is malformed XML."""
    assert "Entity 'e' not defined" in refusal(robot("&e;", links("a")))


def test_deep_nesting_is_refused() -> None:
    """A tower of elements ends as a ModelError, not as a full stack."""
    assert "Excessive depth" in refusal(robot("<a>" * 5000 + "</a>" * 5000))


@pytest.mark.parametrize(
    ("root", "word"), [("sdf", "SDF"), ("mujoco", "MJCF"), ("gazebo", "format"), ("x:robot", "x:robot")]
)
def test_root_other_than_robot_is_refused_by_name(root: str, word: str) -> None:
    """Another format is recognised where it can be."""
    message = refusal(f"<{root}/>")
    assert f"the root element is <{root}>" in message and word in message


def test_default_namespace_is_the_robots_own() -> None:
    """<robot xmlns="..."> holds links and joints all the same."""
    text = robot(links("a", "b"), joint()).replace("<robot", '<robot xmlns="http://example.org/urdf"')
    assert load(text).joint_names == ("j",)


@pytest.mark.parametrize("count", [1, 300])
def test_undeclared_prefixes_are_ignored_with_one_remark(count: int) -> None:
    """Elements with an undeclared prefix are left out and said once, however many."""
    said = remarks(robot("<foo:bar baz:x='1'><link name='z'/></foo:bar>" * count, links("a")))
    times = f"{count} times, first on line 1" if count > 1 else "line 1"
    assert said == (f"ignored element <foo:bar> of <robot> ({times})",)


def test_undeclared_prefix_excuses_no_other_error() -> None:
    """Truncation is seen behind hundreds of undeclared prefixes."""
    assert "not well-formed" in refusal(robot("<foo:bar/>" * 300, links("a"))[:-4])


def test_elements_without_dynamics_are_left_out_silently() -> None:
    """gazebo, transmission, ros2_control, sensors and materials change no motion and deserve no remark."""
    extras = """
      <gazebo reference="a"><sensor><plugin filename="x"/></sensor></gazebo><gazebo/>
      <transmission name="t"><type>x</type><joint name="j"/></transmission>
      <ros2_control name="c" type="system"><joint name="j"><command_interface name="position"/></joint></ros2_control>
      <sensor name="s" type="force_torque"><parent joint="j"/></sensor>
      <material name="bare"/><material/><!-- comment --><?pi?>
      <link name="a"><visual><geometry><sphere radius="1"/></geometry><material/></visual></link><link name="b"/>"""
    model = load(robot(extras, joint(inside=LIMIT + '<safety_controller k_velocity="x"/><calibration rising="y"/>')))
    assert model.joint_names == ("j",) and len(model.links[0].visuals) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (robot("<axel/>", links("a")), "ignored element <axel> of <robot>"),
        (robot('<link name="a"><gravity>0</gravity></link>'), "ignored element <gravity> of <link>"),
        (robot('<link name="a" colour="red"/>'), 'ignored attribute "colour" of <link>'),
        (robot(links("a", "b"), joint(inside=LIMIT * 2)), "ignored second element <limit> of <joint>"),
    ],
)
def test_unknown_parts_are_ignored_with_a_remark(text: str, said: str) -> None:
    """A misspelt word is seen, not swallowed."""
    assert remarks(text) == (f"{said} (line 1)",)


def test_xacro_is_refused() -> None:
    """An unexpanded xacro file is half a robot."""
    text = '<robot xmlns:xacro="http://ros.org/wiki/xacro">\n<link name="a"/><xacro:arm/></robot>'
    assert "expand the file first" in refusal(text) and "(line 2)" in refusal(text)


# Links.


def test_link_values_are_read() -> None:
    """Mass, centre of mass and inertia are those written."""
    text = body('<origin xyz="1 2 3"/><mass value="4"/>' + inertia(0.5, 0.6, 0.7, 0.01, 0.02, 0.03))
    link = load(robot(text)).link("a")
    assert (link.mass, link.com) == (4.0, (1.0, 2.0, 3.0))
    assert link.inertia == ((0.5, 0.01, 0.02), (0.01, 0.6, 0.03), (0.02, 0.03, 0.7))


def test_link_without_inertial_weighs_nothing() -> None:
    """No <inertial>: mass and inertia are zero, without a remark."""
    link = load(robot(links("world"))).link("world")
    assert link.mass == 0 and not np.any(link.inertia)


def test_inertial_without_origin_lies_at_the_link_frame() -> None:
    """A missing <origin> is the zero pose."""
    assert load(robot(body('<mass value="1"/>' + inertia(1, 1, 1)))).link("a").com == (0, 0, 0)


@given(st.tuples(*[st.floats(-7, 7)] * 3))
def test_inertial_rpy_turns_the_inertia(rpy: tuple[float, float, float]) -> None:
    """The stored inertia is R I R^T with R = Rz(yaw) Ry(pitch) Rx(roll): link axes, symmetric to the last bit."""
    written = np.array([[2.0, 0.1, 0.2], [0.1, 1.5, 0.3], [0.2, 0.3, 1.8]])
    origin = f'<origin rpy="{rpy[0]!r} {rpy[1]!r} {rpy[2]!r}"/>'
    model = load(robot(body(origin + '<mass value="1"/>' + inertia(2.0, 1.5, 1.8, 0.1, 0.2, 0.3))))
    found = np.array(model.link("a").inertia)
    turned = urdf_rotation(*rpy)
    assert np.array_equal(found, found.T)
    assert np.abs(found - turned @ written @ turned.T).max() <= 20 * ROUND_OFF


def urdf_rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    def about(axis: int, angle: float) -> np.ndarray:
        turn, (i, j) = np.eye(3), ((axis + 1) % 3, (axis + 2) % 3)
        turn[i, i] = turn[j, j] = math.cos(angle)
        turn[i, j], turn[j, i] = -math.sin(angle), math.sin(angle)
        return turn

    return about(2, yaw) @ about(1, pitch) @ about(0, roll)


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ('<mass value="0"/>' + inertia(1, 1, 1), "rotational inertia but no mass"),
        ('<mass value="1"/>' + inertia(1, 1, 2.1), "break the triangle inequality"),
        ('<mass value="1"/>' + inertia(1, 1, 1, ixy=1.5), "principal moment of its inertia is negative"),
        ('<mass value="1"/>' + inertia(-1, -1, -1), "principal moment of its inertia is negative"),
        ('<mass value="1"/>', "has no <inertia>; taken as a point mass"),
        (inertia(1, 1, 1), "has no <mass>; taken as 0 kg"),
    ],
)
def test_impossible_inertia_is_remarked_and_used_as_written(inside: str, said: str) -> None:
    """A body that cannot exist is named in a warning and kept: the caller's numbers are the caller's."""
    with pytest.warns(ModelWarning, match='link "a"'):
        model = load_urdf(robot(body(inside)))
    assert any(said in line and 'link "a"' in line for line in model.warnings)
    if "inertia" in inside:
        assert np.any(model.link("a").inertia)


@pytest.mark.parametrize(
    "inside",
    [
        '<mass value="0"/>' + inertia(0, 0, 0),
        '<mass value="1"/>' + inertia(0, 0, 0),
        '<mass value="1"/>' + inertia(0.0123, 0.0456, 0.0579),
        '<mass value="1"/>' + inertia(1e-20, 1e-20, 9e-20),
    ],
)
def test_massless_point_and_rounded_bodies_are_not_remarked(inside: str) -> None:
    """Nothing, a point, a flat plate rounded to three digits and a dummy's mark are no mistakes."""
    load(robot(body(inside)))


def test_missing_products_of_inertia_are_zero() -> None:
    """ixy, ixz and iyz may be left out."""
    assert load(robot(body('<mass value="1"/><inertia ixx="1" iyy="2" izz="3"/>'))).link("a").inertia == (
        (1, 0, 0),
        (0, 2, 0),
        (0, 0, 3),
    )


def test_a_load_warns_once_and_keeps_every_remark() -> None:
    """One warning with at most a dozen lines, raised where the user called; Model.warnings has them all."""
    many = [body('<mass value="0"/>' + inertia(1, 1, 1), f"b{i}") for i in range(40)]
    chain = [joint(f"j{i}", "fixed", f"b{i}", f"b{i + 1}", "") for i in range(39)]
    with pytest.warns(ModelWarning) as caught:
        model = load_urdf(robot(*many, *chain))
    assert len(model.warnings) == 40 and len(caught) == 1
    assert str(caught[0].message).count("\n") <= 13 and "and 28 more" in str(caught[0].message)
    assert caught[0].filename == __file__


# Joints.


def test_joint_values_are_read() -> None:
    """Pose, axis, limits, damping and friction are those written."""
    inside = LIMIT + '<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 0 -1"/><dynamics damping="5" friction="6"/>'
    read = load(robot(links("a", "b"), joint(inside=inside))).joint("j")
    assert (read.kind.name, read.parent, read.child) == ("revolute", "a", "b")
    assert read.pose.position == (1, 2, 3) and read.axis == (0, 0, -1)
    assert np.abs(np.array(read.pose.rotation) - urdf_rotation(0.1, 0.2, 0.3)).max() <= ROUND_OFF
    assert read.limits == Limits(-1, 2, 3, 4) and (read.damping, read.friction) == (5, 6)


def test_defaults_of_a_joint() -> None:
    """No origin: the zero pose. No axis: x. No dynamics: no damping and no friction."""
    read = load(robot(links("a", "b"), joint())).joint("j")
    assert read.pose.rotation is EYE and read.pose.position == (0, 0, 0)
    assert read.axis == (1, 0, 0) and read.damping == read.friction == 0 and read.mimic is None


@pytest.mark.parametrize("kind", ["revolute", "continuous", "prismatic", "fixed", "planar", "floating"])
def test_every_kind_is_read(kind: str) -> None:
    """The six kinds of URDF."""
    assert load(robot(links("a", "b"), joint(kind=kind))).joint("j").kind.name == kind


@given(st.tuples(*[st.floats(-1e6, 1e6)] * 3).filter(lambda axis: max(map(abs, axis)) > 1e-6))
def test_axes_are_normalised(axis: tuple[float, float, float]) -> None:
    """An axis is a direction: length one, as written otherwise."""
    found = np.array(
        load(robot(links("a", "b"), joint(inside=f'{LIMIT}<axis xyz="{axis[0]!r} {axis[1]!r} {axis[2]!r}"/>')))
        .joint("j")
        .axis
    )
    assert abs(np.linalg.norm(found) - 1) <= 2 * ROUND_OFF
    assert np.abs(np.cross(found, axis)).max() <= 1e-15 * np.linalg.norm(axis) * 4 and found @ axis > 0


@pytest.mark.parametrize("axis", ["1e-310 0 0", "5e-324 0 0", "1e308 0 0", "7 0 0"])
def test_axis_length_may_be_extreme(axis: str) -> None:
    """Neither underflow nor overflow on the way to length one."""
    assert load(robot(links("a", "b"), joint(inside=f'{LIMIT}<axis xyz="{axis}"/>'))).joint("j").axis == (1, 0, 0)


def test_axis_of_a_fixed_joint_is_not_looked_at() -> None:
    """Fixed and floating joints often carry a zero axis."""
    for kind in ("fixed", "floating"):
        load(robot(links("a", "b"), joint(kind=kind, inside='<axis xyz="0 0 0"/>')))


@pytest.mark.parametrize(
    ("kind", "limit", "limits"),
    [
        ("revolute", '<limit effort="0" velocity="0" lower="1" upper="1"/>', Limits(1, 1, 0, 0)),
        ("prismatic", '<limit lower="-1" upper="1"/>', Limits(-1, 1)),
        ("revolute", '<limit upper="1" effort="2" velocity="3"/>', Limits(0, 1, 3, 2)),
        ("revolute", '<limit lower="-inf" upper="1" effort="inf" velocity="inf"/>', Limits(-math.inf, 1)),
        ("continuous", '<limit lower="-1" upper="1" effort="2" velocity="3"/>', Limits(velocity=3, effort=2)),
        ("planar", '<limit lower="-1" upper="1" effort="2" velocity="3"/>', Limits(velocity=3, effort=2)),
        ("fixed", '<limit lower="-1" upper="1" effort="2" velocity="3"/>', Limits()),
    ],
)
def test_limits_are_data(kind: str, limit: str, limits: Limits) -> None:
    """What is written is kept, zero and equal limits too; a kind without position limits has none."""
    assert load(robot(links("a", "b"), joint(kind=kind, inside=limit))).joint("j").limits == limits


@pytest.mark.parametrize("inside", ["", '<limit effort="1" velocity="2"/>'])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_missing_position_limits_are_remarked_and_unlimited(kind: str, inside: str) -> None:
    """A revolute or prismatic joint that gives no bound has none."""
    with pytest.warns(ModelWarning, match='joint "j".*without position limits'):
        model = load_urdf(robot(links("a", "b"), joint(kind=kind, inside=inside)))
    assert model.position_lower[0] == -math.inf and model.position_upper[0] == math.inf


def test_crossed_limits_are_remarked_and_kept() -> None:
    """lower > upper is used as written."""
    assert "above its upper limit" in remarks(robot(links("a", "b"), joint(inside='<limit lower="2" upper="1"/>')))[0]


def test_mimic_without_multiplier_or_offset_follows_one_to_one() -> None:
    """Defaults: multiplier 1, offset 0."""
    text = robot(
        links("a", "b", "c", "d"),
        joint("lead"),
        joint("plain", parent="b", child="c", inside=LIMIT + '<mimic joint="lead"/>'),
        joint("scaled", parent="b", child="d", inside=LIMIT + '<mimic joint="lead" multiplier="-2" offset="0.5"/>'),
    )
    model = load(text)
    assert model.joint("plain").mimic == Mimic("lead", 1, 0) and model.joint("scaled").mimic == Mimic("lead", -2, 0.5)
    assert model.joint_names == ("lead",) and model.nq == model.nv == 1


def test_mimic_left_behind_on_a_fixed_joint_is_dropped() -> None:
    """A fixed joint follows nothing, whatever it says."""
    model = load(robot(links("a", "b"), joint(kind="fixed", inside='<mimic joint="gone"/>')))
    assert model.joint("j").mimic is None


# Shapes.


def test_shapes_are_kept_as_data() -> None:
    """box, cylinder, sphere and mesh, with pose and name; package:// paths stay text."""
    text = """<link name="a">
      <visual name="v"><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry></visual>
      <visual><geometry><cylinder radius="1" length="2"/></geometry></visual>
      <collision><geometry><sphere radius="1"/></geometry></collision>
      <collision><geometry><mesh filename="package://p/m.stl" scale="1 -1 1"/></geometry></collision>
      <collision><geometry><mesh filename="m.dae"/></geometry></collision></link>"""
    link = load(robot(text)).link("a")
    assert [(shape.shape, shape.size) for shape in link.visuals] == [("box", (1, 2, 3)), ("cylinder", (1, 2))]
    assert link.visuals[0].name == "v" and link.visuals[0].pose.position == (1, 0, 0)
    assert link.collisions == (
        Geometry("sphere", (1.0,)),
        Geometry("mesh", (1.0, -1.0, 1.0), "package://p/m.stl"),
        Geometry("mesh", (1.0, 1.0, 1.0), "m.dae"),
    )


@pytest.mark.parametrize(
    "inside",
    [
        "",
        "<geometry/>",
        "<geometry><capsule/></geometry>",
        "<geometry><mesh/></geometry>",
        '<geometry><box size="1 nan 1"/></geometry>',
        '<geometry><sphere radius="1"/><box size="1 1 1"/></geometry>',
    ],
)
def test_broken_shapes_are_remarked_and_left_out(inside: str) -> None:
    """No motion depends on a shape, so that a broken one costs the robot nothing."""
    with pytest.warns(ModelWarning, match='link "a".*this visual is left out'):
        assert load_urdf(robot(f'<link name="a"><visual>{inside}</visual></link>')).link("a").visuals == ()


# Refusals.

AB = links("a", "b")
BAD = {
    "empty robot": ("<robot/>", ["no link", "at least one <link>"]),
    "no links": (robot(joint()), ["no link"]),
    "two roots": (AB, ['"a", "b"', "one root"]),
    "cycle": (AB + joint(kind="fixed") + joint("k", "fixed", "b", "a"), ["closed loop", "must be a tree"]),
    "cycle beside the root": (
        links("r", "a", "b") + joint(kind="fixed") + joint("k", "fixed", "b", "a"),
        ["closed loop", "must be a tree"],
    ),
    "joint onto itself": (links("r", "a") + joint(child="a"), ["closed loop"]),
    "two parents": (
        links("a", "b", "c") + joint() + joint("k", parent="a", child="c") + joint("l", parent="c", child="b"),
        ['joint "l"', '"b" is already the child of joint "j"', "remove one"],
    ),
    "link twice": (links("a", "a"), ['two links are named "a"', "own name"]),
    "joint twice": (links("a", "b", "c") + joint() + joint(child="c"), ['two joints are named "j"', "own name"]),
    "link without name": ("<link/>", ["<link> has no name", "write name="]),
    "link with empty name": ('<link name=" "/>', ["<link> has no name"]),
    "joint without name": (AB + joint().replace('name="j"', ""), ["<joint> has no name"]),
    "joint without type": (AB + joint().replace('type="revolute"', ""), ['joint "j"', "has no type"]),
    "unknown type": (AB + joint(kind="screw"), ['joint "j"', '"screw" is unknown', "revolute, continuous"]),
    "no parent element": (AB + joint().replace('<parent link="a"/>', ""), ['joint "j"', "no <parent>"]),
    "no child element": (AB + joint().replace('<child link="b"/>', ""), ['joint "j"', "no <child>"]),
    "parent without link": (
        AB + joint().replace('<parent link="a"/>', "<parent/>"),
        ['joint "j"', "<parent> has no link"],
    ),
    "parent missing": (AB + joint(parent="z"), ['joint "j"', 'parent link "z" does not exist', "correct the name"]),
    "child missing": (AB + joint(child="z"), ['joint "j"', 'child link "z" does not exist']),
    "zero axis": (
        AB + joint(inside='<axis xyz="0 0 0"/>'),
        ['joint "j": axis is (0, 0, 0)', "a revolute joint needs a non-zero axis"],
    ),
    "NaN axis": (AB + joint(inside='<axis xyz="0 nan 1"/>'), ['joint "j"', "axis", "finite"]),
    "infinite axis": (AB + joint(inside='<axis xyz="0 1e999 1"/>'), ['joint "j"', "axis", "finite"]),
    "axis of two numbers": (AB + joint(inside='<axis xyz="0 1"/>'), ['joint "j"', "3 finite numbers"]),
    "axis without xyz": (AB + joint(inside="<axis/>"), ['joint "j"', "<axis> has no xyz"]),
    "origin not numbers": (
        AB + joint(inside='<origin xyz="0 ${h} 0"/>'),
        ['joint "j"', '"0 ${h} 0"', "3 finite numbers"],
    ),
    "origin with a comma": (AB + joint(inside='<origin xyz="0,1 0 0"/>'), ['joint "j"', '"0,1 0 0"']),
    "origin as quaternion": (
        AB + joint(inside='<origin quat_xyzw="0 0 0 1"/>'),
        ['joint "j"', "write the rotation as rpy"],
    ),
    "underscored number": (AB + joint(inside='<origin xyz="1_0 0 0"/>'), ['joint "j"', '"1_0 0 0"']),
    "NaN limit": (AB + joint(inside='<limit lower="nan"/>'), ['joint "j"', "<limit> lower", '"nan"']),
    "damping not a number": (AB + joint(inside='<dynamics damping="x"/>'), ['joint "j"', "<dynamics> damping"]),
    "NaN mass": (body('<mass value="nan"/>'), ['link "a"', "<mass> value", "finite number"]),
    "negative mass": (body('<mass value="-1"/>'), ['link "a": mass is -1 kg', "must not be negative"]),
    "mass without value": (body("<mass/>"), ['link "a"', "<mass> has no value"]),
    "mass not a number": (body('<mass value="1kg"/>'), ['link "a"', '"1kg"']),
    "inertia not a number": (
        body('<mass value="1"/><inertia ixx="a" iyy="1" izz="1"/>'),
        ['link "a"', "<inertia> ixx"],
    ),
    "inertia without izz": (body('<mass value="1"/><inertia ixx="1" iyy="1"/>'), ['link "a"', "<inertia> has no izz"]),
    "mimic of nothing": (AB + joint(inside='<mimic joint="k"/>'), ['joint "j": it mimics "k"', "remove <mimic>"]),
    "mimic without joint": (AB + joint(inside="<mimic/>"), ['joint "j"', "<mimic> has no joint"]),
    "mimic of itself": (AB + joint(inside='<mimic joint="j"/>'), ['joint "j"', "j -> j"]),
    "mimic in a circle": (
        links("a", "b", "c")
        + joint(inside='<mimic joint="k"/>')
        + joint("k", parent="b", child="c", inside='<mimic joint="j"/>'),
        ['joint "j"', "j -> k -> j"],
    ),
    "mimic of a fixed joint": (
        links("a", "b", "c") + joint(inside='<mimic joint="k"/>') + joint("k", "fixed", "b", "c", ""),
        ['joint "j"', '"k", a fixed joint'],
    ),
    "planar joint that mimics": (
        AB + joint(kind="planar", inside='<mimic joint="j"/>'),
        ['joint "j"', "planar joint cannot mimic"],
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_by_file_element_and_remedy(case: str, tmp_path: Path) -> None:
    """One ModelError, from the reader itself, that begins with the file and says what is wrong and what to do."""
    text, words = BAD[case]
    path = tmp_path / "bad.urdf"
    path.write_text(text if text.startswith("<robot") else robot(text))
    message = refusal(path)
    assert message.startswith("bad.urdf: ") and "\n" not in message
    assert all(word in message for word in words), message


def test_refusals_name_the_line() -> None:
    """A value that is no number is found by its line."""
    text = robot("\n", links("a"), "\n", body('\n<mass value="x"/>', "b"))
    assert refusal(text).endswith("(line 4)")


def test_wrong_quaternion_order_is_refused() -> None:
    """Only the two orders that exist."""
    with pytest.raises(ModelError, match='quaternion must be "xyzw" or "wxyz"'):
        load_urdf(robot(links("a")), quaternion="xwyz")


# Nothing else comes out.

SMALL = robot(
    '\n<link name="base"/>\n',
    body('<origin xyz="0 0 0.1" rpy="0.1 0 0"/><mass value="1.5"/>' + inertia(0.1, 0.1, 0.1), "arm"),
    '\n<link name="tip"><visual><geometry><box size="1 1 1"/></geometry></visual></link>\n<foo:bar a="1"/>',
    joint("j1", parent="base", child="arm", inside=LIMIT + '<origin xyz="0 0 1" rpy="0 1 0"/><axis xyz="0 1 0"/>'),
    joint("j2", "prismatic", "arm", "tip", LIMIT + '<mimic joint="j1" multiplier="2"/><dynamics damping="1"/>'),
)
JUNK = """
    nan inf -1 1e999 < > /> " &#0; &lt; &x; <!-- --> <![CDATA[ ]]> <?xml?> <!DOCTYPE <!ENTITY x: xmlns:x='y' x:y='z'
    <link/> <joint/> <robot> </robot> é 1_1 1.2.3 j1 base floating fixed revolute
"""
PIECES = [*JUNK.split(), "", "\0", "\ufffe", "\ud800", "0 0 0"]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = SMALL
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 30)))
        middle = draw(st.sampled_from(PIECES) | st.just(text[start:stop] * 2) | st.text(max_size=4))
        text = text[:start] + middle + text[stop:]
    return text


ATTRIBUTES = SMALL.split('"')


@st.composite
def revalued(draw: st.DrawFn) -> str:
    """SMALL, well-formed still, with other values in its attributes."""
    parts = list(ATTRIBUTES)
    for _ in range(draw(st.integers(1, 4))):
        value = draw(
            st.sampled_from([*parts[1::2], "nan", "-inf", "1e999", "", " ", "0 0 0", "1e308 1e308 1e308", "1_1"])
        )
        parts[2 * draw(st.integers(0, len(parts) // 2 - 1)) + 1] = value
    return '"'.join(parts)


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated() | revalued() | st.binary(max_size=60).map(lambda junk: b"<" + junk), st.booleans())
def test_only_a_model_or_a_model_error_comes_out(text: str | bytes, floating: bool) -> None:
    """However the text is damaged: a usable model, or a refusal in words."""
    if not text.strip() or (isinstance(text, str) and not text.lstrip("\ufeff \t\r\n").startswith("<")):
        return  # a path, not a text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ModelWarning)
        try:
            model = load_urdf(text, floating_base=floating)
        except ModelError as error:
            assert str(error)
            return
    assert np.isfinite([(*link.com, link.mass) for link in model.links]).all() and model.summary()
    assert len(model.q_names) == model.nq == len(model.neutral)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """urdf_parser_py's complaints on stderr never happen: it is handed only what it knows."""
    with pytest.warns(ModelWarning):
        load_urdf(SMALL)
    load_robot("humanoid")
    assert capfd.readouterr() == ("", "")


def test_parser_troubles_become_model_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever urdf_parser_py raises arrives as a ModelError."""
    from warpdyn.formats import urdf

    monkeypatch.setitem(urdf.TAGS, "limit", urdf.Tag())
    assert "urdf_parser_py refuses it" in refusal(robot(AB, joint()))


# Size.


def chain(count: int) -> str:
    parts = [body('<mass value="1"/>' + inertia(1, 1, 1), f"l{i}") for i in range(count + 1)]
    return robot(*parts, *(joint(f"j{i}", parent=f"l{i}", child=f"l{i + 1}") for i in range(count)))


def test_a_chain_of_a_thousand_links_loads() -> None:
    """Depth is no limit: neither reading nor printing recurses along the tree."""
    model = load(chain(1000))
    assert model.nv == 1000 and model.link_names[-1] == "l1000" and "j999" in model.summary()


# Robots that exist.


@pytest.mark.parametrize("name", robot_names())
def test_bundled_robots_load_without_a_remark(name: str) -> None:
    """What comes with warpdyn is clean."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = load_robot(name)
    assert model.nv > 0 and model.total_mass > 0 and not model.warnings


def test_load_robot_knows_names_and_floating_bases() -> None:
    """quadruped and humanoid float unless told otherwise; options pass through; an unknown name lists the known."""
    assert {"cartpole", "double_pendulum", "humanoid", "panda", "quadruped", "ur5e"} <= set(robot_names())
    assert load_robot("quadruped").floating_base and load_robot("humanoid").floating_base
    assert not load_robot("panda").floating_base and not load_robot("quadruped", floating_base=False).floating_base
    assert load_robot("panda", floating_base=True, quaternion="wxyz").q_names[3] == "floating_base.qw"
    for name in ("pandas", "../panda", "panda.urdf", ""):
        with pytest.raises(ValueError, match="choose one of cartpole, "):
            load_robot(name)


def real_files() -> list[Path]:
    try:
        data = metadata.distribution("example-robot-data")
    except metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(data.locate_file("cmeel.prefix/share/example-robot-data/robots"))).rglob("*.urdf"))


NOT_LOADED = {
    "alex_psyonic_hands.urdf": 'it mimics "index_q1", which does not exist',  # Pinocchio reads over <mimic> by default
    "ur3.urdf": "there is no link",  # an empty <robot>, which Pinocchio refuses as well
}


@pytest.mark.parametrize("path", real_files(), ids=lambda path: path.stem)
def test_real_robots_are_read_as_pinocchio_reads_them(path: Path) -> None:
    """Same total mass, joints, axes and joint poses as Pinocchio's own reader."""
    pin = pytest.importorskip("pinocchio")
    if path.name in NOT_LOADED:
        assert NOT_LOADED[path.name] in refusal(path)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = load_urdf(path)
    peer = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    data = peer.createData()
    assert model.total_mass == pytest.approx(sum(part.mass for part in peer.inertias), rel=PINOCCHIO)
    moving = {j.name: j for j in model.joints if j.kind.nv}
    assert set(moving) == set(peer.names) - {"universe", "root_joint"}
    neutral = pin.neutral(peer)
    for name, read in moving.items():
        if read.kind.single:
            subspace = pin.computeJointJacobian(peer, data, neutral, peer.getJointId(name))[
                :, peer.joints[peer.getJointId(name)].idx_v
            ]
            axis = subspace[:3] if read.kind.name == "prismatic" else subspace[3:]
            assert np.abs(axis - read.axis).max() <= PINOCCHIO
    assert not model.joints or math.isclose(model.total_mass, pin.computeTotalMass(peer), rel_tol=PINOCCHIO)


@pytest.mark.skipif(not real_files(), reason="example-robot-data is not installed")
def test_reading_never_writes_to_the_terminal() -> None:
    """pr2, whose transmissions urdf_parser_py alone refuses at length, is read in silence."""
    path = next(path for path in real_files() if path.name == "pr2.urdf")
    code = f"from warpdyn.formats.urdf import load_urdf; load_urdf({str(path)!r})"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        check=True,
    )
    assert done.stdout == done.stderr == ""
