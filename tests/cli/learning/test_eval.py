"""`warpdyn eval`: the table of a policy's results, and one line for a mistake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from warpdyn.cli.learning.eval import describe_evaluation, print_table
from warpdyn.cli.main import main

rl = pytest.importorskip("warpdyn.rl")
from policy_files import linear_policy
from printed import printed_rows
from rl_cases import Hold, barely_trained


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("policy") / "cartpole.onnx"
    return str(barely_trained(rl.make("cartpole_swing_up"), path))


def test_eval_prints_a_table_of_the_results(
    policy: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The numbers are those of `rl.evaluate`."""
    words = ["--envs", "8", "--seconds", "1", "--seed", "5"]
    assert main(["eval", "cartpole_swing_up", "--policy", policy, *words]) == 0
    out = capsys.readouterr().out
    seen = rl.evaluate("cartpole_swing_up", policy, envs=8, seconds=1.0, seed=5)
    assert "CartpoleSwingUp: cartpole.onnx in 8 environments, 1 s each" in out
    assert f"{seen.returned:.3f}" in out and f"{seen.rewards['swing_up']:.4f}" in out
    assert "0.0%" in out and "1.00" in out


def test_nonfinite_actions_are_reported(
    policy: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row has their number. The table of a good policy has no such row."""
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
    """They are a policy of another task, a bad or missing file, and a time that is too long."""
    other = str(barely_trained(Hold(), tmp_path / "hold.onnx"))
    (tmp_path / "text.onnx").write_text("nothing")
    wrong = {
        (
            "eval",
            "cartpole_swing_up",
            "--policy",
            other,
        ): "hold.onnx was trained in the task Hold with the robot double_pendulum",
        (
            "eval",
            "cartpole_swing_up",
            "--policy",
            str(tmp_path / "text.onnx"),
        ): "is not an ONNX policy",
        ("eval", "cartpole_swing_up", "--policy", "none.onnx"): "none.onnx: no such policy file",
        ("eval", "cartpole"): "there is no task 'cartpole'; did you mean 'cartpole_swing_up'?",
        ("eval", "cartpole_swing_up", "--policy", policy, "--seconds", "99"): "lasts 10 s: seconds",
    }
    for words, text in wrong.items():
        assert main([*words]) == 2
        error = capsys.readouterr().err
        assert text in error and error.count("\n") == 1, error


SEEN = rl.Evaluation(
    *(
        4,
        2.5,
        1.25,
        {"upright": 1.5, "effort [W]": -0.25},
        {"height [m]": 0.5},
        {"height [m]": 0.75},
    ),
    falls=0.125,
    length=2.25,
)
FAILED = replace(SEEN, returned=-3.0, falls=1.0, nonfinite_actions=12345, failed=2)


def test_every_number_of_an_evaluation_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each evaluation has a column. Failures have rows only if there are some."""
    print_table("a title", {"one": SEEN, "two": FAILED})
    out = capsys.readouterr().out
    assert out.startswith("a title\n")
    rows = [
        ["per second", "one", "two"],
        ["return", "1.250", "-3.000"],
        ["upright", "1.5000", "1.5000"],
        ["effort [W]", "-0.2500", "-0.2500"],
        ["height [m]", "0.5000", "0.5000"],
        ["at the end", "0.7500", "0.7500"],
        ["ended before their time", "12.5%", "100.0%"],
        ["length of episodes [s]", "2.25", "2.25"],
        ["actions that are NaN or infinite", "0", "12,345"],
        ["episodes with a state that is not finite", "0", "2"],
    ]
    assert printed_rows(out) == rows
    print_table("", {"mean": replace(SEEN, measures={}, last={})})
    shown = [row[:2] for row in rows[:4] + rows[6:8]]
    assert printed_rows(capsys.readouterr().out) == [["per second", "mean"], *shown[1:]]


def test_evaluations_under_disturbances_are_printed(
    policy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """--disturb requests them, in warpdyn or in MuJoCo. --mujoco without it is refused."""
    asked: list[tuple[str, int]] = []

    def evaluate_disturbed(
        task: object, policy: object, **options: object
    ) -> dict[str, rl.Evaluation]:
        asked.append((options["simulator"], options["envs"]))
        return {"none": SEEN, "a push": FAILED}

    monkeypatch.setattr(rl, "evaluate_disturbed", evaluate_disturbed)
    words = ["eval", "cartpole_swing_up", "--policy", policy, "--envs", "8"]
    for more, where in (([], "warpdyn"), (["--mujoco"], "MuJoCo C")):
        assert main([*words, "--disturb", *more]) == 0
        out = capsys.readouterr().out
        assert f"CartpoleSwingUp in {where}: cartpole.onnx in 4 environments, 2.5 s each" in out
        assert printed_rows(out) == [
            ["disturbance", "falls", "return per second", "length of episodes [s]"],
            ["none", "12.5%", "1.250", "2.25"],
            ["a push", "100.0%", "-3.000", "2.25"],
        ]
    assert asked == [("warpdyn", 8), ("mujoco", 8)]
    assert main([*words, "--mujoco"]) == 2
    assert "--mujoco needs --disturb; warpdyn sim2sim compares" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("about", "end"),
    [
        ({}, ""),
        ({"command": "train x"}, ", made by train x at unknown"),
        ({"command": "train x", "commit": "1a2b"}, ", made by train x at 1a2b"),
        ({"commit": "1a2b"}, ""),
    ],
)
def test_the_description_of_a_policy_has_its_training(about: dict[str, str], end: str) -> None:
    made = SimpleNamespace(about=about, path=Path("a/p.onnx"))
    assert describe_evaluation(made, SEEN) == f"p.onnx in 4 environments, 2.5 s each{end}"  # type: ignore[arg-type]
