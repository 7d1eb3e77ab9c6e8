"""A prepared launch: its copy with other arrays, and its copy without arrays."""

from __future__ import annotations

import copy
import gc
import pickle
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from weakref import ref

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.arrays.layout import BLOCK, LOOP_BLOCK
from warpdyn.codegen.arguments import FIELDS, HEADER
from warpdyn.execution import threads
from warpdyn.execution.launch import job as chosen
from warpdyn.execution.launch.job import COUNT, FIRST
from warpdyn.execution.launch.launch import prepare

ARM = wd.load_robot("ur5e")


def test_a_launch_can_be_copied_for_other_arrays() -> None:
    """The copy has other addresses in its arguments. The original launch is not changed."""
    first, second = (np.random.default_rng(k).uniform(-1, 1, (5, 6)) for k in range(2))
    here, there = np.empty((2, 5, 6))
    zero = np.zeros((5, 6))
    job = prepare(wd.rnea.describe(ARM, first, zero, zero, out=here))
    out = len(HEADER) + 3 * FIELDS
    addresses = [(len(HEADER), second.ctypes.data), (out, there.ctypes.data)]
    job.with_addresses(addresses).launch_once()
    job.launch_once()
    assert np.allclose(there, wd.gravity_torques(ARM, second), atol=1e-12)
    assert np.allclose(here, wd.gravity_torques(ARM, first), atol=1e-12)
    assert (job.arguments[FIRST], job.arguments[COUNT]) == (0, 5)


def test_a_bound_call_can_be_neither_pickled_nor_copied() -> None:
    """It is bound to memory of this process. The error says what to pickle instead."""
    q, zero = np.zeros((2, 5, 6))
    group = wd.Group([ARM, ARM], [2, 3])
    runs = [
        wd.bind(wd.rnea, ARM, q, zero, zero),
        wd.bind(wd.pose_and_jacobian, ARM, q, frame="tool0"),
        group.bind(wd.gravity_torques, q),
    ]
    for run in runs:
        assert repr(run) == "<bound call of warpdyn>"
        for take in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(
                TypeError, match=r"cannot be pickled or copied.* pickle the model and the arrays"
            ):
                take(run)


def test_a_bound_call_has_no_arguments() -> None:
    run = wd.bind(wd.gravity_torques, ARM, np.zeros((5, 6)))
    assert run() is run() and run().shape == (5, 6)


def test_the_smallest_share_of_a_thread_is_about_a_slice() -> None:
    """It has complete blocks, at least one. Loops have larger blocks."""
    q = np.zeros((4000, 6))
    pose = np.tile([0.3, 0.2, 0.4, 0.0, 0.0, 0.0, 1.0], (4000, 1))
    plain = prepare(wd.rnea.describe(ARM, q, q, q))
    loop = prepare(wd.inverse_kinematics.describe(ARM, pose, q0=q, frame="tool0"))
    for job, block in ((plain, BLOCK), (loop, LOOP_BLOCK)):
        share, wanted = job.smallest_share(), threads.SLICE * job.count / job.seconds
        assert share % block == 0 and share >= block
        assert abs(share - wanted) <= block / 2 or share == block > wanted


def test_a_launch_without_arrays_keeps_none_alive() -> None:
    class WeakArray(np.ndarray):
        """An array that can be watched."""

    q = np.zeros((5, 6)).view(WeakArray)
    gone = ref(q)
    job = prepare(wd.gravity_torques.describe(ARM, q)).without_arrays()
    del q
    gc.collect()
    assert gone() is None and job.count == 5


def test_the_cpu_stands_in_only_for_a_kernel_of_a_gpu_that_is_being_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Captures and sums of tables wait for the kernel. So do calls with other options."""
    monkeypatch.setattr(chosen.config, "compile", "background")
    monkeypatch.setattr(chosen.config, "compile_device", "cpu")
    job = prepare(wd.gravity_torques.describe(ARM, np.zeros((5, 6))))

    def on(sums: object = (), is_capturing: bool = False, **more: bool) -> bool:
        device = SimpleNamespace(is_capturing=is_capturing)
        kernel: Any = SimpleNamespace(**{"on_cuda": True, "loaded": False, "device": device} | more)
        return replace(job, kernel=kernel, sums=dict.fromkeys(sums)).is_for_cpu

    assert on() is True
    assert not on(on_cuda=False) and not on(loaded=True)
    assert not on(sums=(0,)) and not on(is_capturing=True)
    monkeypatch.setattr(chosen.config, "compile", "wait")
    assert not on()
    monkeypatch.setattr(chosen.config, "compile", "background")
    monkeypatch.setattr(chosen.config, "compile_device", None)
    assert not on()


def test_only_arrays_of_warpdyn_are_cleared() -> None:
    job = prepare(wd.pose_and_jacobian.describe(ARM, np.zeros((2, 6)), frame="tool0"))
    for out, wanted in ((job.results, 3.0), (None, 0.0)):
        for result in job.results:
            result[...] = 3.0
        job.clear(out)
        assert len(job.results) == 2 and all((x == wanted).all() for x in job.results)


def test_only_results_that_are_sums_are_added_up() -> None:
    """Each has the shape of its table. A single result is no tuple."""
    added = []

    def sum_into_table(x: np.ndarray, shape: tuple, array: Any) -> str:
        added.append((x, shape, array))
        return "sum"

    library: Any = SimpleNamespace(wrap_result=lambda x: x + 0, sum_into_table=sum_into_table)
    job = prepare(wd.pose_and_jacobian.describe(ARM, np.zeros((2, 6)), frame="tool0"))
    pose, jacobian = job.results
    job = replace(job, library=library, sums={1: ((3, 4), "table")})
    one, two = job.user_result()
    assert np.array_equal(one, pose) and two == "sum"
    ((x, *more),) = added
    assert np.array_equal(x, jacobian) and more == [(3, 4), "table"]
    assert np.array_equal(replace(job, results=(pose,), sums={}).user_result(), pose)


def test_threads_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch that takes as long as threads need has all of them, on the CPU alone. An empty batch
    has no command."""
    monkeypatch.setattr(threads, "get_num_threads", lambda: 3)
    q = np.zeros((400, 6))
    job = prepare(wd.gravity_torques.describe(ARM, q))
    for enough, number in ((job.seconds, 3), (np.nextafter(job.seconds, 1.0), 1)):
        monkeypatch.setattr(threads, "ENOUGH", enough)
        assert job._threads() == number
    monkeypatch.setattr(threads, "ENOUGH", 0.0)
    on_gpu: Any = SimpleNamespace(on_cuda=True, source=job.kernel.source)
    assert replace(job, kernel=on_gpu)._threads() == 1
    launch, commands = replace(job, count=0)._prepare(job.kernel.command)
    assert launch() is None and not commands


class CommandInSlices:
    """A stand-in for a command, which records its slice."""

    def set(self, arguments: list[int]) -> None:
        self.slice = (arguments[FIRST], arguments[COUNT])

    def set_threads(self, number: int) -> None:
        self.number = number

    def run(self) -> tuple[int, int]:
        return self.slice


def test_commands_have_their_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thread runs one command. More threads share a launch, or have a slice each."""
    shares: list[tuple] = []
    monkeypatch.setattr(chosen, "shared_launch", lambda *asked: shares.append(asked) or is_shared)
    monkeypatch.setattr(threads, "ENOUGH", 0.0)
    job = prepare(wd.gravity_torques.describe(ARM, np.zeros((400, 6))))
    monkeypatch.setattr(threads, "PYTHONS_SLICE", 140 * job.seconds / 400)
    make: Any = CommandInSlices
    for number, is_shared, wanted in (
        (1, None, [(0, 400)]),
        (2, "shared", [(0, 400)]),
        (2, None, [(0, 144), (144, 144), (288, 112)]),
    ):
        shares.clear()
        monkeypatch.setattr(threads, "get_num_threads", lambda number=number: number)
        launch, commands = job._prepare(make)
        assert [command.run() for command in commands] == wanted
        assert [command.number for command in commands] == [n for _, n in wanted]
        assert shares == ([(commands[0], job.smallest_share(), 2)] if number == 2 else [])
        if number == 1 or is_shared:
            assert launch == (is_shared or commands[0].run)


def test_slices_for_threads_of_python_cover_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are taken if a launch cannot be shared among native threads. A stream has one command."""
    q = np.random.default_rng(0).uniform(-1, 1, (400, 6))
    out = np.full((400, 6), np.nan)
    monkeypatch.setattr(threads, "get_num_threads", lambda: 3)
    monkeypatch.setattr(threads, "ENOUGH", 0.0)
    monkeypatch.setattr(chosen, "shared_launch", lambda *_: None)
    job = prepare(wd.gravity_torques.describe(ARM, q, out=out))
    for environments, runs, running in ((0, 12, 3), (140, 3, 3), (390, 1, 1)):
        monkeypatch.setattr(threads, "PYTHONS_SLICE", environments * job.seconds / 400)
        launch, commands = job._prepare(job.kernel.new_command)
        assert (len(commands), launch.args[1]) == (runs, running)
        assert launch.args[0] == [command.run for command in commands]
    monkeypatch.setattr(threads, "PYTHONS_SLICE", 0.0)
    job._prepare(job.kernel.new_command)[0]()
    monkeypatch.undo()
    assert np.array_equal(out, wd.gravity_torques(ARM, q))
    asked: list[str] = []
    stream: Any = lambda: asked.append("stream")  # noqa: E731
    launch, commands = replace(job, stream=stream)._prepare(job.kernel.new_command)
    launch.func(asked.append, lambda: "another")
    assert len(commands) == 1 and launch.args[1] is stream and asked == ["another"]


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.SECONDS_PER_OPERATION == 1.2e-11
    assert chosen.SECONDS_PER_BYTE == 4e-11
