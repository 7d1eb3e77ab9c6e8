"""`warpdyn sim2sim`: a table that compares both simulations."""

from __future__ import annotations

from pathlib import Path

import pytest
from module_numbers import module_numbers

from warpdyn.cli.main import main

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("mujoco")
from rl_cases import barely_trained


def test_sim2sim_prints_a_table_of_both_simulations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The numbers are those of `rl.sim2sim`. A step that does not fit is reported in one line."""
    policy = str(barely_trained(rl.make("cartpole_swing_up"), tmp_path / "cartpole.onnx"))
    words = ["sim2sim", "cartpole_swing_up", "--policy", policy, "--envs", "4", "--seconds", "0.4"]
    assert main(words) == 0
    out = capsys.readouterr().out
    seen = rl.sim2sim("cartpole_swing_up", policy, envs=4, seconds=0.4)
    assert "MuJoCo, 2.5 ms" in out and "without noise" in out
    assert f"{seen.there.rewards['swing_up']:.4f}" in out
    assert f"kept in MuJoCo C: {seen.return_ratio:.1%} of the return" in out.replace("\n", " ")
    assert seen.return_ratio == pytest.approx(1.0, abs=0.05)
    assert main([*words, "--dt", "0.003"]) == 2
    assert "dt must divide the task's step, 0.04 s" in capsys.readouterr().err


def test_no_share_is_printed_for_a_nonpositive_return(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = str(barely_trained(rl.make("cartpole_swing_up"), tmp_path / "cartpole.onnx"))
    nothing = rl.Evaluation(4, 0.4, -0.1, {}, {}, {}, 0.0, 0.4)
    monkeypatch.setattr(rl, "sim2sim", lambda *_, **__: rl.SideBySide(nothing, nothing, 0.002))
    assert main(["sim2sim", "cartpole_swing_up", "--policy", policy]) == 0
    said = capsys.readouterr().out.replace("\n", " ")
    assert "no share, because the return in warpdyn is not positive" in said and "nan" not in said


def test_sim2sim_without_mujoco_says_what_to_install(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch
) -> None:  # type: ignore[no-untyped-def]
    policy = str(barely_trained(rl.make("cartpole_swing_up"), tmp_path / "cartpole.onnx"))
    monkeypatch.setattr("warpdyn.rl.adapters.mujoco_env.find_spec", lambda name: None)
    assert main(["sim2sim", "cartpole_swing_up", "--policy", policy]) == 2
    assert "MuJoCo is not installed: pip install mujoco" in capsys.readouterr().err


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["learning.sim2sim"] == {
        "LONG": 10.0,
    }
