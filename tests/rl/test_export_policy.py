"""Export of policies to files."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold


@pytest.mark.parametrize("activation", ["elu", "relu", "silu", "tanh"])
def test_an_exported_policy_gives_the_trainers_actions(tmp_path: Path, activation: str) -> None:
    """The file contains the normalisation of observations and a description of the training."""
    recipe = replace(Hold.recipe, activation=activation)
    trainer = rl.Trainer(Hold(), recipe=recipe, seed=4)
    list(trainer.run(iterations=2))
    rl.export(trainer, tmp_path / "hold.onnx")
    policy = rl.Policy(tmp_path / "hold.onnx")
    seen = torch.randn(7, 6)
    with torch.no_grad():
        assert np.allclose(policy(seen.numpy()), trainer.policy()(seen), atol=1e-6)
    assert policy(seen[0].numpy()).shape == (2,) and policy.width == 6
    assert policy.about["task"] == "Hold" and policy.about["robot"] == "double_pendulum"
    assert policy.about["seed"] == 4 and policy.about["iterations"] == 2


def test_the_recorded_command_omits_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder is local to one machine and does not change the policy."""
    trainer = rl.Trainer(Hold(), seed=4)
    for folder in (["--folder", "/home/me/runs"], ["--folder=/home/me/runs"]):
        monkeypatch.setattr(sys, "argv", ["warpdyn", "train", "hold", *folder, "--seed", "4"])
        rl.export(trainer, tmp_path / "hold.onnx")
        about = rl.Policy(tmp_path / "hold.onnx").about
        assert about["command"] == "warpdyn train hold --seed 4"


def test_the_recorded_command_has_only_file_names_of_other_policies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = rl.Trainer(Hold(), seed=4)
    words = ["--teacher", "/home/me/t.onnx", "--init=/home/me/first.onnx"]
    monkeypatch.setattr(sys, "argv", ["warpdyn", "train", "hold", *words])
    rl.export(trainer, tmp_path / "hold.onnx")
    about = rl.Policy(tmp_path / "hold.onnx").about
    assert about["command"] == "warpdyn train hold --teacher t.onnx --init=first.onnx"
    assert "teacher" not in about


def test_the_record_has_the_randomisation_of_the_training(tmp_path: Path) -> None:
    """Both when the file is exported and when its record is written again."""
    recipe = replace(Hold.recipe, vary=rl.SIM_TO_REAL)
    trainer, path = rl.Trainer(Hold(), recipe=recipe), tmp_path / "hold.onnx"
    list(trainer.run(iterations=1))
    rl.export(trainer, path)
    written = rl.Policy(path).deployment
    assert written["varied in training"]["latency"]["high"] == 0.03
    assert set(written["varied in training"]) == set(trainer.env.task.vary)
    rl.describe(Hold(), path)
    assert rl.Policy(path).deployment == written
    rl.export(rl.Trainer(Hold()), path)
    assert set(rl.Policy(path).deployment["varied in training"]) == set(Hold.vary)
