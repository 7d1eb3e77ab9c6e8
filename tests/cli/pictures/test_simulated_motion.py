"""`warpdyn simulate` on a page: which parts of a scene it shows, and how it ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from module_numbers import module_numbers

from warpdyn.cli.main import main

viewer = pytest.importorskip("warpdyn.viewer")
import warpdyn as wd
from warpdyn.cli.pictures import simulated_motion
from warpdyn.cli.pictures.simulated_motion import SimulatedMotion

SCENE = """<mujoco model="heap"><worldbody>
<body name="arm" pos="0 0 1"><joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".02 .1"/></body>
<body name="low" pos="0.5 0 .05"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
<body name="high" pos="0.5 0 .15"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
</worldbody></mujoco>"""

RUN = ["--seconds", "0.2", "--dt", "0.002", "--pair", "low", "high"]


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    file = tmp_path / "heap.xml"
    file.write_text(SCENE)
    return file


def test_a_scene_is_recorded(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording has one robot by default. It is a page or a file for the player, in a folder that
    need not exist.
    """
    for ending in (".html", ".viser"):
        path = tmp_path / "new" / f"heap{ending}"
        assert main(["simulate", str(scene), *RUN, "--record", str(path)]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert "heap: 1 robots" in said and "recorded:" in said and path.stat().st_size > 5e3


def test_the_motion_is_shown_until_ctrl_c(
    scene: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page plays the motion of all robots, with their contacts and forces."""
    shown: list[Any] = []

    def interrupt(page: Any) -> None:
        page.player.playing.value = False
        page.player.go_to(0.2)
        paths = page.stage.server.scene._handle_from_node_name
        touching = paths["/contacts/points"].batched_positions
        shown.append((page, touching, paths["/contacts/forces"].points[:, 1]))
        raise KeyboardInterrupt

    monkeypatch.setattr(viewer.Viewer, "wait", interrupt)
    assert main(["simulate", str(scene), *RUN, "--view", "--envs", "2", "--port", "0"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    ((page, touching, ends),) = shown
    assert f"heap at {page.address}; Ctrl-C ends it" in said
    motion = page.player.motion
    assert motion.q.shape == (26, 2, 15) and motion.seconds == pytest.approx(0.2)
    assert len(touching) >= 8
    # The arrow between the cubes is at their contact, for both robots.
    assert (np.abs(ends[:, 2] - 0.1) < 2e-3).sum() == 2


def test_contacts_are_shown_only_for_the_first_robots(monkeypatch: pytest.MonkeyPatch) -> None:
    """More arrows would hide them."""
    monkeypatch.setattr(simulated_motion, "WITH_FORCES", 3)
    model = wd.load(SCENE)
    sim = wd.Simulation(model, 5, pairs=wd.ContactPairs(model).only(("low", "high")))
    motion = SimulatedMotion()
    for _ in range(3):
        sim.step()
        motion.add(sim)
    assert motion.q[0].shape == (5, 15)
    assert set(motion.contacts[-1].envs_of_forces) == {0, 1, 2}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--record", "heap.gif"], "its ending must be .html or .viser"),
        (["--view", "--host", "192.0.2.1"], "cannot be used"),
    ],
)
def test_a_motion_that_cannot_be_shown_is_reported_in_one_line(
    scene: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", str(scene), *RUN, *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["pictures.simulated_motion"] == {
        "WITH_FORCES": 16,
        "LONGEST": 0.3,
        "LARGE": 0.95,
    }


def test_remarks_of_the_page_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """A motion of one launch has no time bar, and its page waits all the same. It ends with the
    call, and the port is free unless the page stays."""
    calls: list[Any] = []
    page = SimpleNamespace(
        remarks=["the mesh is not drawn"],
        player=None,
        address="http://here:80",
        wait=lambda: calls.append("wait"),
        stop=lambda: calls.append("stop"),
    )
    motion = SimpleNamespace(show=lambda sim, seconds, **more: calls.append(more) or page)
    sim: Any = SimpleNamespace(model=SimpleNamespace(name="heap"))
    for stays in (True, False):
        calls.clear()
        simulated_motion.show_motion(
            motion,  # type: ignore[arg-type]
            sim,
            0.1,
            None,
            stays=stays,
            host="here",
            port=80,
        )
        said = " ".join(capsys.readouterr().out.split())
        assert "the mesh is not drawn" in said
        assert ("heap at http://here:80; Ctrl-C ends it" in said) == stays
        port = {"host": "here", "port": 80 if stays else 0}
        assert calls == [port, *["wait"][: int(stays)], "stop"]
