"""Bundled policies: each belongs to its task, is small, and records how it was made."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.bundled_policies import policies


def test_each_bundled_policy_belongs_to_its_task() -> None:
    """It is below 1 MB and records the command and the commit that made it, without local paths."""
    for name, path in policies().items():
        task, policy = rl.make(name), rl.Policy(path)
        assert path.stat().st_size < 1_000_000
        assert rl.bundled_policy(name) == path and rl.bundled_policy(task) == path
        assert policy.about["task"] == task.name and policy.about["robot"] == task.model.name
        assert policy.about["command"].startswith("warpdyn train")
        assert len(policy.about["commit"]) >= 7 and "/" not in policy.about["command"].split()[1]
        assert not any(word.startswith("/") for word in policy.about["command"].split())
        kernels = rl.VecEnv(task, 1).kernels
        policy.check(task, kernels.observations[kernels.observation.policy][0])


def test_a_task_without_a_bundled_policy_is_refused_with_the_remedy() -> None:
    with pytest.raises(rl.TaskError, match=r"no policy of Hold comes with warpdyn.*--policy"):
        rl.bundled_policy(Hold())
    with pytest.raises(rl.TaskError, match="no policy of quadruped comes with warpdyn"):
        rl.bundled_policy("quadruped")


def test_bundled_policies_are_found_by_the_names_of_their_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        import_module("warpdyn.rl.bundled_policies"), "files", lambda package: tmp_path
    )
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "cartpole_swing_up.onnx").write_bytes(b"")
    assert rl.bundled_policy("cartpole_swing_up") == folder / "cartpole_swing_up.onnx"
    assert rl.bundled_policy(rl.make("cartpole_swing_up")) == folder / "cartpole_swing_up.onnx"
    with pytest.raises(rl.TaskError, match=r"comes with warpdyn \(cartpole_swing_up\): train one"):
        rl.bundled_policy("quadruped_velocity")
