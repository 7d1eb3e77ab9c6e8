"""`warpdyn play`: pictures of the robots, and the roll-outs they show."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from module_numbers import module_numbers

from warpdyn.cli.main import main

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("matplotlib")
import torch
from rl_cases import barely_trained

from warpdyn.cli.learning import play as play_module
from warpdyn.cli.learning.play import PlayedMotion, roll_out
from warpdyn.rl.pictures.robot_stage import Stage


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "cartpole.onnx"
    return barely_trained(rl.make("cartpole_swing_up"), path)


def test_play_writes_a_gif_and_a_png(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The GIF has a frame of 0.04 s for each step. The frames are drawn and differ."""
    files = {"--gif": tmp_path / "a.gif", "--png": tmp_path / "a.png"}
    words = [str(x) for pair in files.items() for x in pair]
    words += ["--policy", str(policy), "--envs", "2", "--seconds", "0.4"]
    assert main(["play", "cartpole_swing_up", *words]) == 0
    assert "CartpoleSwingUp: 2 times cartpole for 0.4 s" in capsys.readouterr().out
    from PIL import Image

    with Image.open(files["--gif"]) as moving:
        assert moving.n_frames == 10 and moving.info["duration"] == 40
        first = np.asarray(moving.convert("RGB")).copy()
        moving.seek(9)
        last = np.asarray(moving.convert("RGB"))
    assert first.std() > 5 and (first != last).any()
    with Image.open(files["--png"]) as still:
        assert np.asarray(still.convert("RGB")).std() > 5


def test_play_without_a_screen_writes_a_file(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The viewer is missing, too. The file has the name of the task, in the present folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warpdyn.cli.learning.play.find_spec", lambda name: None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    words = ["--policy", str(policy), "--envs", "1", "--seconds", "0.08"]
    assert main(["play", "cartpole_swing_up", *words]) == 0
    assert (tmp_path / "cartpole_swing_up.gif").stat().st_size > 1000


def test_a_roll_out_records_the_commands() -> None:
    """The commands grow from zero. They are recorded next to the base speeds of a robot that
    follows them."""
    task = rl.make("quadruped_velocity")
    env = rl.VecEnv(task, 64, seed=1)

    class Still:
        def check(self, task: object, width: int) -> None:
            assert width == 50

        def __call__(self, seen: np.ndarray) -> np.ndarray:
            return np.zeros((len(seen), 12), np.float32)

    played = roll_out(env, Still(), 0.1)  # type: ignore[arg-type]
    assert played.q.shape == (5, 64, 19) and played.origins.shape == (5, 64, 3)
    assert list(played.shown) == ["forward [m/s]", "aside [m/s]", "turn [rad/s]"]
    for found, asked in played.shown.values():
        assert asked is not None and found.shape == asked.shape == (5, 64)
        grown = np.diff(np.abs(asked), axis=0)
        assert 0.15 < np.abs(asked).max() <= 0.4 + 1e-6 and grown.min() >= 0 and grown.max() > 0.03


def test_an_unwritable_file_is_refused_before_the_roll_out(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["play", "cartpole_swing_up", "--policy", str(policy)]
    assert main([*words, "--gif", str(tmp_path / "a.mp4")]) == 2
    assert "the ending of a moving picture is .gif" in capsys.readouterr().err
    assert main([*words, "--png", str(tmp_path / "a.txt")]) == 2
    assert "its ending must be one of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("task", "follows"), [("cartpole_swing_up", False), ("quadruped_velocity", True)]
)
def test_the_picture_follows_a_robot_with_a_free_base(task: str, follows: bool) -> None:
    """The picture of another robot is centred on the mean over the whole motion."""
    from matplotlib.figure import Figure

    centres: list[np.ndarray] = []

    class RecordingPicture:
        """Records the centres of the picture."""

        def reach(self, poses: np.ndarray, middle: np.ndarray) -> float:
            return 1.0

        def patches(self, poses: np.ndarray, centre: np.ndarray) -> list[object]:
            centres.append(centre)
            return []

        def ground(self, *_: object) -> list[np.ndarray]:
            return []

    poses = np.tile(np.eye(4), (2, 3, 1, 1))
    poses[:, :, 0, 3] = [[0.5, 1.0, 2.0], [3.0, 3.5, 4.0]]
    made = rl.make(task)
    stage = Stage(made, RecordingPicture(), Figure().add_subplot(), poses.reshape(-1, 4, 4))  # type: ignore[arg-type]
    for each in poses:
        stage.show(each, np.zeros(3))
    wanted = [0.5, 3.0] if follows else [2.25, 2.25]
    assert np.allclose([centre[0] for centre in centres], wanted)


class StageOnPaper:
    """Records the poses that are drawn on a panel."""

    made: ClassVar[list[StageOnPaper]] = []

    def __init__(self, task: Any, drawn: Any, panel: Any, poses: Any) -> None:
        self.panel, self.first, self.shown = panel, poses, []  # type: ignore[var-annotated]
        self.made.append(self)

    def show(self, poses: Any, origin: Any) -> None:
        self.shown.append((poses, tuple(origin)))


class PosesOfNames:
    """A robot's picture whose poses are its configurations."""

    def __init__(self, model: object) -> None:
        self.poses = lambda q: q[..., 0]


@pytest.fixture
def played_motion(monkeypatch: pytest.MonkeyPatch) -> PlayedMotion:
    """Five robots for 0.3 s, which is 10 steps. Robot n is at 10 n + k at step k."""
    monkeypatch.setattr("warpdyn.rl.pictures.robot_stage.Stage", StageOnPaper)
    monkeypatch.setattr(play_module, "RobotPicture", PosesOfNames)
    monkeypatch.setattr(StageOnPaper, "made", [])
    place = np.arange(10.0)[:, None] + 10.0 * np.arange(5.0)
    measured = {"speed": (place, place + 0.5), "turn": (-place, None)}
    origins = np.stack([place, -place, 0 * place], -1)
    return PlayedMotion(0.03, place[..., None], origins, measured, 0)


TASK = SimpleNamespace(name="Hop", model=SimpleNamespace(name="hopper"))


def lines_of(panel: Any) -> list[tuple[list[float], str, str]]:
    """Values, style and name of each curve of a panel."""
    found = [(x.get_ydata(), x.get_linestyle(), x.get_label()) for x in panel.get_lines()]
    return [(list(map(float, y)), style, name) for y, style, name in found if len(y) == 10]


def test_a_still_picture_has_five_moments_of_each_robot(played_motion: PlayedMotion) -> None:
    """They extend from the first step to the last. The curves are next to them, and commands are
    dashed."""
    figure = play_module.still(TASK, played_motion)  # type: ignore[arg-type]
    assert figure.get_size_inches().tolist() == [15.0, 12.0]
    assert figure.get_suptitle() == "Hop, hopper"
    moments = [0, 2, 4, 6, 9]
    assert len(StageOnPaper.made) == 25
    for k, stage in enumerate(StageOnPaper.made):
        env, step = k // 5, moments[k % 5]
        at = 10.0 * env + step
        assert stage.first == 10.0 * env and stage.shown == [(at, (at, -at, 0.0))]
        assert stage.panel.get_title() == (f"{0.03 * step:.1f} s" if env == 0 else "")
    curves = figure.axes[5::6]
    assert [len(panel.get_legend().texts) if panel.get_legend() else 0 for panel in curves] == [
        2,
        0,
        0,
        0,
        0,
    ]
    assert [panel.get_xlabel() for panel in curves] == ["", "", "", "", "time [s]"]
    for env, panel in enumerate(curves):
        place = [10.0 * env + k for k in range(10)]
        assert lines_of(panel) == [
            (place, "-", "speed"),
            ([x + 0.5 for x in place], "--", panel.get_lines()[1].get_label()),
            ([-x for x in place], "-", "turn"),
        ]
        np.testing.assert_allclose(panel.get_lines()[0].get_xdata(), 0.03 * np.arange(10))


def test_a_moving_picture_has_four_robots_in_a_row(played_motion: PlayedMotion) -> None:
    """Curves below the robots have a mark at the present time. Unused panels of the last row are
    empty.
    """
    from matplotlib.figure import Figure

    figure = Figure()
    draw, steps = play_module.moving_figure(TASK, played_motion, figure)  # type: ignore[arg-type]
    assert figure.get_size_inches().tolist() == [12.0, 8.4] and steps == range(0, 10, 1)
    panels = np.array(figure.axes).reshape(4, 4)
    shown = [[panel.axison for panel in row] for row in panels]
    assert shown == [[True] * 4, [True] * 4, [True, *[False] * 3], [True, *[False] * 3]]
    robots = [stage.panel for stage in StageOnPaper.made]
    assert robots == [*panels[0], panels[2, 0]]
    assert draw(7) == []
    for env, stage in enumerate(StageOnPaper.made):
        at = 10.0 * env + 7
        assert stage.first == 10.0 * env and stage.shown == [(at, (at, -at, 0.0))]
        below = panels[2 * (env // 4) + 1, env % 4]
        assert list(map(float, below.get_lines()[-1].get_xdata())) == [7 * 0.03] * 2
        assert lines_of(below)[0][0] == [10.0 * env + k for k in range(10)]
        assert (below.get_legend() is not None) == (env == 0)


def test_a_moving_picture_plays_at_the_robots_speed(
    played_motion: PlayedMotion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has 25 frames a second, and at most one for each step."""
    pytest.importorskip("matplotlib.animation")
    import matplotlib

    monkeypatch.setattr(matplotlib, "use", matplotlib.use)
    shown: list[Any] = []
    monkeypatch.setattr("matplotlib.pyplot.figure", lambda **_: Figure())
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: shown.append("shown"))
    monkeypatch.setattr(
        "matplotlib.animation.FuncAnimation",
        lambda figure, draw, frames, interval: shown.append((frames, interval)),
    )
    from matplotlib.figure import Figure

    for step, frames in ((0.03, range(0, 10, 1)), (0.02, range(0, 10, 2)), (0.01, range(0, 10, 4))):
        play_module.show(TASK, replace(played_motion, step=step))  # type: ignore[arg-type]
        assert shown[-1] == "shown" and shown[-2][0] == frames
        assert shown[-2][1] == pytest.approx(1e3 * step * frames.step)


@pytest.mark.parametrize(
    ("variables", "system", "there"),
    [
        ({}, "linux", False),
        ({"DISPLAY": ":0"}, "linux", True),
        ({"WAYLAND_DISPLAY": "w"}, "linux", True),
        ({"DISPLAY": ""}, "linux", False),
        ({}, "darwin", True),
        ({}, "win32", True),
    ],
)
def test_on_screen_detects_a_screen(
    variables: dict[str, str], system: str, there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", system)
    assert play_module.on_screen() is there


class FewSteps:
    """Environments whose numbers count steps: two robots with seven coordinates."""

    num_envs = 2

    def __init__(self, free: bool, carried: dict[str, tuple[int, ...]], step: float = 0.25) -> None:
        model = SimpleNamespace(floating_base=free)
        self.task = SimpleNamespace(model=model, step_seconds=step, name="Hop")
        observation = SimpleNamespace(policy="seen")
        self.kernels = SimpleNamespace(
            observation=observation, observations={"seen": (3,)}, carried=carried, seed=5
        )
        self.steps, self.sizes = -1, carried

    @property
    def carried(self) -> dict[str, Any]:
        """Each value is the step plus a tenth of its index."""
        sizes = {"q": (7,), "v": (6,), **self.sizes}
        return {
            name: torch.tensor(self.steps + 0.1 * np.arange(2 * np.prod(size)).reshape(2, *size))
            for name, size in sizes.items()
        }

    @property
    def observations(self) -> dict[str, Any]:
        return {"seen": torch.full((2, 3), float(self.steps))}

    def reset(self, seed: int) -> None:
        assert seed == 5
        self.steps = 0

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        assert (actions == 10.0 * self.steps).all()
        self.steps += 1
        return None, torch.tensor([self.steps, -1.0]), torch.tensor([True, self.steps == 2]), 0, 0


class Tenfold:
    def check(self, task: object, width: int) -> None:
        assert width == 3

    def __call__(self, seen: np.ndarray) -> np.ndarray:
        return 10.0 * seen


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("width", [None, 2, 3])
@pytest.mark.parametrize("origin", [True, False])
def test_a_roll_out_records_the_state_before_each_step(
    free: bool, width: int | None, origin: bool
) -> None:
    """Rewards are per second. Speeds and commands are recorded only for a free base with three
    commands."""
    carried = {"command": (width,)} if width else {}
    carried |= {"origin": (3,)} if origin else {}
    env = FewSteps(free, carried)
    played = roll_out(env, Tenfold(), 0.7)  # type: ignore[arg-type]
    steps = np.arange(3.0)[:, None, None]
    assert played.step == 0.25 and played.fallen == 3 + 1
    np.testing.assert_allclose(played.q, steps + 0.1 * np.arange(14.0).reshape(2, 7))
    places = steps + 0.1 * np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(played.origins, places if origin else 0 * places)
    if not free or width != 3:
        ((name, (earned, asked)),) = played.shown.items()
        assert name == "reward per second" and asked is None
        np.testing.assert_allclose(earned, [[4.0, -4.0], [8.0, -4.0], [12.0, -4.0]])
        return
    assert list(played.shown) == ["forward [m/s]", "aside [m/s]", "turn [rad/s]"]
    for k, (found, asked) in enumerate(played.shown.values()):
        column = [0, 1, 5][k]
        np.testing.assert_allclose(found, steps[..., 0] + 0.1 * np.array([column, 6 + column]))
        np.testing.assert_allclose(asked, steps[..., 0] + 0.1 * np.array([k, 3 + k]))  # type: ignore[arg-type]


def test_a_roll_out_has_at_least_one_step() -> None:
    assert len(roll_out(FewSteps(False, {}), Tenfold(), 0.01).q) == 1  # type: ignore[arg-type]


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["learning.play"] == {
        "SECONDS": 10.0,
        "FRAMES": 25,
        "MOMENTS": 5,
    }


def test_play_shows_the_picture_on_a_screen(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The viewer is not installed, and no file is requested."""
    shown: list[Any] = []
    monkeypatch.setattr(play_module, "find_spec", lambda name: None)
    monkeypatch.setattr(play_module, "on_screen", lambda: True)
    monkeypatch.setattr(play_module, "show", lambda task, played: shown.append(task.name))
    words = ["play", "cartpole_swing_up", "--policy", str(policy), "--seconds", "0.1"]
    assert main(words) == 0 and shown == ["CartpoleSwingUp"]


def test_a_viewer_that_cannot_be_imported_is_reported_in_one_line(
    policy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(play_module, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "warpdyn.viewer", None)
    assert main(["play", "cartpole_swing_up", "--policy", str(policy)]) == 2
    assert "warpdyn.viewer" in capsys.readouterr().err
