"""MJCF: bodies with the inertia of meshes, compared with MuJoCo's; and bodies that need no mesh."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from mjcf_texts import INERTIAL, body

import warpdyn as wd
from warpdyn.formats.mjcf import mjcf_meshes as chosen
from warpdyn.formats.mjcf.mjcf import load_mjcf
from warpdyn.model.names import ModelError

CUP = "0 0 0 0.3 0 0 0 0.2 0 0 0 0.4 0.05 0.05 0.1"
WITH_MESHES = """
<mujoco><compiler meshdir="shapes"/><asset>
  <mesh name="rock" file="rock.obj" scale="2 1 -1" inertia="{rule}" refpos="0.1 0 0" refquat="1 0.2 0 0"/>
  <mesh name="wedge" vertex="0 0 0 0.3 0 0 0 0.2 0 0 0 0.4"/></asset>
<worldbody><body name="table" pos="0 0 1"><geom type="mesh" mesh="rock"/>
  <body name="a"><joint name="j" axis="0 1 0.2"/>
    <geom type="mesh" mesh="rock" pos="0.1 0.2 0" euler="10 20 30"/><geom type="box" mesh="wedge" density="300"/>
    <body name="b" pos="0 0 0.3"><joint name="k"/><geom type="mesh" mesh="wedge" mass="0.7"/></body>
  </body></body></worldbody></mujoco>"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """The path of a robot file next to a mesh file that is not convex."""
    vertices = np.array(CUP.split(), float).reshape(-1, 3)
    faces = [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 5), (3, 4, 5), (4, 2, 5)]
    lines = [f"v {x} {y} {z}" for x, y, z in vertices] + [f"f {a} {b} {c}" for a, b, c in faces]
    (tmp_path / "shapes").mkdir()
    (tmp_path / "shapes" / "rock.obj").write_text("\n".join(lines))
    return tmp_path / "robot.xml"


@pytest.mark.parametrize("rule", ["legacy", "exact", "convex", "shell"])
def test_inertias_of_meshes_equal_mujocos(robot: Path, rule: str) -> None:
    """Each rule is compared, for a mesh of a file, scaled, turned, and fitted by a box, and for
    bodies that do not move."""
    mujoco = pytest.importorskip("mujoco")
    robot.write_text(WITH_MESHES.format(rule=rule))
    theirs, model = mujoco.MjModel.from_xml_path(str(robot)), wd.load(robot)
    fitted, stretched, contacts = model.warnings
    assert "fits to meshes (1)" in fitted and "2 mesh with refquat and a scale" in stretched
    assert "contacts with shapes of the world" in contacts and theirs.body_mass[1] > 0
    for i in range(1, theirs.nbody):
        link, R = model.link(theirs.body(i).name), np.zeros(9)
        mujoco.mju_quat2Mat(R, theirs.body_iquat[i])
        R = R.reshape(3, 3)
        assert link.mass == pytest.approx(theirs.body_mass[i], rel=1e-12)
        assert link.com == pytest.approx(theirs.body_ipos[i], abs=1e-12)
        J = R @ np.diag(theirs.body_inertia[i]) @ R.T
        assert np.abs(np.array(link.inertia) - J).max() < 1e-12 * np.abs(J).max()


def test_a_fixed_body_needs_no_mesh_file(robot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A base whose mesh file is missing has no mass, with a remark. For a moving body the missing
    file is an error."""
    base = '<mesh name="m" file="none.stl"/></asset><worldbody><body name="base"><geom type="mesh" mesh="m"/>'
    arm = f'<body name="arm"><joint name="j"/>{INERTIAL}</body></body></worldbody></mujoco>'
    robot.write_text(f"<mujoco><asset>{base}{arm}")
    with pytest.warns(wd.ModelWarning, match='"base" first: .*there is no file "none.stl"'):
        model = wd.load(robot)
    assert model.nv == 1 and model.link("base").mass == 0
    with pytest.raises(ModelError, match=r'mesh "m": there is no file "none\.stl"'):
        wd.load(robot, floating_base=True)
    robot.write_text(f"<mujoco><asset>{base}<joint/>{arm}")
    with pytest.raises(ModelError, match=r'mesh "m": there is no file "none\.stl"'):
        wd.load(robot)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.warns(wd.ModelWarning, match=r'body "b" has no <inertial>.*pip install mujoco'):
        assert load_mjcf(body('<geom size="0.1"/>')).total_mass == 0


def test_mesh_files_must_be_in_the_folder(robot: Path, tmp_path: Path) -> None:
    """They may also be in the trusted folder. With includes=False none is read."""
    robot.write_text(WITH_MESHES.format(rule="exact").replace("rock.obj", "../../rock.obj"))
    with pytest.raises(ModelError, match=r'"shapes/\.\./\.\./rock\.obj" is outside of the folder'):
        wd.load(robot)
    robot.write_text(WITH_MESHES.format(rule="exact"))
    with pytest.raises(ModelError, match="no other file is read with includes=False"):
        wd.load(robot, includes=False)
    assert wd.load(robot, includes=tmp_path).nv == 2


def test_a_mesh_file_that_is_too_large_is_refused(robot: Path) -> None:
    """The message names the mesh. The file is not read."""
    rock = robot.parent / "shapes" / "rock.obj"
    robot.write_text(WITH_MESHES.format(rule="exact"))
    with rock.open("ab") as file:
        file.truncate(2**31)
    with pytest.raises(ModelError, match='mesh "rock": there is too much to read'):
        wd.load(robot)


def test_masses_of_meshes_are_cached_by_content(
    robot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second load does not call MuJoCo. A changed mesh does."""
    mujoco = pytest.importorskip("mujoco")
    robot.write_text(WITH_MESHES.format(rule="exact"))
    first = wd.load(robot)

    def refuse_to_weigh(*_: object) -> None:
        raise ValueError("weighed again")

    monkeypatch.setattr(
        mujoco, "MjModel", type("MjModel", (), {"from_xml_string": refuse_to_weigh})
    )
    assert wd.load(robot).key == first.key
    rock = robot.parent / "shapes" / "rock.obj"
    rock.write_text(rock.read_text().replace("v 0.3", "v 0.4"))
    with pytest.raises(ModelError, match="weighed again"):
        wd.load(robot)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.MOST_FILES == 2000
    assert chosen.MOST_BYTES == 536_870_912
