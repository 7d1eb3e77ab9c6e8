"""Kernels and their launches: a source compiled by Warp, and arguments written in place."""

from __future__ import annotations

import gc
import inspect
import os
import subprocess
import sys
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.codegen.arguments import HEADER
from warpdyn.codegen.source import Source
from warpdyn.codegen.targets import write
from warpdyn.execution.compile import kernel as chosen
from warpdyn.execution.compile.kernel import KernelCommand, bounds_of_one, compile_kernel
from warpdyn.execution.launch.job import Job
from warpdyn.execution.launch.launch import prepare
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call

MODEL = by_name("cartpole").model


def text(name: str = "crba") -> Source:
    call = wd.crba.describe(MODEL, MODEL.neutral)
    return write(record_call(call, input_shapes(call), False), name, False, "cpu")


def job(q: np.ndarray) -> Job:
    return prepare(wd.crba.describe(MODEL, q))


@pytest.mark.parametrize("name", ["crba_arm", "crba_arm/left hand", "crba_ärm-2"])
def test_kernel_names_are_identifiers(name: str) -> None:
    """They have letters, digits and underscores, whatever the robot's name."""
    key = compile_kernel(text(name)).key
    assert key.startswith("warpdyn_crba_") and key.isidentifier()


def test_inspect_returns_the_source_of_a_kernel() -> None:
    """Warp reads it with `inspect`. Two kernels of the same name have their own sources."""
    kernel = compile_kernel(text())
    assert "program(args, wp.tid())" in inspect.getsource(kernel.func)


def test_a_command_uses_the_last_written_arguments() -> None:
    """`set` writes the integers in place, so the next run reads and writes other arrays."""
    one, two = states(MODEL, 4, seed=1).q, states(MODEL, 4, seed=2).q
    jobs = [job(q) for q in (one, two)]
    kernel = jobs[0].kernel
    assert jobs[1].kernel is kernel
    command = KernelCommand(kernel.warp_kernel, kernel.device, kernel.source.layout.length)
    assert command.bounds == bounds_of_one()
    for each, q in zip(jobs, (one, two), strict=True):
        command.set(each.arguments)
        command.run()
        assert error(each.results[0], wd.oracle(wd.crba, MODEL, q)) <= 1e-12
    before = jobs[0].results[0].copy()
    one[:] = two
    command.run()
    assert np.array_equal(jobs[0].results[0], before)


def test_run_at_once_bypasses_warps_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The C function is called on the CPU, so that Warp does not record it. Without it Warp
    launches the kernel.
    """
    q = states(MODEL, 4, seed=3).q
    laid_out = job(q)
    kernel = laid_out.kernel
    command = KernelCommand(kernel.warp_kernel, kernel.device, kernel.source.layout.length)
    command.set(laid_out.arguments)
    launches: list[int] = []
    monkeypatch.setattr(command._launch, "launch", lambda: launches.append(1))
    command.run_at_once()
    assert not launches
    assert error(laid_out.results[0], wd.oracle(wd.crba, MODEL, q)) <= 1e-12
    monkeypatch.setattr(chosen, "_forward", lambda _: None)
    command.run_at_once()
    assert launches == [1]


@pytest.mark.parametrize("other", ["device", "block", "function"])
def test_only_a_launch_of_one_thread_on_the_cpu_has_a_c_function(other: str) -> None:
    """A launch on a GPU, one with larger blocks, and one of a Warp without this hook have none."""

    def function() -> None: ...

    device, hooks = SimpleNamespace(is_cpu=True), SimpleNamespace(forward=function)
    launch: Any = SimpleNamespace(device=device, block_dim=1, hooks=hooks)
    assert chosen._forward(launch) is function
    if other == "device":
        device.is_cpu = False
    elif other == "block":
        launch.block_dim = 2
    else:
        hooks.forward = 0
    assert chosen._forward(launch) is None


def test_a_command_keeps_called_kernels_alive() -> None:
    """Kernels of other sources would be unloaded with their code."""
    kernel = job(states(MODEL, 2).q).kernel
    length = kernel.source.layout.length
    called = KernelCommand(kernel.warp_kernel, kernel.device, length)
    command = KernelCommand(kernel.warp_kernel, kernel.device, length, [called])
    alive = weakref.ref(called)
    del called
    gc.collect()
    assert alive() is not None
    del command
    gc.collect()
    assert alive() is None


def test_a_launch_computes_the_environments_from_first_to_count() -> None:
    """`first` and `count` are in the header. Rows of other environments do not change."""
    each = job(states(MODEL, 10).q)
    out = each.results[0]
    out[:] = np.nan
    arguments = list(each.arguments)
    arguments[HEADER.index("first")], arguments[HEADER.index("count")] = 3, 4
    command = KernelCommand(each.kernel.warp_kernel, each.kernel.device, len(arguments))
    command.set(arguments)
    command.set_threads(4)
    command.run()
    assert np.isfinite(out[3:7]).all() and np.isnan(out[:3]).all() and np.isnan(out[7:]).all()


PROGRAM = """
import numpy as np
import warpdyn as wd
model = wd.load_robot("cartpole")
q = np.zeros((2, 2))
print(wd.rnea(model, q, q, q).sum())
"""


@pytest.mark.parametrize(
    ("before", "environment", "chats"),
    [
        ("", {}, False),
        ("", {"WARPDYN_VERBOSE": "0"}, False),
        ("", {"WARPDYN_VERBOSE": "1"}, True),
        ("import warp as wp; wp.config.log_level = wp.LOG_DEBUG", {}, True),
    ],
    ids=["as it is", "silent", "asked for", "set before"],
)
def test_warp_prints_nothing_on_stdout_by_default(
    before: str, environment: dict[str, str], chats: bool
) -> None:
    """Warp's banner and its line for each module are printed only on request."""
    done = subprocess.run(
        [sys.executable, "-c", before + PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout != "0.0\n") is chats and done.stdout.endswith("0.0\n")


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.BLOCK == 32


@pytest.mark.parametrize("surplus", [(1.0,), (1.0, 2.0)])
def test_arguments_of_a_bound_call_are_refused(surplus: tuple[float, ...]) -> None:
    """The message says how many there are, and what to do."""
    message = rf"takes no arguments, got {len(surplus)}: .* Change these in place"
    with pytest.raises(TypeError, match=message):
        chosen.refuse_surplus(surplus)
    model = by_name("panda").model
    bound = wd.bind(wd.crba, model, states(model, 2).q)
    bound()
    with pytest.raises(TypeError, match=message):
        bound(*surplus)
