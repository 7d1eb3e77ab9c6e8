"""Distillation: who acts, what a student learns, and what a checkpoint holds."""

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
    """The student sees the teacher's numbers times three, and one that is nothing to it."""
    seen = torch.randn(ENVS, 3)
    return {"policy": torch.cat([3.0 * seen + 1.0, torch.randn(ENVS, 1)], 1), "critic": seen}


def learner(recipe: Any = RECIPE, seed: int = 0) -> Any:
    torch.manual_seed(9)
    teacher = Network(Normalizer(3), ACTIONS, (8,), "tanh")
    torch.manual_seed(seed)
    return Distillation(observations(), ACTIONS, recipe, rl.Processes(), teacher)


def iteration(student: Any) -> list[torch.Tensor]:
    """The actions of an iteration, and the teacher's."""
    nothing, actions = torch.zeros(ENVS), []
    for _ in range(STEPS):
        seen = observations()
        actions += [student.act(seen), student.teacher(seen["critic"])]
        student.record(nothing, nothing, nothing)
    student.update(seen)
    return actions


def test_the_teacher_acts_in_the_first_iteration_and_then_the_student() -> None:
    student = learner()
    first, second = iteration(student), iteration(student)
    assert all(torch.equal(x, y) for x, y in zip(first[::2], first[1::2], strict=True))
    assert not any(torch.equal(x, y) for x, y in zip(second[::2], second[1::2], strict=True))
    assert student.deviation == 0.0


def test_a_student_comes_to_act_as_its_teacher() -> None:
    """The distance of an iteration is that of its actions, and it falls."""
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


def test_the_teacher_stays_as_it_is() -> None:
    student = learner()
    before = [x.clone() for x in student.teacher.state_dict().values()]
    iteration(student)
    after = student.teacher.state_dict().values()
    assert all(torch.equal(x, y) for x, y in zip(before, after, strict=True))


def test_a_restored_student_goes_on_with_equal_bytes() -> None:
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


def test_bfloat16_changes_hidden_layers_only() -> None:
    """Both precisions learn; the networks stay in float32."""
    student = learner(rl.Recipe(**{**RECIPE.as_dict(), "precision": "bfloat16", "vary": None}))
    for _ in range(20):
        iteration(student)
    assert student.policy().last.weight.dtype == torch.float32
    assert student.teacher_distance < 0.5
