"""Curves for Weights & Biases, with a stand-in for its package."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

NAME = "warpdyn.rl.adapters.wandb_log"


class Run:
    def __init__(self, **given: Any) -> None:
        self.given, self.logged, self.ended = given, [], False

    def log(self, values: dict[str, float], step: int) -> None:
        self.logged.append((step, values))

    def finish(self) -> None:
        self.ended = True


def test_each_iteration_is_logged_and_resuming_continues_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[Run] = []

    def init(**given: Any) -> Run:
        assert Path(given["dir"]).is_dir()
        runs.append(Run(**given))
        return runs[-1]

    monkeypatch.delitem(sys.modules, NAME, raising=False)
    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=init))  # type: ignore[arg-type]
    from warpdyn.rl.adapters.wandb_log import WandbLog

    trainer = rl.Trainer(Hold(), seed=3)
    log = WandbLog(trainer, tmp_path)
    trainer.loggers.append(log)
    curve = list(trainer.run(iterations=2))
    log.close()
    assert [step for step, _ in runs[0].logged] == [x.steps for x in curve] and runs[0].ended
    assert runs[0].logged[1][1]["reward of a second/all environments"] == curve[1].reward
    assert runs[0].given["config"]["seed"] == 3 and runs[0].given["resume"] == "allow"
    WandbLog(trainer, tmp_path)
    WandbLog(trainer, tmp_path / "other")
    ids = [run.given["id"] for run in runs]
    assert ids[0] == ids[1] != ids[2]
    monkeypatch.delitem(sys.modules, NAME)


def test_a_missing_wandb_package_is_reported_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ImportError, match=r"needs wandb, which is not installed: pip.*\[wandb\]"):
        __import__(NAME, fromlist=["WandbLog"])
