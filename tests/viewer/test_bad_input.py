"""Input that cannot be shown is reported in one line, and the page remains usable."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from painted import visitor
from waiting import wait_until

from warpdyn.cli.main import main
from warpdyn.viewer.trajectory_files import read_trajectory

ARM = wd.load_robot("ur5e")
HOME = np.asarray(ARM.configurations["home"])
NAN = np.full(6, np.nan)
MESH = """<robot name="r"><link name="base"><inertial><mass value="1"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
<visual><geometry><mesh filename="{}"/></geometry></visual></link></robot>"""
BROKEN = {
    "nowhere.stl": "there is no such file",
    "empty.stl": "it has no triangles",
    "cut_off.stl": "it has no triangles",
    "text.obj": "cannot read it",
    "half.dae": "cannot read it",
    "noise.glb": "cannot read it",
    "huge.stl": "1,024 MiB, more than the 64",
}
"""Meshes that are none, and what is said of them."""


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    made = viewer.show(ARM)
    yield made
    made.stop()


@pytest.fixture
def meshes(tmp_path: Path) -> Path:
    """A folder with the existing files of `BROKEN`."""
    (tmp_path / "empty.stl").touch()
    (tmp_path / "cut_off.stl").write_bytes(b"\0" * 80 + b"\xff\0\0\0" + b"\1" * 70)
    (tmp_path / "text.obj").write_text("v 0 0\nf 1 2 3\n")
    (tmp_path / "half.dae").write_text("<COLLADA>")
    (tmp_path / "noise.glb").write_bytes(bytes(range(256)))
    with (tmp_path / "huge.stl").open("wb") as file:
        file.truncate(2**30)  # a sparse file: no byte is on the disk
    return tmp_path


def lives_on(page: Any) -> bool:
    """True if a page answers, accepts a visitor, and moves its robot."""
    with urlopen(page.address, timeout=60) as answer:
        answers = answer.status == 200 and b"<html" in answer.read(2000)
    with visitor(page) as connection:
        received = len(connection.recv(60.0))
    view = page.robots["robot"]
    for q in (HOME + 0.1, HOME):
        page.update(q)
        if not np.allclose(view.q[0], q, atol=1e-6):
            return False
    return bool(answers and received)


def of_a_file(text: str) -> Callable[[Any, Path], object]:
    """Play the motion table of a file."""

    def play(page: Any, folder: Path) -> None:
        (folder / "log.csv").write_text(text)
        motion = read_trajectory(ARM, folder / "log.csv")
        page.trajectory(ARM, motion.q, motion.times)

    return play


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda page, _: page.update(np.zeros(8)), "q of ur5e is (6,) or (B, 6), got (8,)"),
        (lambda page, _: page.update(NAN), "q is not finite in 1 of 1 rows, first in 0"),
        (lambda page, _: page.add(ARM, NAN), "q is not finite in 1 of 1 rows"),
        (lambda page, _: page.ghost(ARM, NAN), "q is not finite in 1 of 1 rows"),
        (lambda page, _: page.trajectory(ARM, np.zeros((3, 7))), "a trajectory of ur5e is (T, 6)"),
        (
            lambda page, _: page.trajectory(ARM, [NAN] * 3),
            "not finite in 3 of 3 rows, first in row 0",
        ),
        (
            lambda page, _: page.trajectory(ARM, {"panda_joint1": np.zeros(3)}),
            "the trajectory names panda_joint1, which ur5e does not have; it has shoulder_pan_joint",
        ),
        (lambda page, _: page.trajectory(ARM, [HOME], speed=0.0), "speed must be above 0, got 0"),
        (lambda page, _: page.trajectory(ARM, [HOME], speed=np.inf), "must be above 0, got inf"),
        (of_a_file("time,panda_joint1\n0,0\n"), "it names no joint of ur5e: panda_joint1; columns"),
        (of_a_file("elbow_joint,time\n0,0\n1\n"), "line 3 has 1 entries, the first names 2"),
        (of_a_file("elbow_joint,time\n0,0\nnan,1\n"), "not finite in 1 of 2 rows, first in row 1"),
        (lambda page, _: viewer.show(ARM, port=page.stage.server.get_port()), "cannot be used"),
        (lambda page, _: page.record("nowhere/arm.html"), "nowhere/arm.html cannot be written"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_page_remains_usable_after_bad_input(
    page: Any, tmp_path: Path, wrong: Callable[[Any, Path], object], error: str
) -> None:
    """The input is another robot's configuration, NaN, missing columns, or the page's own port."""
    page.update(HOME)
    before = page.robots["robot"], page.controls, page.player
    with pytest.raises(viewer.ViewerError, match=re.escape(error)) as said:
        wrong(page, tmp_path)
    assert "\n" not in str(said.value)
    assert before == (page.robots["robot"], page.controls, page.player), "all is as it was"
    assert np.allclose(page.robots["robot"].q[0], HOME) and page.robots["robot"]._handles
    assert lives_on(page)


def test_a_page_remains_usable_with_broken_meshes(page: Any, meshes: Path) -> None:
    """Each mesh is reported in one line, and drawn as the box of its inertia. The other robot is
    drawn and moves."""
    for name, why in BROKEN.items():
        (meshes / "r.urdf").write_text(MESH.format(name))
        page.add(wd.load(meshes / "r.urdf"), None, "second")
        (line,) = page.remarks
        assert line.startswith(f'base: the mesh "{name}" is not drawn: ') and why in line, line
        assert "\n" not in line and page.robots["second"]._handles
        assert lives_on(page)


def test_the_command_reports_broken_meshes_and_serves_the_page(
    meshes: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each mesh has a line before the page's address."""
    served: list[bool] = []

    def check_answer(page: Any) -> None:
        with urlopen(page.address, timeout=60) as answer:
            served.append(answer.status == 200)

    monkeypatch.setattr(viewer.Viewer, "wait", check_answer)
    monkeypatch.setenv("COLUMNS", "400")
    for name in BROKEN:
        (meshes / "r.urdf").write_text(MESH.format(name))
        assert main(["view", str(meshes / "r.urdf"), "--port", "0"]) == 0
        first, second = capsys.readouterr().out.strip().splitlines()
        assert f'the mesh "{name}" is not drawn: ' in first and "Ctrl-C ends it" in second
    assert served == [True] * len(BROKEN)


def test_a_playing_motion_continues_after_bad_input(page: Any) -> None:
    """Another motion, or another robot in its place, is refused."""
    page.trajectory(ARM, {"elbow_joint": np.linspace(0.0, 1.0, 50)}, speed=0.5)
    player = page.player
    for wrong in (
        lambda: page.trajectory(ARM, np.zeros((3, 7))),
        lambda: page.add(ARM, NAN),
    ):
        with pytest.raises(viewer.ViewerError):
            wrong()
        at = float(player.bar.value)
        wait_until(lambda at=at: player.bar.value != at, "a motion that plays on")
    assert page.player is player
    page.add(ARM, HOME)
    assert page.player is None and not player._thread.is_alive(), "it ends with its robot"
    assert page.controls is None, "and so do its sliders"
    assert lives_on(page)


def test_a_port_in_use_ends_the_command_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The line names the remedy."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["view", "ur5e", "--port", str(port)]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert f"port {port} of 127.0.0.1 cannot be used" in line and "0 is any free one" in line
