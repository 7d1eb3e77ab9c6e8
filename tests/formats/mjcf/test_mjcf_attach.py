"""MJCF: <attach>, which adds parts of other files' models."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from mjcf_texts import INERTIAL, MUJOCO
from states import error, states

import warpdyn as wd
from warpdyn.formats.mjcf import mjcf_attach
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.model.names import ModelError

HAND = """
<mujoco model="hand"><compiler angle="radian" eulerseq="ZYX" boundmass="0.7" meshdir="../meshes"
  inertiagrouprange="0 1"/>
<default><joint armature="0.3" damping="1"/><geom density="500"/>
  <default class="big"><joint armature="0.7"/></default></default>
<asset><mesh name="part" file="part.obj"/><mesh file="other.obj" scale="2 1 1"/></asset>
<worldbody><light pos="0 0 1"/><geom size="0.3" group="1" pos="0 0 2" euler="0.2 0 0.4"/>
  <body name="palm" pos="0.5 0 0" euler="0.3 0.2 0.1" childclass="big">
    <joint name="wrist" axis="0 0 1" range="-1 1"/>
    <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="0.4 0.5 0.6"/>
    <geom type="mesh" mesh="part"/><geom size="9" group="3"/>
    <body name="finger" pos="0.1 0 0">
      <joint name="slide" class="main" type="slide" range="0 3" stiffness="4"/>
      <geom type="mesh" mesh="other" axisangle="1 2 3 0.4"/><site name="nail" pos="0 0 1"/></body>
    <frame name="side" pos="0 0 0.2" euler="0.1 0.2 0.3"><body name="thumb">
      <joint name="thumb"/><inertial pos="0 0 0.1" mass="0.1" diaginertia="1 1 1"/></body></frame></body>
  <body name="box"><joint name="lid"/><geom size="0.1"/></body></worldbody>
<tendon><fixed name="pull"><joint joint="slide" coef="2"/><joint joint="thumb" coef="1"/></fixed>
  <fixed name="lift"><joint joint="lid" coef="2"/></fixed></tendon>
<actuator><motor name="drive" joint="wrist" ctrlrange="-2 2" gear="3"/><motor joint="lid"/></actuator>
<equality><joint joint1="lid" joint2="wrist"/></equality>
<sensor><jointpos joint="wrist"/></sensor>
<keyframe><key name="home" qpos="0.1 0.2 0.3 0.4"/></keyframe>
</mujoco>"""

ARM = """
<mujoco model="arm"><compiler angle="degree"/><default><joint armature="9"/></default>
<asset><model name="hand" file="hands/hand.xml"/></asset>
<worldbody><body name="arm" pos="0 0 1" euler="10 20 30"><joint name="elbow" range="-90 90" axis="0 1 0"/>
  <geom size="0.1" pos="0.2 0 0"/>ATTACHED
  <body name="after" euler="0 20 0"><joint name="last" axis="1 0 0"/><geom size="0.05" pos="0.1 0 0"/></body></body>
</worldbody></mujoco>"""

TETRAHEDRON = "v 0 0 0\nv {0} 0 0\nv 0 {0} 0\nv 0 0 {0}\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"

PARTS = {
    "a body": '<attach model="hand" body="palm" prefix="l_"/>',
    "a body in a frame": '<frame pos="1 0 0" euler="0 0 40"><attach model="hand" body="palm" prefix="l_"/></frame>',
    "two": '<attach model="hand" body="palm" prefix="l_"/><attach model="hand" body="palm" prefix="r_"/>',
    "an inner body": '<attach model="hand" body="finger" prefix="l_"/>',
    "a frame": '<attach model="hand" frame="side" prefix="l_"/>',
    "the world": '<attach model="hand" prefix="l_"/>',
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    robot = tmp_path / "robot"
    for name, text in {
        "hands/hand.xml": HAND,
        "meshes/part.obj": TETRAHEDRON.format(0.3),
        "meshes/other.obj": TETRAHEDRON.format(0.2),
    }.items():
        (robot / name).parent.mkdir(parents=True, exist_ok=True)
        (robot / name).write_text(text)
    return robot


def arm(folder: Path, attached: str) -> Path:
    path = folder / "arm.xml"
    path.write_text(ARM.replace("ATTACHED", attached))
    return path


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
@pytest.mark.parametrize("attached", PARTS.values(), ids=PARTS.keys())
def test_the_robot_equals_mujocos(folder: Path, attached: str) -> None:
    """Names, the order of joints, mass matrix, bias, poses, armature and limits are compared. Each
    number means what its own file says."""
    path = arm(folder, attached)
    theirs = mujoco.MjModel.from_xml_path(str(path))
    ours = wd.load(path, loops="cut")
    bodies = [theirs.body(k).name for k in range(1, theirs.nbody)]
    assert set(bodies) <= set(ours.link_names)
    if theirs.neq:  # of the whole world: then lid follows wrist
        assert ours.joint("l_lid").mimic.joint == "l_wrist"
        ours = load_mjcf(
            path.read_text().replace("hands/hand.xml", "hands/free.xml"), includes=_free(folder)
        )
    names = [theirs.joint(k).name for k in range(theirs.njnt)]
    assert list(ours.joint_names) == names
    for name in names:
        own = ours.joint(name).limits
        if theirs.joint(name).limited:
            assert np.allclose((own.lower, own.upper), theirs.joint(name).range, atol=1e-15)
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    theirs.opt.gravity[:] = (0, 0, -9.81)
    data, s = mujoco.MjData(theirs), states(ours, 3)
    for q, v in zip(s.q, s.v, strict=True):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(theirs, data)
        M = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, M)
        assert error(wd.oracle(wd.crba, ours, q), M) < MUJOCO
        assert error(wd.oracle(wd.bias_forces, ours, q, v), data.qfrc_bias) < MUJOCO
        poses = wd.oracle(wd.fk, ours, q)
        found = np.array([poses[ours.link_index(body)][:3, 3] for body in bodies])
        assert error(found, data.xpos[1:]) < MUJOCO
    assert abs(ours.total_mass - theirs.body_mass.sum()) < 1e-12 * ours.total_mass


def _free(folder: Path) -> Path:
    """The folder in which hands/free.xml is the hand without its constraint."""
    text = HAND.replace('<joint joint1="lid" joint2="wrist"/>', "")
    (folder / "hands/free.xml").write_text(text)
    return folder


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
def test_tendons_and_actuators_of_attached_bodies_are_added(folder: Path) -> None:
    """Their names get the prefix. Those of bodies that are not attached are not added."""
    model = wd.load(arm(folder, PARTS["two"]))
    assert [t.name for t in model.tendons] == ["l_pull", "r_pull"]
    assert dict(model.tendons[1].coefficients) == {"r_slide": 2.0, "r_thumb": 1.0}
    assert model.joint("l_wrist").limits.effort == model.joint("r_wrist").limits.effort == 6.0
    assert model.joint("l_slide").spring == 4.0
    assert any("<keyframe> of a model that is attached" in line for line in model.warnings)
    mesh = next(v for v in model.link("l_palm").visuals if v.shape == "mesh")
    assert (mesh.folder / mesh.filename).resolve() == folder / "meshes/part.obj"


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
def test_actuators_of_attached_tendons_are_added(folder: Path) -> None:
    """A tendon of attached joints comes with them, so what names the tendon does, too. An actuator
    of a tendon that is left out is left out."""
    more = '<motor name="pulley" tendon="pull" ctrlrange="-2 3" gear="5"/><motor tendon="lift"/>'
    hand = HAND.replace("</actuator>", f"{more}</actuator>")
    (folder / "hands/hand.xml").write_text(hand)
    path = arm(folder, PARTS["two"])
    model, theirs = wd.load(path), mujoco.MjModel.from_xml_path(str(path))
    names = [theirs.actuator(k).name for k in range(theirs.nu)]
    assert names == ["l_drive", "l_pulley", "r_drive", "r_pulley"]
    assert [each.name for each in model.actuators] == names
    assert model.joint("r_slide").limits.effort == 30.0  # 3 x gear 5 x coefficient 2
    assert model.joint("l_thumb").limits.effort == 15.0


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
def test_attached_actuators_keep_the_classes_of_their_own_file(folder: Path) -> None:
    """Without a class the defaults of their model count, not those of the file that attaches it."""
    hand = HAND.replace('<geom density="500"/>', '<geom density="500"/><motor gear="4"/>')
    hand = hand.replace('<joint armature="0.7"/>', '<joint armature="0.7"/><motor gear="7"/>')
    hand = hand.replace('ctrlrange="-2 2" gear="3"', 'ctrlrange="-2 2"')
    big = '<motor name="thrust" joint="thumb" class="big" ctrlrange="-2 2"/></actuator>'
    (folder / "hands/hand.xml").write_text(hand.replace("</actuator>", big))
    path = arm(folder, PARTS["a body"])
    text = path.read_text().replace(
        '<joint armature="9"/>', '<joint armature="9"/><motor gear="90"/>'
    )
    own = '<motor name="bend" joint="elbow" ctrlrange="-2 2"/>'
    path.write_text(text.replace("</mujoco>", f"<actuator>{own}</actuator></mujoco>"))
    model, theirs = wd.load(path), mujoco.MjModel.from_xml_path(str(path))
    joints = {"bend": "elbow", "l_drive": "l_wrist", "l_thrust": "l_thumb"}
    gears = {name: float(theirs.actuator(name).gear[0]) for name in joints}
    assert gears == {"bend": 90.0, "l_drive": 4.0, "l_thrust": 7.0}
    for name, joint in joints.items():
        assert model.joint(joint).limits.effort == 2.0 * gears[name], name


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
def test_an_attached_model_may_attach_others(folder: Path) -> None:
    """File names are relative to the folder of each file, and each file has its own settings."""
    (folder / "hands/both.xml").write_text(
        '<mujoco><compiler angle="radian"/><asset><model name="h" file="hand.xml"/></asset><worldbody>'
        f'<body name="stem" euler="0.1 0 0"><joint name="turn" range="-2 2"/>{INERTIAL}'
        '<replicate count="2" offset="0 1 0"><attach model="h" body="finger" prefix="h_"/></replicate>'
        "</body></worldbody></mujoco>"
    )
    path = arm(folder, '<attach model="hand" body="stem" prefix="b_"/>')
    path.write_text(path.read_text().replace("hands/hand.xml", "hands/both.xml"))
    model, theirs = wd.load(path), mujoco.MjModel.from_xml_path(str(path))
    assert list(model.joint_names) == [theirs.joint(k).name for k in range(theirs.njnt)]
    assert model.joint("b_turn").limits.upper == 2.0
    (folder / "meshes/other.obj").unlink()
    with pytest.raises(ModelError, match=r'no file "meshes/other\.obj".*line 6 of hands/hand\.xml'):
        wd.load(path)
    assert abs(model.total_mass - theirs.body_mass.sum()) < 1e-12


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
def test_a_free_body_may_be_attached_to_the_world(tmp_path: Path) -> None:
    (tmp_path / "cube.xml").write_text(
        f'<mujoco><worldbody><body name="cube"><freejoint/>{INERTIAL}</body></worldbody></mujoco>'
    )
    path = tmp_path / "scene.xml"
    path.write_text(
        '<mujoco><asset><model name="c" file="cube.xml"/></asset><worldbody><frame pos="1 2 3">'
        '<attach model="c" body="cube" prefix="my_"/></frame></worldbody></mujoco>'
    )
    model = wd.load(path)
    assert model.floating_base and model.root == "my_cube"


def test_an_attached_section_may_name_all_that_is_attached(tmp_path: Path) -> None:
    """The only names are those of the body and of the world, and the pair of both comes along."""
    path = tmp_path / "scene.xml"
    path.write_text(
        '<mujoco><asset><model name="c" file="cube.xml"/></asset><worldbody><geom type="plane" '
        'size="1 1 1"/><attach model="c" body="cube" prefix="my_"/></worldbody></mujoco>'
    )
    for pair in ("", '<exclude body1="cube" body2="world"/>'):
        (tmp_path / "cube.xml").write_text(
            '<mujoco><worldbody><body name="cube"><freejoint/><geom size="0.1"/></body></worldbody>'
            f"<contact>{pair}</contact></mujoco>"
        )
        theirs = mujoco.MjModel.from_xml_path(str(path))
        assert theirs.nexclude == bool(pair)
        (ball,) = wd.load(path).link("my_cube").collisions
        assert ball.on_ground is not None and ball.on_ground.touches is not bool(pair)


@pytest.mark.parametrize(
    ("attached", "words"),
    [
        ('<attach model="foot" prefix="l_"/>', r'no <model name="foot"> in <asset>'),
        ('<attach model="hand" body="toe" prefix="l_"/>', r'"hand" has no body "toe"'),
        ('<attach model="hand" body="palm" frame="side"/>', "a body and a frame"),
    ],
)
def test_invalid_attach_elements_are_refused(folder: Path, attached: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        wd.load(arm(folder, attached))


def test_attached_files_obey_the_includes_option(folder: Path, tmp_path: Path) -> None:
    """Files may be in the folder or below it. A text has no folder. A link that leads outside is
    refused."""
    path = arm(folder, PARTS["a body"])
    with pytest.raises(ModelError, match="no other file is read with includes=False"):
        wd.load(path, includes=False)
    with pytest.raises(ModelError, match="give its path, not a text"):
        load_mjcf(path.read_text())
    (tmp_path / "secret.xml").write_text(HAND)
    (folder / "link.xml").symlink_to(tmp_path / "secret.xml")
    for file in ("../secret.xml", "link.xml"):
        path.write_text(path.read_text().replace("hands/hand.xml", file))
        with pytest.raises(ModelError, match=r"outside of the folder of arm\.xml"):
            wd.load(path)
        path = arm(folder, PARTS["a body"])
    (folder / "hands/hand.xml").write_text("<mujoco><worldbody>")
    with pytest.raises(ModelError, match=r"of hands/hand\.xml: not well-formed XML"):
        wd.load(path)
    (folder / "hands/hand.xml").unlink()
    with pytest.raises(ModelError, match=r'there is no file "hands/hand\.xml"'):
        wd.load(path)


def test_circular_and_too_large_attachments_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = '<mujoco><asset><model name="m" file="{}"/></asset><worldbody><attach model="m"/></worldbody></mujoco>'
    (folder / "a.xml").write_text(other.format("b.xml"))
    (folder / "b.xml").write_text(other.format("c.xml"))
    (folder / "c.xml").write_text(other.format("b.xml"))
    with pytest.raises(ModelError, match="attach each other in a cycle"):
        wd.load(folder / "a.xml")
    path = arm(folder, PARTS["two"])
    read = sum(file.stat().st_size for file in (path, folder / "hands/hand.xml"))
    monkeypatch.setattr(mjcf_attach, "MOST_BYTES", read - 1)
    with pytest.raises(ModelError, match="there is too much to read"):
        wd.load(path)
    monkeypatch.setattr(mjcf_attach, "MOST_BYTES", read)
    monkeypatch.setattr(mjcf_attach, "MOST", 20)
    with pytest.raises(ModelError, match="more than 20 elements are attached"):
        wd.load(path)


def test_an_error_in_an_attached_file_names_the_file(folder: Path) -> None:
    (folder / "hands/hand.xml").write_text(HAND.replace('range="-1 1"', 'range="-1 x"'))
    with pytest.raises(ModelError, match=r'range is "-1 x".*line \d+ of hands/hand\.xml'):
        wd.load(arm(folder, PARTS["a body"]))


def test_attached_files_must_have_the_same_fitaabb(folder: Path) -> None:
    """The bodies of all files are weighed together, with one setting of fitaabb."""
    hand = folder / "hands/hand.xml"
    hand.write_text(
        """<mujoco><compiler fitaabb="true"/><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
        <worldbody><body name="palm"><geom type="box" mesh="m"/></body></worldbody></mujoco>"""
    )
    path = arm(folder, '<attach model="hand" body="palm" prefix="l_"/>')
    with pytest.raises(ModelError, match="it is fitted to a mesh by the fitaabb of an attached"):
        wd.load(path)


def test_options_that_mujoco_merges_are_remarked(folder: Path) -> None:
    hand = folder / "hands/hand.xml"
    hand.write_text(hand.read_text().replace("<worldbody>", "<option density='9'/><worldbody>", 1))
    path = arm(folder, '<attach model="hand" body="palm" prefix="l_"/>')
    text = path.read_text()
    for word in ("merge", "warning"):
        settings = f'<compiler conflict="{word}"/><worldbody>'
        path.write_text(text.replace("<worldbody>", settings, 1))
        with pytest.warns(wd.ModelWarning):
            lines = wd.load(path, loops="cut").warnings
        said = [line for line in lines if "<option> of an attached model" in line]
        assert bool(said) is (word == "merge")


@pytest.mark.filterwarnings("ignore::warpdyn.ModelWarning")
def test_strippath_of_the_outer_file_leaves_files_of_attached_models(folder: Path) -> None:
    """Each model finds its files by its own settings, also if the outer folder has a file of that
    name. A model between the two strips its own names alone."""
    (folder / "outer").mkdir()
    (folder / "outer" / "part.obj").write_text(TETRAHEDRON.format(0.9))
    path = arm(folder, PARTS["a body"])
    text = path.read_text()
    path.write_text(text.replace('angle="degree"', 'meshdir="outer" strippath="true"'))
    ours, theirs = wd.load(path), mujoco.MjModel.from_xml_path(str(path))
    assert ours.link("l_palm").mass == pytest.approx(theirs.body("l_palm").mass[0], rel=1e-9)
    mesh = next(v for v in ours.link("l_palm").visuals if v.shape == "mesh")
    assert (mesh.folder / mesh.filename).resolve() == folder / "meshes/part.obj"
    outermost = folder / "outermost.xml"
    outermost.write_text(
        '<mujoco><asset><model name="arm" file="arm.xml"/></asset><worldbody>'
        '<attach model="arm" prefix="x_"/></worldbody></mujoco>'
    )
    again = wd.load(outermost)
    assert again.link("x_l_palm").mass == pytest.approx(theirs.body("l_palm").mass[0], rel=1e-9)
