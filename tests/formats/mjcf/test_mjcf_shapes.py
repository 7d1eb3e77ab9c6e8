"""Geoms of MJCF: shapes with MuJoCo's poses, sizes and colours."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from mjcf_texts import INERTIAL

import warpdyn as wd
from warpdyn.formats.mjcf import mjcf_shapes as chosen
from warpdyn.model.names import ModelError

mujoco = pytest.importorskip("mujoco")

TEXT = """<mujoco model="shapes">
  <compiler angle="radian" meshdir="parts"/>
  <default>
    <geom rgba="0.1 0.2 0.3 1"/>
    <default class="skin"><geom type="box" group="1" contype="0" conaffinity="0"/></default>
  </default>
  <asset>
    <material name="gold" rgba="0.9 0.7 0.1 1"/>
    <mesh name="part" file="part.stl" scale="0.5 0.5 0.5"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="a" pos="0 0 1" euler="0.3 0.2 0.1">
      <joint name="j" axis="0 1 0" range="-1 1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
      <geom name="ball" size="0.2" pos="0.1 0.2 0.3"/>
      <geom name="bone" type="capsule" fromto="0 0 0 0.3 0.4 0" size="0.05"/>
      <geom name="cover" class="skin" size="0.1 0.2 0.3" euler="0.4 0 0"/>
      <frame pos="1 0 0"><geom name="hidden" type="cylinder" size="0.1 0.4" group="3"/></frame>
      <geom name="part" type="mesh" mesh="part" rgba="1 0 0 1"/>
      <geom name="egg" type="ellipsoid" size="0.1 0.2 0.3"/>
    </body>
  </worldbody>
</mujoco>"""


@pytest.fixture
def model(tmp_path: Path) -> wd.Model:
    (tmp_path / "robot.xml").write_text(TEXT)
    return wd.load(tmp_path / "robot.xml")


def test_poses_and_sizes_of_geoms_equal_mujocos(model) -> None:
    """Positions, axes and half sizes are those of MuJoCo's own compiler, also for geoms in frames
    and between two points."""
    text = TEXT.replace('<mesh name="part" file="part.stl" scale="0.5 0.5 0.5"/>', "")
    text = text.replace('<geom name="part" type="mesh" mesh="part" rgba="1 0 0 1"/>', "")
    theirs = mujoco.MjModel.from_xml_string(text)
    link = model.link("a")
    ours = {shape.name: shape for shape in (*link.visuals, *link.collisions)}
    assert set(ours) == {"ball", "bone", "cover", "hidden", "part", "egg"}
    for name in ("ball", "bone", "cover", "hidden", "egg"):
        geom, shape = theirs.geom(name), ours[name]
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, geom.quat)
        assert np.allclose(shape.pose.position, geom.pos, atol=1e-9)
        z = np.array(shape.pose.rotation)[:, 2]
        assert abs(z @ turn.reshape(3, 3)[:, 2]) == pytest.approx(1.0)
        half = {"box": (0.5,) * 3, "sphere": (1.0,), "ellipsoid": (1.0,) * 3}.get(
            shape.shape, (1.0, 0.5)
        )
        assert np.allclose(np.array(shape.size) * half, geom.size[: len(half)], atol=1e-9)
        assert shape.shape.upper() == mujoco.mjtGeom(int(geom.type[0])).name[7:]


def test_groups_classes_and_materials_decide_visibility_and_contacts(model) -> None:
    """Group 3 is not shown. A class without contype touches nothing, nor does an ellipsoid. Colours
    are mixed as in MuJoCo."""
    link = model.link("a")
    assert [x.name for x in link.visuals] == ["ball", "bone", "cover", "part", "egg"]
    assert [x.name for x in link.collisions] == ["ball", "bone", "hidden", "part"]
    colors = {x.name: x.color for x in link.visuals}
    assert colors["ball"] == colors["cover"] == (0.1, 0.2, 0.3, 1.0)
    assert colors["part"] == (1.0, 0.0, 0.0, 1.0)
    gold = TEXT.replace('<geom rgba="0.1 0.2 0.3 1"/>', '<geom material="gold"/>')
    assert wd.load(gold).link("a").visuals[0].color == (0.9, 0.7, 0.1, 1.0)


def test_a_mesh_has_its_file_and_scale(model, tmp_path: Path) -> None:
    mesh = model.link("a").visuals[-2]
    assert mesh.shape == "mesh" and mesh.size == (0.5, 0.5, 0.5)
    assert mesh.folder == tmp_path and mesh.filename == "parts/part.stl"


def test_invalid_shapes_are_left_out() -> None:
    """The motion of the body does not depend on them, so the model is not refused."""
    for size in ("-1", "x", ""):
        text = TEXT.replace('name="ball" size="0.2"', f'name="ball" size="{size}"')
        model = wd.load(text)
        assert "ball" not in {x.name for x in model.link("a").visuals}
        assert model.nv == 1


def test_planes_and_ellipsoids_that_nothing_touches_are_remarked_once() -> None:
    """A floor at height 0 is the ground of a simulation. A floor elsewhere and an ellipsoid are
    named."""
    text = (
        '<mujoco><worldbody><geom type="plane" size="1 1 1"/>{}<body><joint/>'
        '<geom type="box" size=".1 .2 .3" fromto="0 0 0 0 0 1"/></body></worldbody></mujoco>'
    )
    model = wd.load_mjcf(text.format(""))
    assert model.warnings == ()
    (box,) = model.links[-1].collisions
    assert box.size == pytest.approx((0.2, 0.2, 1.0))  # as MuJoCo has it
    more = '<geom type="plane" size="1 1 1" pos="0 0 -1"/><geom type="ellipsoid" size=".1 .2 .3"/>'
    with pytest.warns(wd.ModelWarning):
        line, remark = wd.load_mjcf(text.format(more)).warnings
    assert "of kinds without contacts: 1 plane, 1 ellipsoid" in line
    assert "contacts with shapes of the world other than the floor" in remark


def test_a_plane_that_is_not_the_ground_is_a_visual() -> None:
    """The visual has half sizes as in MuJoCo, 0 for an infinite side, and z upwards."""
    text = (
        '<mujoco><worldbody><geom name="p" type="plane" size="1.5 0 0.1" pos="0 1 -2" euler="30 0 0" '
        'rgba="0 1 0 1"/><body><joint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    with pytest.warns(wd.ModelWarning):
        model = wd.load_mjcf(text)
    (shape,) = model.links[0].visuals
    assert shape.shape == "plane" and shape.size == (3.0, 0.0) and shape.color == (0, 1, 0, 1)
    assert not model.links[0].collisions
    geom, turn = mujoco.MjModel.from_xml_string(text).geom("p"), np.zeros(9)
    mujoco.mju_quat2Mat(turn, geom.quat)
    assert np.allclose(shape.pose.position, geom.pos)
    assert np.allclose(np.array(shape.pose.rotation)[:, 2], turn.reshape(3, 3)[:, 2])
    assert "plane" not in model.to_urdf()


def test_contact_attributes_are_stored_with_the_shape() -> None:
    """They are in the words of the file, also those of the class."""
    text = (
        '<mujoco><default><geom friction="0.7 0.01 0.001" condim="4"/></default><worldbody><body name="b">'
        '<geom name="a" size="0.1" solref="0.02 1" condim="3" margin="0.001"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>'
    )
    (shape,) = wd.load(text).link("b").collisions
    assert dict(shape.contact) == {
        "friction": (0.7, 0.01, 0.001),
        "condim": (3.0,),
        "solref": (0.02, 1.0),
        "margin": (0.001,),
    }


@pytest.mark.parametrize(
    ("ground", "said"),
    [
        ('<geom type="plane" size="1 1 1"/>', False),
        ('<geom type="plane" size="1 1 1" pos="0 0 .2"/>', True),
        ('<geom type="plane" size="1 1 1" euler="10 0 0"/>', True),
        ('<geom type="hfield" hfield="hills"/>', True),
    ],
)
@pytest.mark.parametrize("joint", ["<joint/>", "<freejoint/>"])
def test_a_ground_that_is_not_level_is_remarked(ground: str, said: bool, joint: str) -> None:
    """Also for a free base, whose world is not a link."""
    text = f"""<mujoco><asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 .1"/></asset><worldbody>
    {ground}<body pos="0 0 1">{joint}<geom size=".1"/></body></worldbody></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        model = wd.load(text)
    assert any("kinds without contacts: 1" in line for line in model.warnings) == said


@pytest.mark.parametrize("scale", ["x", "2 3", "1 2 3 4", "nan 1 1"])
def test_an_invalid_mesh_scale_is_refused(scale: str) -> None:
    """MuJoCo refuses it, too, except for NaN."""
    text = TEXT.replace('scale="0.5 0.5 0.5"', f'scale="{scale}"')
    with pytest.raises(ModelError, match=f'scale is "{scale}"; it needs 3 finite numbers'):
        wd.load(text)


def test_a_mesh_without_a_scale_has_its_own_size() -> None:
    text = TEXT.replace('scale="0.5 0.5 0.5"', 'scale=""')
    (mesh,) = (v for v in wd.load(text).link("a").visuals if v.shape == "mesh")
    assert mesh.size == (1.0, 1.0, 1.0)


COLOURS = """<mujoco><asset><material name="plain"/><material name="blue" rgba="0 0 1 0.5"/>
<material rgba="0.2 0.3 0.4 1"/></asset><worldbody><body name="b"><joint/>
<geom name="none" size="1"/><geom name="plain" size="1" material="plain"/>
<geom name="blue" size="1" material="blue"/><geom name="own" size="1" material="blue" rgba="1 0 0 1"/>
<geom name="absent" size="1" material="red"/><geom name="clear" size="1" rgba="1 0 0 0"/>
</body></worldbody></mujoco>"""


def test_geoms_have_the_colours_of_their_materials() -> None:
    """They are white for a material without colour, grey without a material. Fully transparent
    geoms are not visuals."""
    link = wd.load(COLOURS).link("b")
    assert {x.name: x.color for x in link.visuals} == {
        "none": (0.5, 0.5, 0.5, 1.0),
        "plain": (1.0, 1.0, 1.0, 1.0),
        "blue": (0.0, 0.0, 1.0, 0.5),
        "own": (1.0, 0.0, 0.0, 1.0),
        "absent": (0.5, 0.5, 0.5, 1.0),
    }
    assert "clear" in {x.name for x in link.collisions}


@pytest.mark.parametrize(
    ("geom", "size"),
    [
        ('type="sphere" size="0.1 0.2 0.3"', (0.1,)),
        ('type="capsule" size="0.1 0.2 0.3"', (0.1, 0.4)),
        ('type="cylinder" size="0.1 0.2"', (0.1, 0.4)),
        ('type="box" size="0.1 0.2 0.3"', (0.2, 0.4, 0.6)),
        ('type="box" size="0 0.2 0.3"', (0.0, 0.4, 0.6)),
        ('type="ellipsoid" size="0.1 0.2 0.3"', (0.1, 0.2, 0.3)),
        ('type="plane" size="0.1 0.2 0.3" pos="0 0 1"', (0.2, 0.4)),
        ('type="cylinder" size="0.1" fromto="0 0 0 0 3 4"', (0.1, 5.0)),
        ('type="box" size="0.1 0.2" fromto="0 0 0 0 3 4"', (0.2, 0.2, 5.0)),
        ('type="ellipsoid" size="0.1" fromto="0 0 0 0 3 4"', (0.1, 0.1, 2.5)),
        ('type="sphere" size=""', None),
        ('type="capsule" size="0.1"', None),
        ('type="box" size="0.1 0.2"', None),
        ('type="ellipsoid" size="0.1 0.2"', None),
        ('type="plane" size="0.1" pos="0 0 1"', None),
        ('type="plane" size="0.1 0.2"', None),
        ('type="box" size="0.1 -0.2 0.3"', None),
        ('type="hfield" hfield="hills"', None),
        ('type="mesh" mesh="none"', None),
        ('size="0.1" pos="x 0 0"', None),
    ],
)
def test_sizes_of_every_geom_type_are_read(geom: str, size: tuple | None) -> None:
    """They are full sizes where MuJoCo has half sizes. A shape without its numbers is left out,
    and the model says so."""
    text = f"""<mujoco><worldbody><body name="b"><joint/>{INERTIAL}
    <geom {geom}/></body></worldbody></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        model = wd.load(text)
    visuals = model.link("b").visuals
    assert [shape.size for shape in visuals] == ([] if size is None else [pytest.approx(size)])
    said = "ignored the shape of a <geom> whose numbers or mesh are missing (line 2)"
    has_other_reason = "hfield" in geom or geom == 'type="plane" size="0.1 0.2"'
    assert (said in model.warnings) == (size is None and not has_other_reason)


def test_groups_and_masks_choose_the_shapes() -> None:
    """Group 2 is the last that is drawn. Each of the two masks suffices for a contact."""
    geoms = {
        "two": 'group="2"',
        "three": 'group="3"',
        "none": 'contype="0" conaffinity="0"',
        "type": 'contype="2" conaffinity="0"',
        "affinity": 'contype="0" conaffinity="4"',
    }
    text = "".join(f'<geom name="{n}" size="1" {words}/>' for n, words in geoms.items())
    body = f'<body name="b"><joint/>{INERTIAL}{text}</body>'
    link = wd.load(f"<mujoco><worldbody>{body}</worldbody></mujoco>").link("b")
    assert [x.name for x in link.visuals] == [n for n in geoms if n != "three"]
    assert [x.name for x in link.collisions] == ["two", "three", "type", "affinity"]


def test_invalid_planes_next_to_a_free_base_are_not_counted() -> None:
    text = """<mujoco><worldbody><geom type="plane" size="x" pos="0 0 1"/>
    <geom type="plane" size="1 1 1" pos="0 0 2"/><geom type="plane" size="1" pos="0 0 2"/>
    <body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    with pytest.warns(wd.ModelWarning, match="geoms of kinds without contacts: 1 plane; a"):
        wd.load(text)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.GREY == (0.5, 0.5, 0.5, 1.0)
    assert chosen.SHOWN == 2


@pytest.mark.parametrize(
    ("place", "level"),
    [
        ('pos="0 0 0.9e-9"', True),
        ('pos="0 0 -0.9e-9"', True),
        ('pos="0 0 1.2e-9"', False),
        ('zaxis="4.4e-5 0 1"', True),
        ('zaxis="4.8e-5 0 1"', False),
        ('zaxis="0 0 -1"', False),
    ],
)
def test_a_ground_is_level_to_a_nanometre_and_a_cosine_of_1e_9(place: str, level: bool) -> None:
    """A plane that faces downwards is not the ground."""
    text = f"""<mujoco><worldbody><geom type="plane" size="1 1 1" {place}/><body><joint/>
    <geom size="0.1"/></body></worldbody></mujoco>"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        model = wd.load(text)
    assert any("kinds without contacts" in line for line in model.warnings) is not level


CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
MOVED = """<mujoco><compiler {}/><asset><mesh name="m" file="{}" {}/></asset><worldbody><body name="b">
<joint/><geom type="{}" mesh="m" pos="1 2 3" euler="10 20 30"/></body></worldbody></mujoco>"""


def model_with_moved_mesh(
    folder: Path, mesh: str, shape: str = "mesh", settings: str = "", file: str = "m.obj"
) -> wd.Model:
    """A robot whose only shape is a tetrahedron."""
    corners = "".join("v {} {} {}\n".format(*corner) for corner in CORNERS)
    (folder / "m.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    (folder / "robot.xml").write_text(MOVED.format(settings, file, mesh, shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load(folder / "robot.xml")


@pytest.mark.parametrize(
    "mesh",
    [
        'refpos="0.1 0.2 0.3" scale="1 2 -3"',
        'refquat="0.5 0.5 0.1 0.2" scale="2 2 2"',
        'refpos="0.1 0.2 0.3" refquat="0.5 0.5 0.1 0.2" scale="2 2 2"',
    ],
)
def test_meshes_are_moved_by_refpos_and_refquat(tmp_path: Path, mesh: str) -> None:
    (shape,) = model_with_moved_mesh(tmp_path, mesh).link("b").collisions
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, theirs.geom_quat[0])
    there = theirs.mesh_vert @ R.reshape(3, 3).T + theirs.geom_pos[0]
    mine = (CORNERS * shape.size) @ np.array(shape.pose.rotation).T + shape.pose.position
    gaps = np.linalg.norm(mine[:, None] - there, axis=-1)
    assert gaps.min(axis=1).max() < 1e-6  # MuJoCo keeps corners in single precision


def test_a_mesh_with_refquat_and_unequal_scales_touches_nothing(tmp_path: Path) -> None:
    model = model_with_moved_mesh(tmp_path, 'refquat="0.5 0.5 0.1 0.2" scale="1 2 3"')
    assert model.link("b").collisions == ()
    said = "without contacts: 1 mesh with refquat and a scale that differs by axis"
    assert any(said in line for line in model.warnings)


def test_a_shape_fitted_to_a_mesh_has_the_contacts_of_the_mesh(tmp_path: Path) -> None:
    said = "geoms that MuJoCo fits to meshes (1) touch with the meshes here"
    fitted = model_with_moved_mesh(tmp_path, "", "box")
    assert said in fitted.warnings and fitted.link("b").collisions[0].shape == "mesh"
    assert said not in model_with_moved_mesh(tmp_path, "").warnings


def test_strippath_removes_the_folders_of_mesh_files(tmp_path: Path) -> None:
    model = model_with_moved_mesh(tmp_path, "", settings='strippath="true"', file="elsewhere/m.obj")
    assert model.link("b").collisions[0].filename == "m.obj"
