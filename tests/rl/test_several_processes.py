"""One training in two processes: one policy, different environments, and one end for both."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.cli.main import main
from warpdyn.rl import several_processes

NAMES = ("WORLD_SIZE", "RANK", "LOCAL_WORLD_SIZE", "LOCAL_RANK")

WORDS = ("train", "cartpole_swing_up", "--envs", "16", "--device", "cpu")

SESSION = """
import contextlib, dataclasses, hashlib, io, json, os, sys
from pathlib import Path
from rl_cases import Hold
from warpdyn import rl
from warpdyn.cli.main import main

def digest(tensors):
    return hashlib.sha256(b"".join(x.numpy().tobytes() for x in tensors)).hexdigest()

def weights(trainer):
    models = (trainer.learner.actor, trainer.learner.critic)
    return digest([x for each in models for x in each.state_dict().values()])

folder, told = Path(sys.argv[1]), {}
whole = rl.Trainer(Hold(), seed=3)
rank, count = whole.processes.rank, whole.processes.count
told["seen"] = whole.env.observations["policy"].tolist()
told["begins with"] = weights(whole)
whole.loggers.append(lambda progress: told.setdefault("logged", []).append(progress.iteration))
*_, last = whole.run(iterations=4)
told["ends with"], told["environments"] = weights(whole), digest(whole.env.state().values())
told["steps"], told["reward"], told["rewards"] = last.steps, last.reward, last.rewards
told["seconds"], told["cpu"] = last.seconds, last.cpu_seconds

list(rl.Trainer(Hold(), seed=3, folder=folder).run(iterations=2))
resumed = rl.Trainer(Hold(), seed=3, folder=folder)
list(resumed.run(iterations=4))
told["resumed"] = [weights(resumed), digest(resumed.env.state().values())]

recipe = dataclasses.replace(Hold().recipe, learner="rsl_rl")
other = rl.Trainer(Hold(), seed=3, recipe=recipe)
model = other.learner.algorithm.get_policy()
told["rsl_rl"] = [digest(model.state_dict().values())]
list(other.run(iterations=1))
told["rsl_rl"] += [digest(x.detach() for x in model.parameters())]

try:
    rl.Trainer(Hold(), seed=4, folder=folder)
except rl.TaskError as error:
    told["refused"] = str(error)

wrong = rl.Trainer(Hold(), seed=3)
if rank == 1:
    wrong.env.scales[:] = float("nan")
try:
    list(wrong.run(iterations=1))
except rl.TaskError as error:
    told["mistake"] = str(error)

printed, errors = io.StringIO(), io.StringIO()
with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(errors):
    told["code"] = main([*sys.argv[2:], "--iterations", "2"])
told["stdout"], told["stderr"] = printed.getvalue(), errors.getvalue()

Path(folder, f"told-{rank}.json").write_text(json.dumps(told))
left = rl.Trainer(Hold(), seed=3)
for progress in left.run(iterations=1_000_000):
    if progress.iteration == 2 and rank == 1:
        os._exit(7)
"""
"""What each process does; it ends with the second one gone in the middle of a training."""


def free_port() -> int:
    with socket.socket() as each:
        each.bind(("127.0.0.1", 0))
        return int(each.getsockname()[1])


def environment(**more: object) -> dict[str, str]:
    """The variables of a process. Traffic stays on the loopback device."""
    known = {"PYTHONPATH": os.pathsep.join(sys.path), "GLOO_SOCKET_IFNAME": "lo"}
    return (
        os.environ | known | {name: str(x) for name, x in more.items()} | {"OMP_NUM_THREADS": "1"}
    )


def test_two_processes_train_one_policy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Weights have equal SHA-256, environments are numbered through, and both end together.

    Only the first process prints and writes. Its checkpoint records two processes.
    """
    folder = tmp_path / "command"
    words = [*WORDS, "--folder", str(folder)]
    place = {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1"}
    place["MASTER_PORT"] = free_port()
    started = [
        subprocess.Popen(
            [sys.executable, "-c", SESSION, str(tmp_path), *words],
            env=environment(**place, RANK=rank, LOCAL_RANK=rank),
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in (0, 1)
    ]
    errors = [each.communicate(timeout=300)[1] for each in started]
    told: list[dict[str, Any]] = [
        json.loads((tmp_path / f"told-{rank}.json").read_text()) for rank in (0, 1)
    ]
    first, second = told
    names = ("begins with", "ends with", "rsl_rl", "steps", "reward", "rewards", "seconds", "cpu")
    for name in names:
        assert first[name] == second[name], name
    assert first["begins with"] != first["ends with"]
    assert first["environments"] != second["environments"]
    assert first["steps"] == 4 * 6 * 16 * 2
    assert first["logged"] == [1, 2, 3, 4] and "logged" not in second
    for each in told:
        assert each["resumed"] == [each["ends with"], each["environments"]]
        assert (
            "belongs to another training run, with seed 3 instead of 4; choose another"
            in each["refused"]
        )
        assert "the reward still, near is not finite in environment 0" in each["mistake"]
    # Together they are the environments of one process that has all of them.
    whole = rl.VecEnv(Hold(), 32, seed=3)
    whole.reset()
    assert torch.equal(whole.observations["policy"], torch.tensor(first["seen"] + second["seen"]))
    assert started[1].returncode == 7 and started[0].returncode == 1
    assert "another of the 2 processes has ended, and a training needs all; start it" in errors[0]
    # The command.
    assert [each["code"] for each in told] == [0, 0], first["stderr"] + second["stderr"]
    assert first["stdout"].count("CartpoleSwingUp:") == 1 and not second["stdout"]
    assert first["stderr"].count("environment steps") == 1 and not second["stderr"]
    lines = (folder / "curve.jsonl").read_text().splitlines()
    assert [json.loads(line)["steps"] for line in lines] == [32 * 32, 2 * 32 * 32]
    assert (folder / "policy.onnx").exists()
    assert main([*words, "--iterations", "3"]) == 2
    assert "with processes 2 instead of 1; choose another" in capsys.readouterr().err


def torchrun() -> list[str]:
    """The command line up to warpdyn's own words."""
    place = ["--nproc-per-node", "2", "--master-addr", "127.0.0.1"]
    port = ["--master-port", str(free_port())]
    return [sys.executable, "-m", "torch.distributed.run", *place, *port, "-m", "warpdyn"]


def test_an_interrupt_of_torchrun_ends_all_processes(tmp_path: Path) -> None:
    """The output is one line. No process is left."""
    folder = tmp_path / "run"
    words = [*WORDS, "--iterations", "1000000", "--folder", str(folder)]
    started = subprocess.Popen(
        [*torchrun(), *words],
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not folder.exists() and started.poll() is None:  # made once the processes have joined
        time.sleep(0.1)
    started.send_signal(signal.SIGINT)
    said = started.communicate(timeout=300)[1]
    assert started.returncode and said.count("warpdyn: interrupted") == 1, said
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)


def test_the_first_process_of_each_machine_reports_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each machine reports it in one line. torchrun stops the others when that process fails."""
    words = ["train", "cartpole"]
    for rank, (code, lines) in enumerate([(2, 1), (0, 0), (2, 1), (0, 0)]):
        for name, x in zip(NAMES, (4, rank, 2, rank % 2), strict=True):
            monkeypatch.setenv(name, str(x))
        assert main(words) == code
        assert len(capsys.readouterr().err.splitlines()) == lines


def test_processes_without_a_common_address_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address of torchrun is missing."""
    for name, x in zip(NAMES, (2, 1, 2, 1), strict=True):
        monkeypatch.setenv(name, str(x))
    monkeypatch.delenv("MASTER_ADDR", raising=False)
    with pytest.raises(
        rl.TaskError, match=r"2 processes of torchrun cannot connect: .*MASTER_ADDR"
    ):
        rl.Trainer(Hold())


def test_a_single_process_is_the_first_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of torchrun are absent, or torchrun starts one process."""
    assert rl.Processes.of_torchrun({"WORLD_SIZE": "4"}) == rl.Processes()
    alone = rl.Processes.of_torchrun(dict(zip(NAMES, "1010", strict=True)))
    assert alone == rl.Processes() and alone.first and alone.rsl_rl_config() is None
    third = rl.Processes.of_torchrun(dict(zip(NAMES, "8342", strict=True)))
    assert (third.count, third.rank, third.here, third.rank_here) == (8, 3, 4, 2)
    assert not third.first and third.device("cpu") == "cpu"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    assert third.device("cuda") == "cuda:2" and rl.Processes().device("cuda:1") == "cuda:1"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    wanted = "needs one for each process, got 4 processes on a machine with 2; start torchrun with"
    with pytest.raises(rl.TaskError, match=wanted):
        third.device("cuda")


def test_collective_operations_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums are in place, lists are ordered by rank, and broadcasts have the first process's value.

    A single process sends nothing.
    """
    group, alone = rl.Processes(count=2, rank=1, here=2, rank_here=1), rl.Processes()
    calls = list[str]()

    def all_gather_object(every: list[Any], x: Any) -> None:
        calls.append("gather")
        every[:] = ["of the first", x]

    def broadcast_object_list(one: list[Any], src: int) -> None:
        calls.append(f"broadcast from {src}")
        one[0] = "of the first"

    distributed = torch.distributed
    monkeypatch.setattr(distributed, "all_reduce", lambda x: x.add_(5.0))
    monkeypatch.setattr(distributed, "all_gather_object", all_gather_object)
    monkeypatch.setattr(distributed, "broadcast_object_list", broadcast_object_list)
    x = torch.tensor([1.0])
    assert alone.total(x) is x and x.item() == 1.0
    assert group.total(x) is x and x.item() == 6.0
    assert alone.of_all("mine") == ["mine"] and alone.of_first("mine") == "mine" and not calls
    assert group.of_all("mine") == ["of the first", "mine"]
    assert group.of_first("mine") == "of the first" and calls == ["gather", "broadcast from 0"]
    assert alone.rsl_rl_config() is None
    assert group.rsl_rl_config() == {"global_rank": 1, "local_rank": 1, "world_size": 2}
    assert alone.first and not group.first


@pytest.mark.parametrize(
    ("error", "is_lost"),
    [
        (RuntimeError("gloo: a peer closed"), True),
        (RuntimeError("Connection reset"), True),
        (RuntimeError("Socket timeout"), True),
        (RuntimeError("NCCL error"), True),
        (torch.distributed.DistBackendError("down"), True),
        (RuntimeError("shapes differ"), False),
    ],
)
def test_a_lost_process_is_reported_in_one_line(error: RuntimeError, is_lost: bool) -> None:
    """An error of this process is raised unchanged, and so is any error of a single process."""
    for count in (1, 2):
        kind = RuntimeError if count == 1 or not is_lost else ValueError
        with pytest.raises(kind) as caught, rl.Processes(count=count).together():
            raise error
        if count == 2 and is_lost:
            assert isinstance(caught.value, rl.ProcessLostError)
            assert str(caught.value) == (
                "another of the 2 processes has ended, and a training needs all; start it again, it "
                "goes on from its last checkpoint"
            )
        else:
            assert caught.value is error


@pytest.mark.parametrize(("device", "here"), [("cpu", 2), ("cpu", 64), ("cuda:1", 2)])
def test_processes_join_a_group_once(
    monkeypatch: pytest.MonkeyPatch, device: str, here: int
) -> None:
    """Those of a machine share its cores. Each uses one GPU, with a backend for both devices."""
    done = list[Any]()
    distributed = torch.distributed
    monkeypatch.setattr(distributed, "is_initialized", lambda: bool(done))
    monkeypatch.setattr(distributed, "init_process_group", lambda name: done.append(name))
    monkeypatch.setattr(torch.cuda, "set_device", lambda name: done.append(name))
    monkeypatch.setattr(several_processes, "get_num_threads", lambda: 8)
    monkeypatch.setattr(several_processes, "set_num_threads", lambda n: done.append(n))
    monkeypatch.setattr(several_processes.atexit, "register", lambda call: done.append(call))
    rl.Processes().meet(device)
    assert done == []
    for _ in range(2):
        rl.Processes(count=2, here=here).meet(device)
    end = distributed.destroy_process_group
    if device == "cpu":
        assert done == ["gloo", 4 if here == 2 else 1, end]
    else:
        assert done == ["cuda:1", "cpu:gloo,cuda:nccl", end]
