"""A kernel that waits for its compile keeps neither the model nor the arrays of its call alive."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from weakref import ref

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.codegen.targets import write
from warpdyn.execution.compile import background
from warpdyn.execution.compile.cache import CacheEntry, source_of_json
from warpdyn.execution.compile.compiling import load
from warpdyn.execution.config import compile_policy
from warpdyn.execution.launch import source_writer
from warpdyn.execution.launch.launch import prepare
from warpdyn.execution.launch.source_writer import SourceWriter, write_in_child
from warpdyn.execution.request.call import Call, input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.program import Program


@wd.kernel
def twice_rnea(robot: Any, q: Any) -> Any:
    return 2.0 * robot.rnea(q, q, q)


def with_forces(model: wd.Model, x: np.ndarray) -> Any:
    force = np.ones((len(x), 6))
    return wd.rnea(
        model, x, x, x, f_ext={model.link_names[-1]: force}, gravity=np.ones((len(x), 3))
    )


def with_params(model: wd.Model, x: np.ndarray) -> Any:
    return wd.aba(
        model, x, x, x, params=model.params(mass=np.full((len(x), len(model.links)), 2.0))
    )


CALLS: dict[str, Callable[[wd.Model, np.ndarray], Any]] = {
    "plain": lambda model, x: wd.rnea(model, x, x, x),
    "own kernel": lambda model, x: twice_rnea(model, x),
    "forces": with_forces,
    "params": with_params,
}


@pytest.mark.parametrize("policy", ["never", "background"])
@pytest.mark.parametrize("name", CALLS)
def test_model_and_arrays_are_freed_after_a_call(
    name: str, policy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are freed with their last user."""
    monkeypatch.setenv("WARPDYN_COMPILE_AFTER", "100")
    with compile_policy(policy):
        model = wd.load_robot("double_pendulum").with_armature(np.random.default_rng().random())
        x = np.ones((300, 2))
        CALLS[name](model, x)
        gone = ref(model), ref(x)
        del model, x
        gc.collect()
        assert [each() is None for each in gone] == [True, True]


@pytest.mark.parametrize(("policy", "recordings"), [("background", 1), ("never", 2)])
def test_a_program_is_recorded_once_for_interpreter_and_kernel(
    policy: Any, recordings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If no kernel follows, its memory is freed."""
    monkeypatch.setenv("WARPDYN_COMPILE_AFTER", "100")
    recorded: list[Call[Any]] = []
    monkeypatch.setattr(
        source_writer,
        "record_call",
        lambda call, *others: recorded.append(call) or record_call(call, *others),
    )
    model = wd.load_robot("double_pendulum").with_armature(np.random.default_rng().random())
    x = np.ones((3, 2))
    with compile_policy(policy):
        wd.rnea(model, x, x, x)
        load(prepare(wd.rnea.describe(model, x, x, x)).kernel)  # type: ignore[attr-defined]
    assert len(recorded) == recordings


def entry_of(call: Call[Any]) -> CacheEntry:
    return CacheEntry(f"test {call.key}", [])


def test_a_source_written_later_equals_that_of_the_call() -> None:
    """It has the names of forces, gravity and params."""
    model = by_name("panda").model
    s = states(model, 3)
    call = wd.rnea.describe(
        model,
        s.q,
        s.v,
        s.a,
        f_ext={"panda_hand": np.ones((3, 6))},
        params=model.params(mass=np.ones((3, len(model.links))), gravity=np.ones(3)),
    )
    inputs = input_shapes(call)
    writer = SourceWriter(call, inputs, True, "cpu", (), entry_of(call))
    wanted = write(record_call(call, inputs, True), writer.name, True, "cpu")
    assert writer.write().code == wanted.code
    writer.forget()
    assert writer.write().code == wanted.code


def test_in_the_background_another_process_writes_the_same_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This process writes none."""
    model = by_name("panda").model
    s = states(model, 3)
    call = wd.rnea.describe(model, s.q, s.v, s.a)
    inputs = input_shapes(call)
    writer = SourceWriter(call, inputs, True, "cpu", (), entry_of(call))
    wanted = write(record_call(call, inputs, True), writer.name, True, "cpu")
    monkeypatch.setattr(background, "in_background", lambda: True)
    monkeypatch.setattr(source_writer, "write", None)
    assert writer.write() == wanted


def test_recording_without_the_model_is_an_error() -> None:
    model = wd.load_robot("cartpole").with_armature(np.random.default_rng().random())
    call = wd.com.describe(model, np.zeros((1, 2)))
    writer = SourceWriter(call, input_shapes(call), True, "cpu", (), entry_of(call))
    del model, call
    gc.collect()
    assert writer.model() is None
    with pytest.raises(ReferenceError, match="com for cartpole: its model is gone"):
        writer.record()


def test_a_bound_call_is_compiled_after_its_model_is_deleted() -> None:
    """The compile that `bind` requested keeps the model alive."""
    q = np.zeros((5, 2))
    with compile_policy("background"):
        run = wd.bind(
            wd.com, wd.load_robot("cartpole").with_armature(np.random.default_rng().random()), q
        )
        gc.collect()
        before = run().copy()
        assert background.wait_until_idle(60.0)
        np.testing.assert_array_equal(run(), before)


def test_an_equal_model_replaces_a_deleted_one() -> None:
    """The kernel of equal models is compiled although the model that made it is deleted."""
    armature = np.random.default_rng().random()
    first, second = (wd.load_robot("cartpole").with_armature(armature) for _ in range(2))
    q = np.zeros((5, 2))
    with compile_policy("never"):
        wd.aba(first, q, q, q)
        call = wd.aba.describe(second, q, q, q)
        kernel = prepare(call).kernel
        assert kernel is prepare(wd.aba.describe(first, q, q, q)).kernel
        assert prepare(call).kernel is kernel
        del first
        gc.collect()
    assert not kernel.loaded
    assert wd.kernels.compile(second, [wd.aba], dtype="float64") == 1


def program(name: str) -> Program:
    model = wd.load_robot("quadruped")
    q, v = wd.random_configuration(model, 1, seed=0), np.zeros((1, model.nv))
    call = getattr(wd, name).describe(model, q, v, v)
    return record_call(call, input_shapes(call), True)


@pytest.mark.parametrize("name", ["rnea", "rnea_derivatives"])
def test_the_source_equals_that_of_this_process(name: str) -> None:
    """Every character is the same, for programs with and without routines."""
    recorded = program(name)
    content = write_in_child(recorded, name, True, "cpu", 1)
    assert content is not None
    assert source_of_json(content) == write(recorded, name, True, "cpu")


def test_no_source_is_returned_if_no_process_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An application that embeds Python writes sources in its own process, and so does one with
    WARPDYN_COMPILE_IN_CHILD=0."""
    recorded = program("rnea")
    monkeypatch.setenv("WARPDYN_COMPILE_IN_CHILD", "0")
    assert write_in_child(recorded, "rnea", True, "cpu", 1) is None
    monkeypatch.delenv("WARPDYN_COMPILE_IN_CHILD")
    monkeypatch.setattr(sys, "executable", "/usr/bin/true")
    assert write_in_child(recorded, "rnea", True, "cpu", 1) is None


@pytest.mark.parametrize("ends", [False, True])
def test_a_process_that_ends_writes_no_source(ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its child is killed. Otherwise a source that the child cannot write is written here."""
    recorded = program("rnea")

    def fail(*_: Any) -> bytes:
        raise subprocess.CalledProcessError(-9, "child")

    monkeypatch.setattr(background, "run_process", fail)
    monkeypatch.setattr(background, "is_ending", lambda: ends)
    with pytest.raises(subprocess.CalledProcessError) if ends else nullcontext():
        assert write_in_child(recorded, "rnea", True, "cpu", 1) is None
