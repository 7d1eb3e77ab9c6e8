"""Robots, links, devices and files of a command line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest
import warp as wp

import warpdyn as wd
from warpdyn.cli import command_line
from warpdyn.cli.command_line import UserError, find_modules_here, user_errors
from warpdyn.cli.main import main
from warpdyn.formats.registry import FORMATS


def make_arguments(
    robot: str,
    base: str | None = None,
    frame: str | None = None,
    loops: str | None = None,
    part: str | None = None,
    **arguments: str,
) -> argparse.Namespace:
    how = {"base": base, "frame": frame, "loops": loops, "part": part}
    return argparse.Namespace(robot=str(robot), xacro_arg=[*arguments.items()], **how)


def test_a_bundled_robot_and_its_file_are_the_same_model():
    """The name and the path of a bundled robot give equal models."""
    path = command_line.robot_file("cartpole")
    by_name, by_path = (command_line.read_model(make_arguments(x)) for x in ("cartpole", str(path)))
    assert path.exists() and by_name.joints == by_path.joints and by_name.links == by_path.links


def test_base_makes_the_root_floating_or_fixed():
    """The robot's usual base is used without --base."""
    for base, floating in (("floating", True), ("fixed", False), (None, True)):
        assert command_line.read_model(make_arguments("quadruped", base)).floating_base is floating


def test_warnings_go_to_stderr_unless_they_are_shown_elsewhere(tmp_path, capsys):
    """The reader's warnings are printed with their file, without the source line that Python would
    add."""
    odd = tmp_path / "odd.urdf"
    odd.write_text(
        "<robot name='w'><link name='a'><inertial><mass value='1'/>"
        "<inertia ixx='1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link></robot>"
    )
    command_line.read_model(make_arguments(odd), show_warnings=False)
    assert not capsys.readouterr().err
    model = command_line.read_model(make_arguments(odd))
    first, *others = capsys.readouterr().err.splitlines()
    assert first == "warning: odd.urdf is used as written, but:"
    assert [line.strip() for line in others] == list(model.warnings) != []


def test_mjcf_includes_and_loops_are_read(tmp_path):
    """Included files are read. --loops cut leaves a loop open, and is refused for formats without
    loops."""
    body = '<body name="{}"><joint name="j{}"/><geom size="0.1"/></body>'
    (tmp_path / "arm.xml").write_text(
        f"<mujoco><worldbody>{body.format('a', 1)}{body.format('b', 2)}</worldbody></mujoco>"
    )
    scene = tmp_path / "scene.xml"
    loop = '<equality><connect body1="a" body2="b" anchor="0 0 0"/></equality>'
    scene.write_text(f'<mujoco><include file="arm.xml"/>{loop}</mujoco>')
    with pytest.raises(wd.ModelError, match="closes a loop"):
        command_line.read_model(make_arguments(scene, loops="refuse"))
    assert command_line.read_model(make_arguments(scene), show_warnings=False).loops
    model = command_line.read_model(make_arguments(scene, loops="cut"), show_warnings=False)
    assert model.joint_names == ("j1", "j2")
    for robot in ("cartpole", str(command_line.robot_file("cartpole"))):
        with pytest.raises(UserError, match="--loops is for SDF, MJCF and USD files"):
            command_line.read_model(make_arguments(robot, loops="cut"))


def test_loops_of_a_usd_stage_are_read_or_cut(tmp_path):
    """Two hinges between the same bodies are a loop."""
    pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    apis = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]'
    mass = "float physics:mass = 1\nfloat3 physics:diagonalInertia = (1, 1, 1)\n"
    bodies = "".join(f'def Xform "{name}" ({apis}) {{\n{mass}}}\n' for name in "ab")
    ends = "rel physics:body0 = </a>\nrel physics:body1 = </b>\n"
    hinges = "".join(f'def PhysicsRevoluteJoint "j{n}" {{\n{ends}}}\n' for n in "12")
    stage = tmp_path / "loop.usda"
    stage.write_text(f"#usda 1.0\n{bodies}{hinges}")
    with pytest.raises(wd.ModelError, match="closes a loop"):
        command_line.read_model(make_arguments(stage, loops="refuse"))
    for loops, count in ((None, 1), ("keep", 1), ("cut", 0)):
        model = command_line.read_model(make_arguments(stage, loops=loops), show_warnings=False)
        assert len(model.loops) == count


def test_a_file_of_several_robots_is_read_in_part_or_as_a_world(tmp_path):
    """--model names one robot, or world. It is refused for formats with one robot."""
    shape = (
        "<collision name='c'><geometry><sphere><radius>0.1</radius></sphere></geometry></collision>"
    )
    mass = "<inertial><mass>1</mass></inertial>"
    models = "".join(
        f"<model name='{name}'><pose>{x} 0 1 0 0 0</pose><link name='body'>{mass}{shape}</link></model>"
        for name, x in (("red", 0), ("green", 1))
    )
    scene = tmp_path / "scene.sdf"
    scene.write_text(f"<sdf version='1.9'><world name='w'>{models}</world></sdf>")
    with pytest.raises(wd.ModelError, match="it holds 2 models"):
        command_line.read_model(make_arguments(scene))
    assert command_line.read_model(make_arguments(scene, part="green"), show_warnings=False).nv == 6
    both = command_line.read_model(make_arguments(scene, part="world"), show_warnings=False)
    assert both.nv == 12 and "red::body" in both.link_names
    with pytest.raises(UserError, match="--model is for SDF and USD files"):
        command_line.read_model(make_arguments("cartpole", part="world"))


def test_frames_must_be_links():
    """A link's name is returned, and None without a name. Another name is refused with near
    ones."""
    model = wd.load_robot("panda")
    assert (
        command_line.find_frame(make_arguments("panda", frame="panda_link8"), model)
        == "panda_link8"
    )
    assert command_line.find_frame(make_arguments("panda"), model) is None
    with pytest.raises(UserError, match="did you mean 'panda_link8'"):
        command_line.find_frame(make_arguments("panda", frame="panda_link_8"), model)


def test_devices_are_those_of_warp():
    """The best device is used if there is no name. The error for an unknown name lists the known
    ones.
    """
    assert command_line.choose_device(None) == wp.get_preferred_device().alias
    assert command_line.choose_device("cpu") == "cpu"
    with pytest.raises(UserError, match="there is no device 'moon' here; there is cpu"):
        command_line.choose_device("moon")


def test_pictures_need_matplotlib(monkeypatch):
    """The refusal says how to install it."""
    monkeypatch.setattr(command_line, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install matplotlib"):
        command_line.check_picture(Path("picture.png"))


def test_files_are_written_into_new_folders(tmp_path):
    """A missing folder is created. A path that cannot be written is refused."""
    path = tmp_path / "new" / "text.txt"
    command_line.write_file(path, lambda path: path.write_text("x"))
    assert path.read_text() == "x"
    with pytest.raises(UserError, match="cannot write"):
        command_line.write_file(path / "under_a_file", lambda path: path.write_text("x"))


def test_a_robot_must_have_a_moving_joint():
    """A robot without joints is refused if there is something to compute."""
    stone = wd.load("<robot name='stone'><link name='a'/></robot>")
    with pytest.raises(UserError, match="stone has no moving joint: nothing to compute"):
        command_line.refuse_immobile(stone)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("figure.foo", r"its ending must be one of .*\.png"),
        ("figure", "its ending must be one of"),
        ("a_file/figure.png", "does not allow it"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused_at_once(
    name: str, why: str, tmp_path: Path
) -> None:
    """The refusal comes before any computation."""
    pytest.importorskip("matplotlib")
    (tmp_path / "a_file").write_text("")
    with pytest.raises(command_line.UserError, match=why):
        command_line.check_picture(tmp_path / name)
    command_line.check_picture(tmp_path / "new_folder" / "figure.png")


def test_a_folder_is_refused_as_output_file(tmp_path: Path) -> None:
    with pytest.raises(command_line.UserError, match="it is a folder"):
        command_line.check_file(tmp_path)


def test_a_batch_that_exceeds_memory_is_reported_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The line says what to do."""
    from warpdyn.cli.main import main

    huge = str(10**12)
    assert main(["bench", "cartpole", "--algorithm", "rnea", "--batch", huge]) == 2
    said = capsys.readouterr().err
    assert said.startswith("warpdyn: error: not enough memory") and "smaller --batch" in said


ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="prefix" default=""/>
  <link name="$(arg prefix)base"/><link name="tip"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="j" type="continuous"><parent link="$(arg prefix)base"/><child link="tip"/></joint></robot>"""


def test_xacro_files_are_expanded_with_command_line_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command with a robot does so, and peers read the expanded text. Other files accept no
    such arguments."""
    pytest.importorskip("xacro")
    path = tmp_path / "arm.urdf.xacro"
    path.write_text(ARM)
    given = make_arguments(path, prefix="right_")
    assert command_line.read_model(given).root == "right_base"
    assert "right_base" in command_line.peer_file(given).read_text()
    assert command_line.peer_file(make_arguments("cartpole")) == command_line.robot_file("cartpole")
    with pytest.raises(UserError, match="--xacro-arg is for xacro files"):
        command_line.read_model(make_arguments("cartpole", prefix="right_"))
    assert main(["info", str(path), "--xacro-arg", "prefix:=left_"]) == 0
    assert "left_base" in capsys.readouterr().out
    assert main(["info", str(path), "--xacro-arg", "prefx:=left_"]) == 2
    assert "did you mean 'prefix'?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["info", str(path), "--xacro-arg", "prefix=left_"])


def test_help_and_docstrings_name_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    """The registry is the only list of formats."""
    with pytest.raises(SystemExit):
        main(["info", "--help"])
    texts = capsys.readouterr().out, wd.load.__doc__ or ""
    for format in FORMATS:
        assert all(format.name in text for text in texts), format.name
    assert "xacro" in texts[0] and "load_xacro" in texts[1]


def test_modules_of_the_present_folder_are_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The folder is appended once to the search path."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        find_modules_here()
    assert sys.path[-1] == str(tmp_path) and sys.path.count(str(tmp_path)) == 1


def test_errors_of_the_named_kinds_are_the_users() -> None:
    """Their messages stay, also those of a KeyError; other errors pass unchanged."""
    for error in (ValueError("no such link"), KeyError("no such link")):
        with pytest.raises(UserError, match=r"^no such link$"), user_errors(ValueError, KeyError):
            raise error
    with pytest.raises(OSError, match="disk"), user_errors(ValueError, KeyError):
        raise OSError("disk")
