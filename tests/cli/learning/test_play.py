"""`warpdyn play`: files of what robots do, and what is recorded of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpdyn.cli.main import main

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("matplotlib")
from rl_cases import barely_trained

from warpdyn.cli.learning.play import roll_out
from warpdyn.rl.pictures.robot_stage import Stage


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "cartpole.onnx"
    return barely_trained(rl.make("cartpole_swing_up"), path)


def test_a_moving_picture_and_a_still_one(
    policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As many pictures as there are steps, of 0.04 s each; drawn, and not all alike."""
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


def test_without_a_screen_it_is_a_file(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And without the viewer: named by the task, where the command runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("warpdyn.cli.learning.play.find_spec", lambda name: None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    words = ["--policy", str(policy), "--envs", "1", "--seconds", "0.08"]
    assert main(["play", "cartpole_swing_up", *words]) == 0
    assert (tmp_path / "cartpole_swing_up.gif").stat().st_size > 1000


def test_what_was_commanded_is_recorded() -> None:
    """Of a robot that follows commands, which grow from none: beside the speeds of its base."""
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


def test_a_file_that_cannot_be_written_is_refused_first(
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
def test_a_robot_with_a_free_base_is_followed(task: str, follows: bool) -> None:
    """Else the picture stays where the middle of all moments is."""
    from matplotlib.figure import Figure

    centres: list[np.ndarray] = []

    class Drawn:
        """Notes where the picture looks."""

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
    stage = Stage(made, Drawn(), Figure().add_subplot(), poses.reshape(-1, 4, 4))  # type: ignore[arg-type]
    for each in poses:
        stage.show(each, np.zeros(3))
    wanted = [0.5, 3.0] if follows else [2.25, 2.25]
    assert np.allclose([centre[0] for centre in centres], wanted)
