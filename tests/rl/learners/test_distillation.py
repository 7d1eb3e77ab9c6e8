"""Distillation: which network acts, what a student learns, and what a checkpoint contains."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.rl.learners.distillation import Distillation
from warpdyn.rl.learners.networks import Network, Normalizer

ENVS, STEPS, ACTIONS = 64, 4, 2
RECIPE = rl.Recipe(
    envs=ENVS, steps=STEPS, layers=(32,), precision="float32", learning_rate=1e-2, epochs=4
)


def observations() -> dict[str, torch.Tensor]:
    """The student sees the teacher's numbers scaled and shifted, and one random number."""
    seen = torch.randn(ENVS, 3)
    return {"policy": torch.cat([3.0 * seen + 1.0, torch.randn(ENVS, 1)], 1), "critic": seen}


def learner(recipe: Any = RECIPE, seed: int = 0) -> Any:
    torch.manual_seed(9)
    teacher = Network(Normalizer(3), ACTIONS, (8,), "tanh")
    torch.manual_seed(seed)
    return Distillation(observations(), ACTIONS, recipe, rl.Processes(), teacher)


def iteration(student: Any) -> list[torch.Tensor]:
    """The student's actions of an iteration, and the teacher's for the same observations."""
    nothing, actions = torch.zeros(ENVS), []
    for _ in range(STEPS):
        seen = observations()
        actions += [student.act(seen), student.teacher(seen["critic"])]
        student.record(nothing, nothing, nothing)
    student.update(seen)
    return actions


def test_the_teacher_acts_in_the_first_iteration_the_student_afterwards() -> None:
    student = learner()
    first, second = iteration(student), iteration(student)
    assert all(torch.equal(x, y) for x, y in zip(first[::2], first[1::2], strict=True))
    assert not any(torch.equal(x, y) for x, y in zip(second[::2], second[1::2], strict=True))
    assert student.deviation == 0.0


def test_a_student_learns_the_teachers_actions() -> None:
    """The reported distance is that of the iteration's actions, and it falls."""
    student = learner()
    iteration(student)
    actions = iteration(student)
    off = torch.stack([x - y for x, y in zip(actions[::2], actions[1::2], strict=True)])
    assert student.teacher_distance == pytest.approx(float(off.square().mean().sqrt()), rel=1e-4)
    first = student.teacher_distance
    for _ in range(40):
        iteration(student)
    assert student.teacher_distance < 0.1 * first
    seen = observations()
    off = student.policy()(seen["policy"]) - student.teacher(seen["critic"])
    assert off.square().mean().sqrt() < 0.15 * student.teacher(seen["critic"]).std()


def test_the_teachers_weights_do_not_change() -> None:
    student = learner()
    before = [x.clone() for x in student.teacher.state_dict().values()]
    iteration(student)
    after = student.teacher.state_dict().values()
    assert all(torch.equal(x, y) for x, y in zip(before, after, strict=True))


def test_a_restored_student_continues_with_the_same_bits() -> None:
    whole = learner()
    iteration(whole)
    state = deepcopy(whole.state())
    other = learner(seed=3)
    other.restore(state)
    for each in (whole, other):
        torch.manual_seed(5)
        iteration(each)
    pairs = zip(*(x.policy().state_dict().values() for x in (whole, other)), strict=True)
    assert all(torch.equal(x, y) for x, y in pairs)


def test_bfloat16_applies_to_hidden_layers_only() -> None:
    """The student learns with it, and its weights stay float32."""
    student = learner(rl.Recipe(**{**RECIPE.as_dict(), "precision": "bfloat16", "vary": None}))
    for _ in range(20):
        iteration(student)
    assert student.policy().last.weight.dtype == torch.float32
    assert student.teacher_distance < 0.5


def test_a_student_takes_over_the_weights_of_a_policy() -> None:
    """The normalisation of its observations is taken over, too."""
    first, second = learner(), learner(seed=3)
    iteration(first)
    seen = observations()["policy"]
    second.use_policy(first.policy())
    assert torch.equal(second.policy()(seen), first.policy()(seen))


def test_several_processes_start_with_the_weights_of_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = learner()
    sent = iter([*first.student.parameters(), *first.student.buffers()])

    def broadcast(x: torch.Tensor, src: int) -> None:
        assert src == 0
        x.copy_(next(sent))

    monkeypatch.setattr(torch.distributed, "broadcast", broadcast)
    torch.manual_seed(3)
    second = Distillation(observations(), ACTIONS, RECIPE, rl.Processes(2, 1), first.teacher)
    assert not list(sent)
    pairs = zip(*(x.policy().state_dict().values() for x in (first, second)), strict=True)
    assert all(torch.equal(x, y) for x, y in pairs)
