"""`warpdyn train`: trainings of a few iterations, their continuation, and one line for a
mistake."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from printed import printed_rows

from warpdyn.cli.console import show
from warpdyn.cli.main import main, parser

rl = pytest.importorskip("warpdyn.rl")
import torch

from warpdyn.cli.learning import train


def test_a_training_can_be_continued(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    words = ["train", "cartpole_swing_up", "--envs", "16", "--folder", str(folder)]
    assert main([*words, "--minutes", "0.01"]) == 0
    assert "CartpoleSwingUp:" in capsys.readouterr().out
    policy = rl.Policy(folder / "policy.onnx")
    assert policy.about["task"] == "CartpoleSwingUp" and policy.width == 5
    lines = len((folder / "curve.jsonl").read_text().splitlines())
    assert main([*words, "--minutes", "0.02"]) == 0
    assert len((folder / "curve.jsonl").read_text().splitlines()) > lines


def test_a_training_may_be_limited_by_iterations(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The iterations of earlier runs in the folder count, too."""
    words = ["train", "cartpole_swing_up", "--envs", "16", "--folder", str(tmp_path)]
    for count in ("2", "3"):
        assert main([*words, "--iterations", count]) == 0
        assert len((tmp_path / "curve.jsonl").read_text().splitlines()) == int(count)
    assert main([*words, "--iterations", "3"]) == 2
    assert "\nwarpdyn: error: " in (
        said := capsys.readouterr().err
    )  # the progress bar before it has ended
    assert "is trained for 3 iterations or more already; ask for more" in said


def test_a_training_whose_minutes_are_used_up_does_not_continue(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same command does not change the policy. A missing policy file is written again."""
    words = ["train", "cartpole_swing_up", "--envs", "16", "--folder", str(tmp_path)]
    words += ["--minutes", "0.0001"]
    assert main(words) == 0
    curve, policy = ((tmp_path / n).read_bytes() for n in ("curve.jsonl", "policy.onnx"))
    assert main(words) == 2
    assert "is trained for 0.0001 CPU minutes or more already" in capsys.readouterr().err
    (tmp_path / "policy.onnx").unlink()
    assert main(words) == 0
    assert (tmp_path / "curve.jsonl").read_bytes() == curve
    assert len((tmp_path / "policy.onnx").read_bytes()) == len(policy)


def test_a_training_needs_torch_with_cuda_on_a_gpu(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in replaces Warp's GPU. By default the training runs on the CPU and says so. A named
    GPU is refused."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(train, "choose_device", lambda name: name or "cuda:0")
    words = ["train", "cartpole_swing_up", "--envs", "16", "--iterations", "1", "--folder"]
    assert main([*words, str(tmp_path / "a")]) == 0
    told = _one_line(capsys.readouterr().out)
    assert "training on the CPU: Warp finds cuda:0, but Torch" in told
    assert main([*words, str(tmp_path / "b"), "--device", "cuda:0"]) == 2
    assert "which training on cuda:0 needs" in _one_line(capsys.readouterr().err)


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "cartpole", "--folder", str(tmp_path)]) == 2
    assert (
        "there is no task 'cartpole'; did you mean 'cartpole_swing_up'?" in capsys.readouterr().err
    )
    words = ["train", "cartpole_swing_up", "--envs", "8", "--folder", str(tmp_path / "a")]
    assert main([*words, "--minutes", "0.005"]) == 0
    assert main([*words, "--minutes", "0.005", "--seed", "1"]) == 2
    assert (
        "belongs to another training run, with seed 0 instead of 1; choose another folder"
        in capsys.readouterr().err
    )


def test_curves_are_written_for_tensorboard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are next to the checkpoints. Without the package one line says what to install."""
    words = ["train", "cartpole_swing_up", "--envs", "16", "--minutes", "0.005"]
    log = [*words, "--logger", "tensorboard", "--folder", str(tmp_path / "a")]
    assert main(log) == 0
    assert f"curves: tensorboard --logdir {tmp_path / 'a'}" in _one_line(capsys.readouterr().out)
    assert list((tmp_path / "a").glob("events.out.tfevents.*"))
    monkeypatch.delitem(sys.modules, "warpdyn.rl.adapters.tensorboard_log", raising=False)
    monkeypatch.delitem(sys.modules, "torch.utils.tensorboard", raising=False)
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    assert main([*log[:-1], str(tmp_path / "b")]) == 2
    told = _one_line(capsys.readouterr().err)
    assert "a log for TensorBoard needs tensorboard, which is not installed: pip install" in told


def _one_line(text: str) -> str:
    """The output of the command without its line breaks, which depend on the terminal."""
    return " ".join(text.split())


def test_a_task_may_come_from_a_file_with_settings_and_a_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder has the name of the class. Every mistake is one line."""
    file = tmp_path / "my.py"
    file.write_text("from warpdyn import rl\nclass Swing(rl.CartpoleSwingUp):\n    pull = 1.0\n")
    recipe = tmp_path / "small.json"
    recipe.write_text('{"envs": 16, "layers": [8]}')
    words = ["train", f"{file}:Swing", "--recipe", str(recipe), "--iterations", "1"]
    first = [*words, "--folder", str(tmp_path / "a")]
    assert main([*first, "--set", "pull=2", "vary.mass=0.9,1.1,how=scale"]) == 0
    policy = tmp_path / "a" / "policy.onnx"
    assert rl.Policy(policy).about["recipe"]["layers"] == [8]
    again = [*words, "--folder", str(tmp_path / "b"), "--init"]
    assert main([*again, str(policy), "--wall-minutes", "1"]) == 0
    assert main([*again, str(tmp_path / "none.onnx")]) == 2
    assert main([*first, "--set", "pul=2"]) == 2
    assert "Swing has no setting 'pul'; did you mean 'pull'?" in capsys.readouterr().err
    assert main(["train", "quadruped_velocity", "--set", "seconds=2"]) == 2
    assert "--set recipe.practice.seconds=2" in _one_line(capsys.readouterr().err)


def test_minutes_are_cpu_minutes_and_wall_minutes_are_separate(tmp_path: Path) -> None:
    """A training that sleeps between iterations uses wall time but no CPU time."""
    trainer = rl.Trainer(rl.CartpoleSwingUp(), recipe=rl.Recipe(envs=8, steps=4, layers=(4,)))
    trainer.loggers.append(lambda progress: time.sleep(0.3))
    *_, last = trainer.run(wall_minutes=0.02)
    assert last.cpu_seconds < 1.0 < last.seconds
    *_, last = trainer.run(minutes=last.cpu_seconds / 60 + 1e-4, iterations=200)
    assert last.iteration < 200


def test_limits_of_a_training_are_printed_and_reached_in_shares() -> None:
    """They come from the command line, or are the recipe's minutes. The limit that is nearest
    counts."""
    recipe = rl.Recipe(minutes=7.0)

    def limits(*words: str) -> train.TrainingLimits:
        return train.TrainingLimits.of(parser().parse_args(["train", "t", *words]), recipe)

    assert limits() == train.TrainingLimits(7.0, None, None) and str(limits()) == "7 CPU minutes"
    every = limits("--minutes", "2", "--wall-minutes", "4", "--iterations", "10")
    assert str(every) == "2 CPU minutes or 4 minutes on the clock or 10 iterations"
    assert limits("--iterations", "10") == train.TrainingLimits(None, None, 10)
    shares = {(60.0, 0.0, 0): 0.25, (0.0, 120.0, 0): 0.5, (60.0, 120.0, 9): 0.9}
    for (cpu, clock, iteration), share in shares.items():
        progress = PROGRESS._replace(cpu_seconds=cpu, seconds=clock, iteration=iteration)
        assert every.share(progress, 2) == pytest.approx(share)


def test_an_iteration_is_printed_with_all_its_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """Nonfinite actions have a row only if there are some."""
    trainer = SimpleNamespace(task=SimpleNamespace(name="Hold"))
    rows = [
        ["per second, in episodes that ended", ""],
        ["upright [m]", "1.500"],
        ["reward of all environments", "-0.750"],
        ["length of episodes [s]", "2.5"],
        ["ended before their time", "12.5%"],
        ["deviation of actions", "0.25"],
        ["environment steps", "1.23 million, 12,346 a second"],
        ["time in environments", "62%"],
    ]
    for count, more in ((0, []), (12345, [["actions that are NaN or infinite", "12,345"]])):
        show(train._table(trainer, PROGRESS._replace(nonfinite_actions=count)))
        out = capsys.readouterr().out
        assert "Hold, iteration 4" in out and printed_rows(out) == rows + more


PROGRESS = rl.Progress(
    *(4, 1_234_567, 90.0, 30.0, -0.75, {"upright [m]": 1.5}, 2.5, 0.125, 12345.6, 0.624, 0.25)
)


def test_a_policy_learns_from_a_teacher(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The teacher is a file, or the policy that comes with a task. A mistake is one line."""
    words = ["train", "cartpole_swing_up", "--iterations", "2", "--envs", "16"]
    folder = ["--folder", str(tmp_path / "a")]
    assert main([*words, *folder, "--teacher", "cartpole_swing_up"]) == 0
    about = rl.Policy(tmp_path / "a" / "policy.onnx").about
    assert about["recipe"]["learner"] == "distillation" and len(about["teacher"]) == 16
    file = str(rl.bundled_policy("cartpole_swing_up"))
    assert main([*words, *folder, "--teacher", file]) == 2
    assert "is trained for 2 iterations or more already" in _one_line(capsys.readouterr().err)
    assert main([*words, *folder, "--teacher", str(tmp_path / "none.onnx")]) == 2
    assert "cannot be read: No such file" in _one_line(capsys.readouterr().err)
    assert (
        main([*words, "--folder", str(tmp_path / "b"), "--set", "recipe.learner=distillation"]) == 2
    )
    assert "needs a teacher" in _one_line(capsys.readouterr().err)
    assert main([*words, *folder, "--teacher", "panda_reach"]) == 2
    assert "was trained in the task PandaReach with the robot panda" in _one_line(
        capsys.readouterr().err
    )


def test_outputs_of_a_training_are_created_and_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is created only on request, with the trainer and the folder."""
    made: list[tuple[object, ...]] = []

    def part(name: str) -> Callable[..., SimpleNamespace]:
        def make(*given: object, **options: object) -> SimpleNamespace:
            made.append((name, *given, *options.values()))
            page = SimpleNamespace(page=SimpleNamespace(address="http://here:80"))
            return SimpleNamespace(
                name=name, close=lambda: made.append(("closed", name)), shown=page
            )

        return make

    adapters = "warpdyn.rl.adapters"
    modules = {
        f"{adapters}.tensorboard_log": {"TensorboardLog": part("board")},
        f"{adapters}.wandb_log": {"WandbLog": part("wandb")},
        "warpdyn.cli.learning.training_video": {"TrainingVideo": part("video")},
        "warpdyn.cli.learning.live_view": {"LiveView": part("view")},
    }
    for name, parts in modules.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**parts))
    words = (
        ([], [], [], "none"),
        (["--logger", "tensorboard"], ["board"], [], "board"),
        (["--logger", "wandb"], ["wandb"], [], "wandb"),
        (["--video", "5"], ["video"], [], "none"),
        (["--view", "--host", "here", "--port", "80"], [], ["view"], "view"),
        (["--logger", "tensorboard", "wandb", "--view"], ["board", "wandb"], ["view"], "all"),
    )
    for extra, loggers, watchers, closed in words:
        for curve, done in (([], 0), ([SimpleNamespace(steps=70), SimpleNamespace(steps=90)], 90)):
            trainer = SimpleNamespace(
                curve=curve, loggers=[], watchers=[], env="env", task=SimpleNamespace(name="Hop")
            )
            args = parser().parse_args(["train", "t", *extra])
            made.clear()
            closing = train._attach_outputs(args, trainer, tmp_path)  # type: ignore[arg-type]
            for close in closing:
                close()
            assert [x.name for x in trainer.loggers] == loggers
            assert [x.name for x in trainer.watchers] == watchers
            every = {"board": ("board", tmp_path, done), "wandb": ("wandb", trainer, tmp_path)}
            every |= {"video": ("video", trainer, tmp_path, 5)}
            every |= {"view": ("view", "env", args.host, args.port)}
            names = [*loggers, *watchers]
            ends = {"none": [], "all": names}.get(closed, [closed])
            assert made == [every[name] for name in names] + [("closed", name) for name in ends]
            said = _one_line(capsys.readouterr().out)
            assert (f"curves: tensorboard --logdir {tmp_path}" in said) == ("board" in names)
            assert ("Hop while it trains: http://here:80" in said) == ("view" in names)


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("rank_here", [0, 1])
def test_each_machine_reports_an_error_of_several_processes_once(
    first: bool, rank_here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the first process prints. Ctrl-C gives the status that shells expect."""
    raised: list[BaseException] = [train.UserError("no"), KeyboardInterrupt()]
    monkeypatch.setattr(
        rl.Processes, "of_torchrun", lambda: SimpleNamespace(first=first, rank_here=rank_here)
    )

    def fail(args: object) -> int:
        raise raised[0]

    monkeypatch.setattr(train, "_train", fail)
    if first or not rank_here:
        with pytest.raises(train.UserError):
            train.train(SimpleNamespace())  # type: ignore[arg-type]
    else:
        assert train.train(SimpleNamespace()) == 0  # type: ignore[arg-type]
    raised.pop(0)
    if first:
        with pytest.raises(KeyboardInterrupt):
            train.train(SimpleNamespace())  # type: ignore[arg-type]
    else:
        assert train.train(SimpleNamespace()) == 130  # type: ignore[arg-type]
    monkeypatch.setattr(train, "_train", lambda args: 7)
    assert train.train(SimpleNamespace()) == 7  # type: ignore[arg-type]


def test_only_the_first_of_several_processes_writes_the_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others train and end without an output."""
    exported: list[Path] = []
    trainer = SimpleNamespace(processes=SimpleNamespace(first=False), curve=["last"])
    monkeypatch.setattr(rl, "Trainer", lambda *_, **__: trainer)
    monkeypatch.setattr(rl, "export", lambda _, path: exported.append(path))
    monkeypatch.setattr(train, "_train_with_table", lambda *_: None)
    args = parser().parse_args(["train", "cartpole_swing_up", "--folder", str(tmp_path)])
    assert train._train(args) == 0 and not exported
