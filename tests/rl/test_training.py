"""Training: equal bits for equal seeds, resuming from checkpoints, and what checkpoints record."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from pushed_box import PushedBox
from rl_cases import Hold

import warpdyn as wd
from warpdyn.rl import training


def weights(trainer: object) -> list[torch.Tensor]:
    return [x.clone() for x in trainer.policy().state_dict().values()]  # type: ignore[attr-defined]


def test_two_runs_with_one_seed_have_equal_weights() -> None:
    """They agree in all bits. Another seed gives others."""
    found = []
    for seed in (0, 0, 1):
        trainer = rl.Trainer(Hold(), seed=seed)
        *_, last = trainer.run(iterations=4)
        found.append(weights(trainer))
        assert last.iteration == 4 and last.steps == 4 * 6 * 16
    assert all(torch.equal(x, y) for x, y in zip(found[0], found[1], strict=True))
    assert not all(torch.equal(x, y) for x, y in zip(found[0], found[2], strict=True))


def test_a_killed_training_resumes_from_its_last_checkpoint(tmp_path: Path) -> None:
    """It has the same curve and the same weights as one that was not killed."""
    whole = rl.Trainer(Hold(), seed=2)
    curve = list(whole.run(iterations=5))
    killed = rl.Trainer(Hold(), seed=2, folder=tmp_path)
    for progress in killed.run(iterations=5, save_every=3):
        if progress.iteration == 4:  # after the checkpoint, before the end
            break
    resumed = rl.Trainer(Hold(), seed=2, folder=str(tmp_path))
    assert resumed.iteration == 3
    after = list(resumed.run(iterations=5))
    assert [x.iteration for x in after] == [4, 5]
    for x, y in zip(curve[3:], after, strict=True):
        assert (x.reward, x.rewards, x.length) == (y.reward, y.rewards, y.length)
    assert all(torch.equal(x, y) for x, y in zip(weights(whole), weights(resumed), strict=True))
    lines = (tmp_path / "curve.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == [1, 2, 3, 4, 5]


def test_a_training_on_a_gpu_resumes_with_the_random_numbers_of_the_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Actions are drawn on the GPU, whose generator began anew. No GPU is needed here."""
    states = {"cuda:1": torch.arange(16, dtype=torch.uint8)}
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: states[device])
    restored: dict[str, torch.Tensor] = {}
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda x, device: restored.update({device: x}))
    trainer = rl.Trainer(Hold(), seed=2, folder=tmp_path)
    trainer.env.device = "cuda:1"
    trainer.save()
    trainer._resume(tmp_path)
    assert torch.equal(restored["cuda:1"], states["cuda:1"])


def test_a_trainer_refuses_the_name_of_a_task() -> None:
    with pytest.raises(TypeError, match=r"got str; rl.make\('cartpole_swing_up'\) makes one"):
        rl.Trainer("cartpole_swing_up")


def test_a_training_with_contact_pairs_resumes(tmp_path: Path) -> None:
    """The impulses of its pairs are restored. Other contact properties are refused."""
    recipe = rl.Recipe(envs=8, steps=5, epochs=1, batches=2, layers=(8,))

    def trainer(folder: Path | None, task: Any = None) -> Any:
        return rl.Trainer(task or PushedBox(), recipe=recipe, seed=1, folder=folder)

    whole = trainer(None)
    curve = [x.reward for x in whole.run(iterations=4)]
    list(trainer(tmp_path).run(iterations=2))
    resumed = trainer(tmp_path)
    assert [x.reward for x in resumed.run(iterations=4)] == curve[2:]
    assert all(torch.equal(x, y) for x, y in zip(weights(whole), weights(resumed), strict=True))
    slow = PushedBox()
    slow.pair_contact = wd.description.PairContact(dissipation=0.1)
    with pytest.raises(rl.TaskError, match=r"with pair_contact dissipation 0.005 instead of 0.1;"):
        trainer(tmp_path, slow)


KILLED = """
import os, signal, sys
from pathlib import Path
from rl_cases import Hold
from warpdyn import rl
for progress in rl.Trainer(Hold(), seed=2, folder=Path(sys.argv[1])).run(iterations=5, save_every=2):
    if progress.iteration == 3:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_training_killed_by_a_signal_resumes_in_another_process(tmp_path: Path) -> None:
    """SIGKILL ends the process between two checkpoints."""
    found = {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], env=os.environ | found, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    whole = rl.Trainer(Hold(), seed=2)
    curve = [(x.reward, x.rewards) for x in whole.run(iterations=4)]
    resumed = rl.Trainer(Hold(), seed=2, folder=tmp_path)
    assert resumed.iteration == 2
    assert curve[2:] == [(x.reward, x.rewards) for x in resumed.run(iterations=4)]
    assert all(torch.equal(x, y) for x, y in zip(weights(whole), weights(resumed), strict=True))


def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path) -> None:
    """The message is one line that names the difference. The same task is resumed."""
    list(rl.Trainer(Hold(), seed=0, folder=tmp_path).run(iterations=1))

    def refusal(seed: int = 0, **changed: object) -> str:
        task = Hold()
        for name, x in changed.items():
            setattr(task, name, x)
        with pytest.raises(rl.TaskError) as caught:
            rl.Trainer(task, seed=seed, folder=tmp_path)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "belongs to another training run, with seed 0 instead of 1; choose another" in refusal(
        seed=1
    )
    (name, scale), *_ = Hold.scales.items()
    scales = {**Hold.scales, name: 2.0 * scale}
    assert f"with scales {name} {scale} instead of {2.0 * scale};" in refusal(scales=scales)
    gains = {"kp": rl.Vary(0.8, 1.5, how="scale")}
    assert "with vary kp low 0.5 instead of 0.8;" in refusal(vary=gains)
    push = "with push none instead of {'speed': 0.5, 'seconds': 4.0, 'least': 0.0};"
    assert push in refusal(push=rl.Push(0.5, 4.0))
    assert rl.Trainer(Hold(), seed=0, folder=tmp_path).iteration == 1


def test_a_checkpoint_without_scales_is_resumed(tmp_path: Path) -> None:
    """Earlier versions did not record them."""
    list(rl.Trainer(Hold(), seed=0, folder=tmp_path).run(iterations=1))
    path = tmp_path / "checkpoint.pt"
    whole = torch.load(path, weights_only=True)
    del whole["of"]["scales"], whole["of"]["push"]
    torch.save(whole, path)
    assert rl.Trainer(Hold(), seed=0, folder=tmp_path).iteration == 1


class Other(Hold):
    """Functions that compute something else under the same name and with the same numbers."""

    changed = ""

    @property
    def name(self) -> str:
        return "Hold"

    def reward(self, robot: Any, s: Any) -> dict[str, Any]:
        found = super().reward(robot, s)
        return {n: -x for n, x in found.items()} if self.changed == "reward" else found

    def is_terminal(self, robot: Any, s: Any) -> Any:
        return s.q[0] > 1.0 if self.changed == "is_terminal" else super().is_terminal(robot, s)

    def observe(self, robot: Any, s: Any) -> dict[str, Any]:
        found = super().observe(robot, s)
        return {**found, "speed": 0.5 * s.v} if self.changed == "observe" else found

    def control(self, robot: Any, s: Any) -> dict[str, Any]:
        found = super().control(robot, s)
        return {"targets": 0.9 * found["targets"]} if self.changed == "control" else found


@pytest.mark.parametrize("changed", ["reward", "is_terminal", "observe", "control"])
def test_a_checkpoint_of_changed_functions_is_refused(
    tmp_path: Path, checkpoint: Path, changed: str
) -> None:
    """A changed reward, end, observation or action is named.

    Equal functions in other words are accepted.
    """
    shutil.copy(checkpoint, tmp_path / "checkpoint.pt")
    assert rl.Trainer(Other(), seed=0, folder=tmp_path).iteration == 1
    task = Other()
    task.changed = changed
    with pytest.raises(rl.TaskError, match=rf"with another {changed}\(\); choose another folder"):
        rl.Trainer(task, seed=0, folder=tmp_path)


def test_a_checkpoint_of_a_changed_robot_with_the_same_name_is_refused(
    tmp_path: Path, checkpoint: Path
) -> None:
    shutil.copy(checkpoint, tmp_path / "checkpoint.pt")
    task = Hold()
    task.model = task.model.with_armature(0.5)
    with pytest.raises(rl.TaskError, match="with another the robot's numbers; choose"):
        rl.Trainer(task, seed=0, folder=tmp_path)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the checkpoint of one iteration."""
    folder = tmp_path_factory.mktemp("run")
    list(rl.Trainer(Hold(), seed=0, folder=folder).run(iterations=1))
    return folder / "checkpoint.pt"


def test_nonfinite_actions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The curve of a training has the count."""
    trainer = rl.Trainer(Hold(), seed=0)
    act = trainer.learner.act

    def odd(observed: object) -> torch.Tensor:
        action = act(observed).clone()
        action[3, 0] = torch.inf
        return action

    monkeypatch.setattr(trainer.learner, "act", odd)
    (progress,) = trainer.run(iterations=1)
    assert progress.nonfinite_actions == trainer.recipe.steps


def test_a_training_stops_after_its_minutes() -> None:
    """The reported time is that of all runs, earlier ones included."""
    trainer = rl.Trainer(Hold())
    start = time.perf_counter()
    (first,) = trainer.run(minutes=0.0)
    passed = time.perf_counter() - start
    assert 0.0 < first.seconds <= passed and first.cpu_seconds > 0.0
    (second,) = trainer.run(iterations=2)
    assert first.seconds < second.seconds <= time.perf_counter() - start
    assert second.cpu_seconds > first.cpu_seconds


def test_practice_changes_the_task_during_training_only() -> None:
    """Episodes have another length in training. The task itself is unchanged."""
    task = Hold()
    trainer = rl.Trainer(task, recipe=replace(task.recipe, practice={"seconds": 0.1}))
    learned = trainer.env
    assert (
        learned.kernels.length
        == round(0.1 / task.step_seconds)
        != rl.VecEnv(task, 1).kernels.length
    )
    assert task.seconds != 0.1 and trainer.task is task
    *_, last = trainer.run(iterations=3)
    assert 0.0 < last.length <= 0.1 + 1e-6
    with pytest.raises(rl.TaskError, match="Hold has no 'second', which the recipe's practice"):
        rl.Trainer(task, recipe=replace(task.recipe, practice={"second": 0.1}))


def test_a_distillation_resumes_only_with_the_same_teacher(tmp_path: Path) -> None:
    """It has the same bits. Another teacher or none is refused."""
    files = []
    for seed in (0, 1):
        seeing = Hold()
        seeing.groups, seeing.noise = {"policy": Hold.groups["hidden"]}, {}
        trainer = rl.Trainer(seeing, seed=seed)
        list(trainer.run(iterations=1))
        files.append(tmp_path / f"teacher{seed}.onnx")
        rl.export(trainer, files[-1])
    whole = rl.Trainer(Hold(), seed=2, teacher=files[0])
    curve = [(x.reward, x.teacher_distance) for x in whole.run(iterations=4)]
    assert whole.recipe.learner == "distillation" and curve[3][1] > 0.0
    folder = tmp_path / "student"
    list(rl.Trainer(Hold(), seed=2, teacher=files[0], folder=folder).run(iterations=2))
    resumed = rl.Trainer(Hold(), seed=2, teacher=files[0], folder=folder)
    assert [(x.reward, x.teacher_distance) for x in resumed.run(iterations=4)] == curve[2:]
    assert all(torch.equal(x, y) for x, y in zip(weights(whole), weights(resumed), strict=True))
    rl.export(resumed, folder / "policy.onnx")
    policy = rl.Policy(folder / "policy.onnx")
    assert policy.about["teacher"] == resumed.teacher != "" and policy.deployment["joints"]
    with pytest.raises(
        rl.TaskError, match=r"belongs to another training run, with teacher \w+ instead of "
    ):
        rl.Trainer(Hold(), seed=2, teacher=files[1], folder=folder)
    with pytest.raises(rl.TaskError, match="recipe learner distillation instead of warpdyn"):
        rl.Trainer(Hold(), seed=2, folder=folder)


def test_a_checkpoint_without_programs_is_resumed_with_a_remark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Earlier versions did not record them."""
    list(rl.Trainer(Hold(), seed=0, folder=tmp_path).run(iterations=1))
    path, said = tmp_path / "checkpoint.pt", list[str]()
    whole = torch.load(path, weights_only=True)
    del whole["programs"]
    torch.save(whole, path)
    monkeypatch.setattr(training, "say", said.append)
    assert rl.Trainer(Hold(), seed=0, folder=tmp_path).iteration == 1
    assert said == [
        "the checkpoint does not say what its task computed: changed rewards go unnoticed"
    ]


def test_an_error_in_one_process_ends_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each raises its own error. A process without an error raises the first one of the others."""
    monkeypatch.setattr(rl.Processes, "of_all", lambda _, x: [x, "", "of another"])
    with pytest.raises(rl.TaskError, match=r"^of another$"):
        next(rl.Trainer(Hold()).run(iterations=1))
    trainer, own = rl.Trainer(Hold()), rl.TaskError("my own")

    def mistaken() -> None:
        raise own

    monkeypatch.setattr(trainer.env, "check_rewards", mistaken)
    with pytest.raises(rl.TaskError) as caught:
        next(trainer.run(iterations=1))
    assert caught.value is own


def test_progress_has_the_numbers_of_the_iterations_steps() -> None:
    """Reward per second, falls, and rewards and lengths of finished episodes."""
    trainer = rl.Trainer(Hold(), seed=3)
    step, taken = trainer.env.step, list[Any]()

    def record_step(action: Any) -> Any:
        found = step(action)
        _, reward, fell, late, extra = found
        taken.append(
            [
                *(x.double().sum().item() for x in (reward, fell | late, fell)),
                *(x.double().sum().item() for x in extra["episode"].values()),
            ]
        )
        return found

    trainer.env.step = record_step
    (progress,) = trainer.run(iterations=1)
    reward, over, falls, *episode = np.sum(taken, axis=0).tolist()
    names, seconds = list(step(torch.zeros(16, 2))[4]["episode"]), trainer.task.step_seconds
    lived = episode[names.index("length")] * seconds
    assert over > 0 and progress.steps == trainer.recipe.steps * trainer.recipe.envs
    assert progress.reward == pytest.approx(reward / progress.steps / seconds)
    assert (progress.falls, progress.length) == pytest.approx((falls / over, lived / over))
    assert progress.rewards == pytest.approx(
        {n: x / lived for n, x in zip(names, episode, strict=True) if n != "length"}
    )
    assert progress.nonfinite_actions == 0 and progress.teacher_distance == 0.0
    assert 0.0 < progress.environment_share < 1.0 and progress.steps_per_second > 1.0


def test_a_training_lasts_the_recipes_minutes_without_another_limit() -> None:
    recipe = replace(Hold.recipe, minutes=0.0)
    assert len(list(rl.Trainer(Hold(), recipe=recipe).run())) == 1
    assert len(list(rl.Trainer(Hold(), recipe=recipe).run(iterations=2))) == 2


def test_a_task_that_no_robot_can_run_has_an_empty_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its checkpoints are written all the same, by the first of several processes."""

    def refuse(task: rl.Task, **_: Any) -> None:
        raise rl.TaskError("its policy observes contact forces")

    monkeypatch.setattr(training, "deployment_record", refuse)
    trainer = rl.Trainer(Hold(), folder=tmp_path)
    with monkeypatch.context() as other:
        other.setattr(rl.Processes, "first", False)
        trainer.save()
        assert not list(tmp_path.iterdir())
    trainer.save()
    whole = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    assert whole["deployment"] == {} and whole["others"] == []


def test_totals_are_the_sums_of_a_step() -> None:
    """Rewards, ends, falls and actions that are not finite; each reward and the length of the
    episodes that ended."""
    env = rl.VecEnv(Hold(), 5)
    env.reset()
    env.carried["age"][:2] = env.kernels.length - 2.0
    ended = 0
    for step in range(4):
        action = torch.zeros(5, 2)
        action[3, 0] = torch.nan if step == 1 else 0.0
        _, reward, fell, timed_out, info = env.step(action)
        lived = (info["episode"][n] for n in (*env.kernels.rewards, "length"))
        wanted = [x.double().sum() for x in (reward, fell | timed_out, fell)]
        wanted += [info["nonfinite_action"].double().sum(), *(x.double().sum() for x in lived)]
        assert torch.allclose(env.totals(), torch.stack(wanted), rtol=1e-12)
        ended += int(info["_final_obs"].sum())
    assert ended == 3
