"""The judge of policies. It shares no code with warpdyn, and measures a policy's results."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("onnxruntime")

from benchmarks.rl import judge
from benchmarks.rl.judge_policy import POLICIES, RecordedPolicy, run

ROOT = Path(__file__).resolve().parents[2]


def test_the_judge_imports_nothing_from_warpdyn() -> None:
    """A new process judges one policy and then lists its modules."""
    code = (
        "import sys; from benchmarks.rl import judge\n"
        "assert judge.swinging_up(judge.POLICIES / 'cartpole_swing_up.onnx', 2)['reached'] == 1\n"
        "print([m for m in sys.modules if m.startswith('warpdyn')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_bundled_policy_has_a_judge() -> None:
    names = {path.stem.removesuffix("_onboard") for path in POLICIES.glob("*.onnx")}
    assert names == set(judge.JUDGES)


def test_a_program_runs_for_many_robots() -> None:
    steps = [["t0", "mul", 2.0, "q[1]"], ["t1", "where_less", "t0", 1.0, "q[0]", "action[0]"]]
    program = {"steps": steps, "results": {"targets": ["t1", 0.5, "t0"]}}
    q, action = np.array([[3.0, 0.25], [3.0, 4.0]]), np.array([[7.0], [8.0]])
    found = run(program, {"q": q, "action": action})["targets"]
    assert found.tolist() == [[3.0, 0.5, 0.5], [8.0, 0.5, 8.0]]


def test_a_hand_without_its_policy_reaches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The arm reaches its targets with the policy. An arm at rest does not."""
    path = POLICIES / "panda_reach.onnx"
    assert judge.reaching(path, 4)["reached"] == 1.0
    step = RecordedPolicy.step

    def rest(self: RecordedPolicy, q: np.ndarray, v: np.ndarray) -> dict:
        return {**step(self, q, v), "targets": q}

    monkeypatch.setattr(RecordedPolicy, "step", rest)
    assert judge.reaching(path, 4)["reached"] == 0.0


def test_a_program_looks_up_a_table() -> None:
    """Rows outside of it are the first and the last one, and row numbers are truncated."""
    program = {"steps": [["t0", "look", "clip", "q[0]", 1.0]], "results": {"targets": ["t0"]}}
    q, action = np.array([[-3.0], [0.0], [1.9], [7.0]]), np.zeros((4, 1))
    tables = {"clip": np.array([[0.0, 10.0], [1.0, 11.0], [2.0, 12.0]])}
    found = run(program, {"q": q, "action": action}, tables)["targets"]
    assert found.tolist() == [[10.0], [10.0], [11.0], [12.0]]
