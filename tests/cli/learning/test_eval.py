"""`warpdyn eval`: the table of a policy, and one line for a mistake."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warpdyn.cli.main import main

rl = pytest.importorskip("warpdyn.rl")
from policy_files import linear_policy
from rl_cases import Hold, barely_trained


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policy") / "cartpole.onnx"
    return str(barely_trained(rl.make("cartpole_swing_up"), path))


def test_a_table_of_what_it_earns(policy: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The figures of `rl.evaluate`."""
    words = ["--envs", "8", "--seconds", "1", "--seed", "5"]
    assert main(["eval", "cartpole_swing_up", "--policy", policy, *words]) == 0
    out = capsys.readouterr().out
    seen = rl.evaluate("cartpole_swing_up", policy, envs=8, seconds=1.0, seed=5)
    assert "CartpoleSwingUp: cartpole.onnx in 8 environments, 1 s each" in out
    assert f"{seen.returned:.3f}" in out and f"{seen.rewards['swing_up']:.4f}" in out
    assert "0.0%" in out and "1.00" in out


def test_actions_that_are_not_finite_are_reported(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row of their number, which a sound policy's table does not have."""
    width = rl.Policy(policy).width
    odd = linear_policy(tmp_path / "odd.onnx", np.full((width, 1), np.nan))
    for path, reported in ((str(odd), True), (policy, False)):
        words = ["--policy", path, "--envs", "8", "--seconds", "0.2"]
        assert main(["eval", "cartpole_swing_up", *words]) == 0
        rows = [x for x in capsys.readouterr().out.splitlines() if "NaN or infinite" in x]
        assert len(rows) == reported and all(" 8 " in x for x in rows)


def test_mistakes_are_one_line(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another task's policy, a file that is none or not there, a time that is too long."""
    other = str(barely_trained(Hold(), tmp_path / "hold.onnx"))
    (tmp_path / "text.onnx").write_text("nothing")
    wrong = {
        (
            "eval",
            "cartpole_swing_up",
            "--policy",
            other,
        ): "hold.onnx is of the task Hold and the robot double_pendulum",
        ("eval", "cartpole_swing_up", "--policy", str(tmp_path / "text.onnx")): "is no ONNX policy",
        ("eval", "cartpole_swing_up", "--policy", "none.onnx"): "none.onnx: no such policy file",
        ("eval", "cartpole"): "there is no task 'cartpole'; there are cartpole_swing_up",
        ("eval", "cartpole_swing_up", "--policy", policy, "--seconds", "99"): "lasts 10 s: seconds",
    }
    for words, text in wrong.items():
        assert main([*words]) == 2
        error = capsys.readouterr().err
        assert text in error and error.count("\n") == 1, error
