"""`warpdyn train`: a policy of a few iterations, going on, one line for a mistake."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from warpdyn.cli.main import main

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.cli.learning import train


def test_a_policy_is_trained_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = ["train", "cartpole_swing_up", "--envs", "16", "--folder", str(folder)]
    assert main([*words, "--minutes", "0.01"]) == 0
    assert "CartpoleSwingUp:" in capsys.readouterr().out
    policy = rl.Policy(folder / "policy.onnx")
    assert policy.about["task"] == "CartpoleSwingUp" and policy.width == 5
    lines = len((folder / "curve.jsonl").read_text().splitlines())
    assert main([*words, "--minutes", "0.02"]) == 0
    assert len((folder / "curve.jsonl").read_text().splitlines()) > lines


def test_iterations_are_counted_instead_of_minutes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of earlier runs in the folder too."""
    words = ["train", "cartpole_swing_up", "--envs", "16", "--folder", str(tmp_path)]
    for count in ("2", "3"):
        assert main([*words, "--iterations", count]) == 0
        assert len((tmp_path / "curve.jsonl").read_text().splitlines()) == int(count)
    assert main([*words, "--iterations", "3"]) == 2
    assert "is trained for 3 iterations or more already" in capsys.readouterr().err


def test_a_gpu_without_torch_on_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Warp's GPU is a stand-in. The training runs on the CPU and says so; a named GPU is refused."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(train, "choose_device", lambda name: name or "cuda:0")
    words = ["train", "cartpole_swing_up", "--envs", "16", "--iterations", "1", "--folder"]
    assert main([*words, str(tmp_path / "a")]) == 0
    told = _one_line(capsys.readouterr().out)
    assert "training on the CPU: Warp finds cuda:0, but Torch" in told
    assert main([*words, str(tmp_path / "b"), "--device", "cuda:0"]) == 2
    assert "and a training on cuda:0 needs it" in _one_line(capsys.readouterr().err)


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "cartpole", "--folder", str(tmp_path)]) == 2
    assert "there is no task 'cartpole'; there are cartpole_swing_up" in capsys.readouterr().err
    words = ["train", "cartpole_swing_up", "--envs", "8", "--folder", str(tmp_path / "a")]
    assert main([*words, "--minutes", "0.005"]) == 0
    assert main([*words, "--minutes", "0.005", "--seed", "1"]) == 2
    assert (
        "is of another training, with seed 0 instead of 1; choose another folder"
        in capsys.readouterr().err
    )


def test_curves_are_written_for_tensorboard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside the checkpoints; without its package one line says what to install."""
    words = ["train", "cartpole_swing_up", "--envs", "16", "--minutes", "0.005"]
    log = [*words, "--logger", "tensorboard", "--folder", str(tmp_path / "a")]
    assert main(log) == 0
    assert f"curves: tensorboard --logdir {tmp_path / 'a'}" in _one_line(capsys.readouterr().out)
    assert list((tmp_path / "a").glob("events.out.tfevents.*"))
    monkeypatch.delitem(sys.modules, "warpdyn.rl.adapters.tensorboard_log", raising=False)
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    assert main([*log[:-1], str(tmp_path / "b")]) == 2
    told = _one_line(capsys.readouterr().err)
    assert "a log for TensorBoard needs tensorboard, which is not installed: pip install" in told


def _one_line(text: str) -> str:
    """What the command says, which it breaks where the screen ends."""
    return " ".join(text.split())
