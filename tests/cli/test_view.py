"""`warpdyn view`: its files, and its refusals in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("warpdyn.viewer")
import warpdyn as wd
from warpdyn.cli.main import main
from warpdyn.cli.view import _configurations


def test_a_page_is_written_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.html"
    assert main(["view", "ur5e", "--envs", "3", "--record", str(path)]) == 0
    assert path.stat().st_size > 1e5
    assert "a browser opens it without a server" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--trajectory", "nowhere.csv"], "nowhere.csv: there is no such file"),
        (["--record", "arm.mp4"], "arm.mp4 must end in .html for a page or .viser for a recording"),
        (["--png", "arm.gif"], "arm.gif must end in .png"),
        (["--png", "no/arm.png"], "no/arm.png cannot be written: there is no folder no"),
        (
            ["--host", "no where"],
            "no where is not an address to listen on (Name or service not known)",
        ),
        (
            ["--trajectory", "a.csv", "--envs", "4"],
            "--trajectory gives the number of robots; leave out --envs",
        ),
    ],
)
def test_a_robot_that_cannot_be_shown_is_refused_in_one_line(
    options: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", "ur5e", "--port", "0", *options]) == 2
    assert capsys.readouterr().err.strip().endswith(f"warpdyn: error: {error}")


def test_joints_missing_in_a_motion_file_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They do not move. A recording for viser's player is described as one."""
    (tmp_path / "arm.csv").write_text("elbow_joint,time\n1,0\n2,1\n")
    motion = ["--trajectory", str(tmp_path / "arm.csv"), "--record", str(tmp_path / "arm.viser")]
    assert main(["view", "ur5e", *motion]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "it does not name shoulder_pan_joint, shoulder_lift_joint, wrist_1_joint" in said
    assert "viser's own player opens it without a server" in said


@pytest.mark.parametrize(("column", "said"), [("Time", True), ("time", False)])
def test_a_motion_file_without_times_is_reported(
    column: str, said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rows play at a fixed rate. Another spelling of a time is a column that is not read."""
    (tmp_path / "arm.csv").write_text(f"elbow_joint,{column}\n1,0\n2,1\n")
    motion = ["--trajectory", str(tmp_path / "arm.csv"), "--record", str(tmp_path / "arm.viser")]
    assert main(["view", "ur5e", *motion]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    line = (
        "it has no times, in a column timestamp, time, times, t, stamp, seconds; it plays 50 rows"
    )
    assert (line in printed) == said


@pytest.fixture
def player_states(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """State of the page's player when the command waits for Ctrl-C: whether it loops, and its
    speed."""
    from warpdyn.viewer import Viewer

    seen: list[Any] = []
    monkeypatch.setattr(
        Viewer, "wait", lambda page: seen.append((page.player.loop.value, page.player.speed.value))
    )
    return seen


@pytest.mark.parametrize(
    ("options", "loop", "speed"),
    [
        ([], True, 1.0),
        (["--once", "--speed", "0.5"], False, 0.5),
        (["--speed", "10"], True, 10.0),
        (["--speed", "0.013"], True, 0.013),
    ],
)
def test_a_motion_plays_with_the_requested_loop_and_speed(
    tmp_path: Path, player_states: list[Any], options: list[str], loop: bool, speed: float
) -> None:
    """It plays repeatedly or once, at its own speed or another one, even beyond the usual range of
    the slider."""
    (tmp_path / "arm.csv").write_text("elbow_joint,time\n1,0\n2,9\n")
    motion = ["--trajectory", str(tmp_path / "arm.csv"), "--port", "0"]
    assert main(["view", "ur5e", *motion, *options]) == 0
    assert player_states == [(loop, speed)]


def test_the_topic_of_a_bag_can_be_chosen(
    tmp_path: Path, player_states: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """One line lists the topics with joint states if the bag has no /joint_states."""
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.LATEST)
    kind, none = "sensor_msgs/msg/JointState", np.zeros(0)
    stamp = store.types["builtin_interfaces/msg/Time"](0, 0)
    header = store.types["std_msgs/msg/Header"](stamp, "")
    with Writer(tmp_path / "drive", version=9) as writer:
        topic = writer.add_connection("/arm/joint_states", kind, typestore=store)
        for k in range(3):
            message = store.types[kind](header, ["elbow_joint"], np.array([0.1 * k]), none, none)
            writer.write(topic, k * 10**9, store.serialize_cdr(message, kind))
    motion = ["--trajectory", str(tmp_path / "drive"), "--port", "0"]
    assert main(["view", "ur5e", *motion, "--topic", "/arm/joint_states"]) == 0
    said = " ".join(capsys.readouterr().out.split())  # a narrow terminal wraps the line
    assert "3 rows, 2 s" in said and len(player_states) == 1
    assert main(["view", "ur5e", *motion]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "it has no joint states on /joint_states, but on /arm/joint_states" in line


@pytest.mark.parametrize(("host", "said"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_a_host_that_others_can_reach_gives_a_warning(
    host: str, said: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from warpdyn.viewer import Viewer

    monkeypatch.setattr(Viewer, "wait", lambda _: None)
    assert main(["view", "ur5e", "--host", host, "--port", "0"]) == 0
    lines = [x for x in capsys.readouterr().out.splitlines() if "whoever reaches" in x]
    assert lines == [f"whoever reaches {host} can see the page and move the robot on it"] * said


def test_the_caller_names_packages_of_meshes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their meshes are drawn without a warning. A package that is no folder is refused."""
    import trimesh

    trimesh.creation.box().export(tmp_path / "part.stl")
    mesh = '<mesh filename="package://my_arm/part.stl"/>'
    text = f'<link name="a"><visual><geometry>{mesh}</geometry></visual></link>'
    (tmp_path / "arm.urdf").write_text(f'<robot name="r">{text}</robot>')
    command = ["view", str(tmp_path / "arm.urdf"), "--record", str(tmp_path / "arm.html")]
    assert main([*command, "--package", f"my_arm={tmp_path}"]) == 0
    assert "not drawn" not in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*command, "--package", "my_arm=nowhere"])
    assert (
        "must be NAME=FOLDER, with a folder that exists, got 'my_arm=nowhere'"
        in capsys.readouterr().err
    )


def test_free_bodies_of_many_robots_have_their_start_pose() -> None:
    """The arms have different configurations. A floating base has its usual place."""
    scene = wd.load_robot("panda").with_object(
        "cube", wd.description.Box(0.04, 0.04, 0.04), mass=0.1, pose=(0.5, 0.0, 0.02)
    )
    q = _configurations(scene, 5)
    assert np.allclose(q[:, -7:], [0.5, 0.0, 0.02, 0.0, 0.0, 0.0, 1.0])
    assert np.ptp(q[:, :7], axis=0).min() > 0.1
    dog = wd.load_robot("quadruped")
    assert np.allclose(_configurations(dog, 3)[:, :7], dog.configurations["home"][:7])
