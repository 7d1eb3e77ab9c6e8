"""Parts of launches on a GPU, tested with stand-ins: streams, targets, numbers by value, plans."""

from __future__ import annotations

import gc
from copy import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import warpdyn as wd
from warpdyn.arrays.torch_arrays import LIBRARY as TORCH
from warpdyn.execution.compile import compiling
from warpdyn.execution.launch import bound_arrays, job, launch
from warpdyn.execution.launch.bound_arrays import arrays_for_results
from warpdyn.execution.repeat import planned_call
from warpdyn.execution.repeat.call_cache import MISS, CallCache
from warpdyn.execution.repeat.planned_call import plan_launch

MODEL = wd.load_robot("cartpole")

Q = np.array([[0.1, 0.2], [0.3, -0.4]])


def describe_rnea(*args: Any, **options: Any) -> Any:
    return wd.rnea.describe(MODEL, *args, **options)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("device", "own", "has_stream"),
    [("cpu", True, False), ("cuda:0", False, False), ("cuda:0", True, True)],
)
def test_only_libraries_with_streams_give_a_launch_its_stream(
    device: str, own: bool, has_stream: bool
) -> None:
    """The launch gets it from the library each time."""
    library = SimpleNamespace(own_streams=own, stream=lambda x: ("stream", x))
    bound: Any = SimpleNamespace(device=device, library=library)
    found = launch._stream(bound)
    assert (found() if found else None) == (("stream", device) if has_stream else None)


def test_a_launch_on_a_stream_has_one_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of threads does not matter. The stream is chosen at the launch."""
    prepared = launch.prepare(describe_rnea(Q, Q, Q))
    streams = ["first", "second"]
    made = replace(prepared, stream=lambda: streams.pop(0))
    ran: list[Any] = []
    command = SimpleNamespace(set=lambda _: None, set_threads=lambda _: None, run=ran.append)
    run, commands = made._prepare(lambda: command)  # type: ignore[arg-type, return-value]
    run()
    run()
    assert commands == [command] and ran == ["first", "second"]
    nothing, none = replace(prepared, count=0)._prepare(lambda: command)  # type: ignore[arg-type, return-value]
    assert none == [] and nothing() is None  # type: ignore[func-returns-value]


def test_the_kernel_of_a_small_batch_on_a_gpu_has_its_own_target(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The target follows from device and batch. It is part of the kernel's key, like the numbers
    that are passed by value."""
    bound = bound_arrays.bind_arrays(describe_rnea(Q, Q, Q, gravity=np.zeros(3)))
    object.__setattr__(bound, "device", "cuda:0")
    asked: list[tuple] = []
    made: list[tuple] = []
    monkeypatch.setattr(launch, "target_for_batch", lambda *x: asked.append(x) or "cuda_few")
    monkeypatch.setattr(
        launch, "_make_kernel", lambda *x: made.append(x) or SimpleNamespace(writer=None)
    )
    call = describe_rnea(Q, Q, Q, gravity=np.zeros(3))
    kernels: list[Any] = []
    for numbers in ({}, {"gravity": np.zeros(3)}):
        object.__setattr__(bound, "numbers", numbers)
        kernels += [launch.kernel_for(call, bound), launch.kernel_for(call, bound)]
    assert asked == [("cuda:0", 2)] * 4 and len(made) == 2
    assert [x[-2:] for x in made] == [("cuda_few", ()), ("cuda_few", ("gravity",))]
    assert kernels[0] is kernels[1] is not kernels[2] and kernels[2] is kernels[3]
    launch.kernel_for(call, bound, "scalar")
    assert len(asked) == 4 and made[-1][-2] == "scalar"
    launch._kernels[MODEL].clear()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_by_value_follow_the_arrays_as_bits(dtype: type) -> None:
    """Their address and strides are zeros."""
    arrays = [x.astype(dtype) for x in (Q, Q, Q)]
    prepared = launch.prepare(describe_rnea(*arrays, gravity=np.array([1.0, -2.0, 0.5], dtype)))
    bound = bound_arrays.bind_arrays(
        describe_rnea(*arrays, gravity=np.array([1.0, -2.0, 0.5], dtype))
    )
    source, views = prepared.kernel.source, prepared.out_views
    plain = launch.argument_vector(source, bound, views, 2)
    object.__setattr__(bound, "numbers", {"gravity": np.array([1.0, -2.0, 0.5], dtype)})
    found = launch.argument_vector(source, bound, views, 2)
    place = len(launch.HEADER) + 3 * launch.FIELDS
    assert found[:place] == plain[:place] and found[launch.STREAM] == 2
    assert found[place : place + launch.FIELDS] == [0] * launch.FIELDS
    assert plain[place] != 0
    end = len(plain)
    assert found[place + launch.FIELDS : end] == plain[place + launch.FIELDS :]
    bits = np.array(found[end:], np.int32 if dtype == np.float32 else np.int64)
    assert bits.view(dtype).tolist() == [1.0, -2.0, 0.5]


def test_plain_numbers_of_a_call_on_a_gpu_stay_in_numpys_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They count as arrays of the call's library there."""
    views_of = bound_arrays.views.view
    q = torch.zeros((2, 2))

    def on_gpu(name: str, x: Any) -> Any:
        found = views_of(name, x)
        return found._replace(device="cuda:0") if isinstance(x, torch.Tensor) else found

    monkeypatch.setattr(bound_arrays.views, "view", on_gpu)
    bound = bound_arrays.bind_arrays(describe_rnea(q, q, q, gravity=[0.0, 0.0, -1.0]))
    assert list(bound.numbers) == ["gravity"] and bound.numbers["gravity"].dtype == np.float32
    view = bound.views["gravity"]
    assert view.device == "cuda:0" and view.library is TORCH


def test_the_cpu_stand_in_gets_the_call_and_its_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """It also gets the function that computes calls."""
    given: list[tuple] = []
    monkeypatch.setattr(job.Job, "is_for_cpu", property(lambda _: True))
    monkeypatch.setattr(launch.cpu_stand_in, "compute_on_cpu", lambda *x: given.append(x))
    call = describe_rnea(Q, Q, Q)
    made = launch.launch_call(call)
    assert given == [(call, made, launch.launch_call)]


@pytest.mark.parametrize("change", ["", "cpu", "loaded", "wait", "host", "sums", "capture"])
def test_the_cpu_computes_only_while_a_gpu_kernel_compiles(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel compiles in the background, and there is no capture."""
    monkeypatch.setattr(wd.config, "compile_device", None if change == "host" else "cpu")
    monkeypatch.setattr(wd.config, "compile", "wait" if change == "wait" else "background")
    device = SimpleNamespace(is_capturing=change == "capture")
    kernel = SimpleNamespace(on_cuda=change != "cpu", loaded=change == "loaded", device=device)
    made: Any = SimpleNamespace(kernel=kernel, sums={0: 1} if change == "sums" else {})
    assert job.Job.is_for_cpu.fget(made) is (change == "")  # type: ignore[attr-defined]


def test_sums_of_tables_have_one_dimension_of_environments() -> None:
    """More dimensions are refused, with what is needed."""
    q = np.zeros((2, 3, 2))
    bound = bound_arrays.bind_arrays(describe_rnea(q, q, q))
    source = launch.prepare(describe_rnea(q, q, q)).kernel.source

    call: Any = SimpleNamespace(derivatives=("vjp",), out=None)

    def sum_table(_: Any) -> dict:
        return {"out": (2, 3)}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warpdyn.execution.launch.bound_arrays.summed_tables", sum_table)
        with pytest.raises(ValueError) as refused:
            arrays_for_results(call, source, bound)
        wanted = "a derivative by a table needs one dimension of environments: (B, ..)"
        assert str(refused.value) == wanted
        flat = bound_arrays.bind_arrays(describe_rnea(Q, Q, Q))
        assert arrays_for_results(call, source, flat).sums == {0: ((2, 3), None)}


def test_a_call_without_a_plan_is_checked_each_time() -> None:
    """Its second call and each later one try to make a plan."""
    cache = CallCache(wd.rnea.__signature__, lambda _: None)  # type: ignore[attr-defined]
    args = (MODEL, Q, Q, Q)
    key = cache.key_of(args, {})
    assert key is not None
    asked: list[Any] = []
    for _ in range(3):
        cache.remember(key, args, {}, lambda *x: asked.append(x))  # type: ignore[arg-type, func-returns-value]
        assert cache.run(key, args, {}) is MISS
    assert len(asked) == 2 and not cache._plans and not cache._runs_left


def plan(*args: Any, **options: Any) -> Any:
    """The plan of a call of rnea, None if it has none."""
    call = describe_rnea(*args, **options)
    arrays = [x for x in (*args, options.get("out")) if x is not None]
    names = ["q", "v", "a"][: len(args)]
    return plan_launch(call, launch.prepare(call), arrays, names, lambda _: None)


def test_calls_have_plans_if_arrays_are_read_in_place() -> None:
    """A call of an empty batch has none, nor has a call with an array whose arguments cannot be
    distinguished."""
    assert plan(Q, Q.copy(), Q.copy()) is not None
    assert plan(Q, Q, Q) is not None
    empty = Q[:0]
    assert plan(empty, empty.copy(), empty.copy()) is None
    call = describe_rnea(Q, Q.copy(), Q.copy())
    prepared = launch.prepare(call)
    arrays = list(prepared.arrays.values())[:3]
    assert plan_launch(call, prepared, arrays[:2], ["q", "v"], lambda _: None) is not None
    assert plan_launch(call, prepared, [*arrays, Q], ["q", "v", "a"], lambda _: None) is None
    assert plan_launch(call, prepared, [Q.copy(), *arrays[1:]], ["q", "v", "a"], id) is None
    for change in ({"copied": {"q": "lazy"}}, {"sums": {0: ((2,), None)}}):
        assert plan_launch(call, replace(prepared, **change), arrays, ["q", "v", "a"], id) is None
    two = describe_rnea(Q, arrays[1], arrays[1])
    same = launch.prepare(two)
    odd = [arrays[1], arrays[1]]
    assert plan_launch(two, same, [Q, *odd], ["q", "v", "v"], id) is None


def test_a_plan_ends_with_the_model_of_its_params() -> None:
    """A call may have the params of an equal model. When that model is deleted, the call is checked
    again."""
    other = copy(wd.load_robot("cartpole"))
    assert other is not MODEL and other == MODEL
    params = other.params(mass={other.link_names[-1]: np.array([1.0, 2.0])})
    call = describe_rnea(Q, Q.copy(), Q.copy(), params=params)
    prepared = launch.prepare(call)
    arrays = [prepared.arrays[n] for n in ("q", "v", "a", "params:mass")]
    gone: list[int] = []
    found = plan_launch(
        call, prepared, arrays, ["q", "v", "a", "params:mass"], lambda _: gone.append(1)
    )
    assert found is not None and len(found.models) == 2
    assert found.addresses(arrays) is not MISS
    found.models[1] = lambda: None  # type: ignore[assignment, misc]
    assert found.addresses(arrays) is MISS and found.run(arrays) is MISS
    gc.collect()


def test_arrays_without_a_valid_address_are_checked_again() -> None:
    """Torch is in a transform, or an address is zero, missing or not aligned."""
    arrays = [Q, Q.copy(), Q.copy()]
    found = plan(*arrays)
    assert found.addresses(arrays) is not MISS
    ours = found.library

    class ChangedLibrary:
        def __init__(self, **changes: Any) -> None:
            self.__dict__.update(changes)

        def __getattr__(self, name: str) -> Any:
            return getattr(ours, name)

    def without_memory(_: Any) -> int:
        raise RuntimeError

    changes: tuple[dict[str, Any], ...] = (
        {"at_rest": lambda: False},
        {"address": without_memory},
        {"address": lambda _: 0},
        {"address": lambda x: ours.address(x) + 4},
    )
    for change in changes:
        found.library = ChangedLibrary(**change)
        assert found.addresses(arrays) is MISS
    found.library = ChangedLibrary(address=lambda x: ours.address(x) + 8)
    assert found.addresses(arrays) == [ours.address(x) + 8 for x in arrays]


def test_plans_have_streams_and_leading_dimensions() -> None:
    """Each run gets the current stream. New results have the call's leading dimensions."""
    arrays = [Q, Q.copy(), Q.copy()]
    found = plan(*arrays)
    wanted = wd.rnea(MODEL, *arrays)
    commands: list[Any] = []
    command = found.job.kernel.new_command()
    command.set(found.job.arguments)
    asked: list[str] = []
    run = command.run
    stand_in = SimpleNamespace(arguments=command.arguments, run=lambda x: asked.append(x) or run())
    found.job = replace(found.job, stream=lambda: "stream")
    found.idle = [stand_in]
    assert np.array_equal(found.run(arrays), wanted) and asked == ["stream"]
    assert found.idle == [stand_in] and commands == []
    deep = [np.asfortranarray(np.zeros((4, 2))).reshape(4, 2) for _ in range(3)]
    merged = plan(*deep)
    merged.merges_dimensions, merged.lead = True, (2, 2)
    assert merged.run(deep).shape == (2, 2, 2)


@pytest.mark.parametrize("is_cpu", [True, False])
def test_a_module_is_loaded_by_our_files_or_by_warp(
    is_cpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our files load it on the CPU, Warp loads it for its block size on a GPU."""
    loaded: list[tuple] = []
    monkeypatch.setattr(compiling.kernel_objects, "load", lambda *x: loaded.append(x))
    monkeypatch.setattr(compiling.wp, "force_load", lambda *x, **y: loaded.append((*x, *y.items())))

    class Module:
        """An object that can have a lock."""

    device, module = SimpleNamespace(is_cpu=is_cpu), Module()
    source = SimpleNamespace(warps=4, results={"out": (3, 2), "more": ()})
    kernel: Any = SimpleNamespace(device=device, source=source)
    compiled: Any = SimpleNamespace(module=module)
    one = compiling._Module(compiled, kernel, 1000)
    one.load()
    block = compiling.BLOCK * 4
    assert loaded == [(module, device) if is_cpu else (device, [module], ("block_dim", block))]
    by_length = (0.35 + 7e-6 * 1000) if is_cpu else (0.25 + 1.8e-5 * 1000 + 0.0034 * 7)
    assert one.seconds == pytest.approx(by_length)
    asked: list[tuple] = []
    monkeypatch.setattr(compiling, "has_compiled", lambda *x: asked.append(x) or True)
    assert not one.missing and asked == [(compiled, device, block)]


def test_planned_call_exports_miss() -> None:
    """Other modules import this answer to a call without a plan."""
    assert planned_call.MISS is MISS
