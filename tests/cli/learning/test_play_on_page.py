"""`warpdyn play` in the browser: where and how long robots are drawn, and how it ends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from module_numbers import module_numbers

from warpdyn.cli.main import main

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("warpdyn.viewer")
from rl_cases import barely_trained

import warpdyn as wd
from warpdyn.cli.learning import play_on_page as page_module
from warpdyn.cli.learning.environment_page import AROUND, SIDE
from warpdyn.cli.learning.play_on_page import OnPage, play_on_page

HERE: dict[str, Any] = {"host": "127.0.0.1", "port": 0}


class Glide(rl.Task):
    """A block without contact flies level at 30 m/s, over a map whose places have different
    heights."""

    dt, substeps, seconds = 0.01, 2, 0.2
    actions = 1
    scales = {"far": 1.0}  # noqa: RUF012

    def __init__(self, uneven: bool) -> None:
        text = '<robot name="block"><link name="block"><inertial><mass value="2"/><inertia '
        text += (
            'ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
        )
        self.model = wd.load_urdf(text, floating_base=True)
        self.uneven = uneven
        if uneven:
            heights = np.zeros((61, 61))
            heights[30:] = 0.5
            self.terrain = wd.HeightMap(heights, 0.2)

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        begun = {
            "q": np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0]),
            "v": np.array([30.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        }
        return begun | ({"origin": np.array([3.0, 1.0, 0.5])} if self.uneven else {})

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"tau": np.zeros(6)}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return s.q

    def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"far": s.q[0]}


class Nothing:
    """A policy whose actions are zero."""

    def check(self, task: object, width: int) -> None:
        assert width == 7

    def __call__(self, seen: np.ndarray) -> np.ndarray:
        return np.zeros((len(seen), 1), np.float32)


@pytest.fixture
def on_page(request: pytest.FixtureRequest) -> Any:
    made = OnPage(rl.VecEnv(Glide(request.param), 2), Nothing(), **HERE)  # type: ignore[arg-type]
    yield made
    made.page.stop()


@pytest.mark.parametrize("on_page", [False], indirect=True)
def test_robots_are_drawn_within_their_area(on_page: OnPage) -> None:
    """One that has flown 3 m in the 0.1 s since its reset is drawn where it entered again. Its
    neighbours are far away."""
    assert on_page.run(0.3) == pytest.approx(0.3)
    x = on_page.env.carried["q"][:, 0].numpy()
    assert np.allclose(x, 3.0, atol=1e-3)
    view = on_page.page.robots["robot"]
    assert np.allclose(view.q[:, 0], x - SIDE, atol=1e-4)
    assert np.linalg.norm(np.diff(view._at[:, 0], axis=0)) >= SIDE
    assert set(on_page.page._plots) == {"reward per second"}


@pytest.mark.parametrize("on_page", [True], indirect=True)
def test_robots_are_drawn_in_their_height_map(
    on_page: OnPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are at their places, and the ground is drawn once around each."""
    view, origin = on_page.page.robots["robot"], np.array([3.0, 1.0, 0.5])
    on_page.run(0.08)
    q = on_page.env.carried["q"].numpy()
    assert np.allclose(view.q[:, :3] + view._at[:, 0], q[:, :3] + origin, atol=1e-4)
    assert on_page.shown._patches == {(3.0, 1.0)}
    drawn: list[np.ndarray] = []
    scene = on_page.page.stage.server.scene
    monkeypatch.setattr(scene, "add_mesh_simple", lambda *given, **_: drawn.append(given[1]))
    on_page.env.carried["origin"][1, 0] = 5.0
    on_page.shown.update(on_page.env.carried)
    (vertices,) = drawn
    assert 5.0 - vertices[:, 0].min() == pytest.approx(AROUND, abs=0.2)
    assert vertices[:, 1].min() == pytest.approx(1.0 - AROUND, abs=0.2)
    assert vertices[:, 1].max() == pytest.approx(6.0), "the map's edge"
    assert on_page.shown._patches == {(3.0, 1.0), (5.0, 1.0)}


def test_ctrl_c_ends_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page is closed, and no exception is raised."""
    pages = []

    def interrupt(shown: OnPage, seconds: float | None) -> float:
        pages.append(shown.page)
        assert seconds is None
        raise KeyboardInterrupt

    monkeypatch.setattr(OnPage, "run", interrupt)
    play_on_page(rl.VecEnv(Glide(False), 2), Nothing(), None, **HERE)  # type: ignore[arg-type]
    told = capsys.readouterr().out.replace("\n", " ")
    assert f"Glide: 2 times block at {pages[0].address}; Ctrl-C ends it" in told


def test_play_uses_a_page_by_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It does so if no file is requested. An unusable port or address is reported in one line."""
    policy = barely_trained(rl.make("cartpole_swing_up"), tmp_path / "cartpole.onnx")
    words = ["play", "cartpole_swing_up", "--policy", str(policy), "--robots", "2"]
    assert main([*words, "--seconds", "0.4", "--port", "0"]) == 0
    told = capsys.readouterr().out.replace("\n", " ")
    assert "CartpoleSwingUp: 2 times cartpole at http://127.0.0.1:" in told
    assert main([*words, "--host", "192.0.2.1", "--port", "0"]) == 2
    assert "cannot be used" in capsys.readouterr().err


class Clock:
    """A clock that advances only in sleep, or when the test sets it."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, 0.0

    def perf_counter(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


@pytest.mark.parametrize("on_page", [False], indirect=True)
@pytest.mark.parametrize(("stall", "slept"), [(0.1, 0.3), (5.0, 0.38)])
def test_the_page_catches_up_after_a_short_stall_only(
    on_page: OnPage, monkeypatch: pytest.MonkeyPatch, stall: float, slept: float
) -> None:
    """There are 20 steps of 20 ms, and the first one takes longer. After a short stall the page is
    on time again. After a long one it continues at its pace. Curves are drawn every 12 steps, which is
    about 4 times a second."""
    clock, steps, drawn = Clock(), 0, list[float]()

    def step() -> None:
        nonlocal steps
        steps += 1
        clock.now += stall if steps == 1 else 0.0

    monkeypatch.setattr(page_module, "time", clock)
    monkeypatch.setattr(on_page, "_step", step)
    monkeypatch.setattr(on_page, "_plot", drawn.append)
    assert on_page.run(0.4) == pytest.approx(0.4) and steps == 20
    assert drawn == [pytest.approx(12 * 0.02)]
    assert clock.slept == pytest.approx(slept)
    assert clock.now == pytest.approx(slept + stall)


class CommandedGlide(Glide):
    """A block that flies at 30 m/s and turns at 0.5 rad/s, with other speeds as command."""

    def begin(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        v = np.array([30.0, 0.0, 0.0, 0.0, 0.0, 0.5])
        return super().begin(robot, s) | {"v": v, "command": np.array([1.0, 2.0, 3.0])}


def test_curves_show_speeds_and_commands() -> None:
    """The forward and the turning speed each appear next to their command."""
    shown = OnPage(rl.VecEnv(CommandedGlide(False), 2), Nothing(), **HERE)  # type: ignore[arg-type]
    try:
        shown.run(0.5)
        plots = shown.page._plots
        x, ahead, told = (np.asarray(each) for each in plots["ahead [m/s]"].data)
        assert len(x) == len(ahead) and ahead[0] == pytest.approx(30.0, abs=0.5)
        assert told == pytest.approx(np.full(len(x), 1.0))
        _, turning, told = (np.asarray(each) for each in plots["turning [rad/s]"].data)
        assert turning == pytest.approx(np.full(len(x), 0.5), abs=1e-3)
        assert told == pytest.approx(np.full(len(x), 3.0))
    finally:
        shown.page.stop()


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["learning.play_on_page"] == {
        "PICTURES": 60.0,
        "PAST": 10.0,
        "CURVES": 4.0,
        "BEHIND": 0.5,
    }


def test_remarks_of_the_page_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped: list[bool] = []
    page = SimpleNamespace(
        remarks=["the mesh is not drawn"], address="here", stop=lambda: stopped.append(True)
    )
    monkeypatch.setattr(
        page_module,
        "OnPage",
        lambda *_, **__: SimpleNamespace(page=page, run=lambda seconds: seconds),
    )
    task = SimpleNamespace(name="Glide", model=SimpleNamespace(name="block"))
    env = SimpleNamespace(task=task, num_envs=2)
    play_on_page(env, Nothing(), 1.5, **HERE)  # type: ignore[arg-type]
    told = capsys.readouterr().out.replace("\n", " ")
    assert "the mesh is not drawn" in told and "Glide: 2 times block at here; for 1.5 s" in told
    assert stopped == [True]
