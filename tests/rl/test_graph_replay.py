"""Replay of GPU graphs: what runs when, and the same training as without a graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.rl.graph_replay import GraphReplay

ITERATIONS = 4
TOLERANCE = 1e-3
"""Relative difference of rewards and weights, because a GPU may sum in a different order."""


class Count:
    """A function that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        return self.calls


def test_on_the_cpu_each_call_runs_the_function() -> None:
    replay = GraphReplay(Count(), "cpu")
    assert [replay() for _ in range(4)] == [1, 2, 3, 4]


def test_calls_first_run_then_capture_then_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch's graphs are replaced by stand-ins.

    A capture runs the function in Python, a replay does not.
    """
    events: list[str] = []

    @contextmanager
    def block(name: str) -> Iterator[None]:
        events.append(name)
        yield

    stream = SimpleNamespace(wait_stream=lambda other: None)
    monkeypatch.setattr(torch.cuda, "Stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda _: block("aside"))
    monkeypatch.setattr(torch.cuda, "graph", lambda graph, stream: block("capture"))
    monkeypatch.setattr(
        torch.cuda, "CUDAGraph", lambda: SimpleNamespace(replay=lambda: events.append("replay"))
    )
    replay = GraphReplay(count := Count(), "cuda:0")
    assert [replay() for _ in range(4)] == [1, 2, 2, 2] and count.calls == 2
    assert events == ["aside", "capture", "replay", "replay", "replay"]
    replay.forget()
    assert [replay() for _ in range(3)] == [3, 4, 4]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that Torch can use")
def test_a_training_with_graphs_equals_one_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rewards and weights agree for equal random numbers."""

    def train() -> tuple[list[float], list[torch.Tensor]]:
        task = rl.make("cartpole_swing_up")
        recipe = replace(task.recipe, envs=256, steps=8, precision="float32")
        trainer = rl.Trainer(task, recipe=recipe, seed=1, device="cuda:0")
        torch.cuda.manual_seed(1)
        rewards = [progress.reward for progress in trainer.run(iterations=ITERATIONS)]
        return rewards, [x.detach().clone() for x in trainer.learner.actor.parameters()]

    replayed = train()
    monkeypatch.setattr(GraphReplay, "__call__", lambda self: self._function())
    plain = train()
    assert replayed[0] == pytest.approx(plain[0], rel=TOLERANCE)
    for x, y in zip(replayed[1], plain[1], strict=True):
        torch.testing.assert_close(x, y, rtol=TOLERANCE, atol=TOLERANCE)
