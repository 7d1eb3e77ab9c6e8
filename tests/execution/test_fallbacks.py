"""Calls if Warp, Torch, JAX or the system lack something that our fast paths use."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import warpdyn as wd
from warpdyn.arrays.libraries import NUMPY
from warpdyn.arrays.torch_arrays import LIBRARY as TORCH
from warpdyn.execution import dispatch, fast_paths, threads
from warpdyn.execution.launch import cpu_stand_in, native_threads
from warpdyn.execution.native import c_functions, native_call, torch_native
from warpdyn.execution.request.argument_checks import MOST_BY_VALUE, array_of_numbers

MODEL = wd.load_robot("cartpole")


def call_uncached(function: Any) -> Any:
    """The function below `run_once` or `cache`, without its memory."""
    return function.__wrapped__()


# The folder of calls in C


@pytest.mark.parametrize("name", ["native", "native.versions"])
def test_the_folder_of_calls_in_c_is_optional(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ModuleNotFoundError(name=f"warpdyn.execution.{name}")

    monkeypatch.setattr(fast_paths, "import_module", missing)
    assert call_uncached(fast_paths._native_call) is None


def test_a_missing_module_of_another_folder_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ModuleNotFoundError("no module named other", name="other")

    monkeypatch.setattr(fast_paths, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match="other"):
        call_uncached(fast_paths._native_call)


def test_calls_use_python_until_the_c_function_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its compile is requested once, in the background, or at once if calls wait for compiles."""
    asked: list[Any] = []
    methods = SimpleNamespace(is_made=lambda: False)
    monkeypatch.setattr(native_call, "methods", methods)
    monkeypatch.setattr(native_call, "_asked", [])
    monkeypatch.setattr(native_call.background, "enqueue", lambda task, _: asked.append(task))
    monkeypatch.setattr(wd.config, "compile", "background")
    assert not native_call.is_ready() and not native_call.is_ready()
    assert asked == [methods]
    monkeypatch.setattr(wd.config, "compile", "wait")
    assert native_call.is_ready() and asked == [methods]


@pytest.mark.parametrize("missing", ["library", "layout", "text"])
def test_calls_in_c_need_warps_record_numpys_layout_and_a_compiler(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If one of them is missing, calls use Python."""
    if missing == "library":
        monkeypatch.setattr(c_functions, "CAPTURE", "no_such_attribute")
    if missing == "layout":
        monkeypatch.setattr(c_functions, "_as_expected", lambda: False)
    if missing == "text":
        monkeypatch.setattr(c_functions, "c_text", lambda *_: None)
    assert call_uncached(c_functions.methods) is None


def test_numpys_arrays_have_the_expected_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds in this interpreter, and not in another one or on 32 bits."""
    assert c_functions._as_expected()
    with monkeypatch.context() as other:
        other.setattr(sys, "implementation", SimpleNamespace(name="pypy"))
        assert not c_functions._as_expected()
    with monkeypatch.context() as other:
        other.setattr(c_functions.ctypes, "sizeof", lambda _: 4)
        assert not c_functions._as_expected()


def test_torchs_tensors_have_the_expected_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    """They do not if the C interface lacks a function, fails or answers something else."""
    assert torch_native._as_expected() and torch_native.torch_words() is not None
    others: tuple[tuple[str, Any], ...] = (
        ("_library", lambda: None),
        ("_keys", lambda: None),
        ("_property", lambda name, x: None),
        ("_numbers", lambda name, x: [0]),
    )
    for name, other in others:
        with monkeypatch.context() as patch:
            patch.setattr(torch_native, name, other)
            assert not torch_native._as_expected()
            assert torch_native.torch_words.__wrapped__() is None
    ours = torch_native._property
    wrong = {"data_ptr": 1, "device_type": 1, "layout": 1, "dtype": 1, "dim": 7}
    for asked, value in wrong.items():
        with monkeypatch.context() as patch:
            patch.setattr(
                torch_native,
                "_property",
                lambda name, x, asked=asked, value=value: value if name == asked else ours(name, x),
            )
            assert not torch_native._as_expected(), asked
    with monkeypatch.context() as patch:
        patch.setattr(torch_native, "is_tested", lambda *_: False)
        assert torch_native.torch_words.__wrapped__() is None
    with monkeypatch.context() as patch:
        patch.setattr(torch_native, "_ASKED", ("no_such_property",))
        assert torch_native._library.__wrapped__() is None
    x = torch.zeros((2, 3))
    assert torch_native._numbers("sizes", x) == [2, 3] and torch_native._property("dim", x) == 2


def test_missing_dispatch_keys_disable_the_path_in_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """Torch does not give the keys, no word contains them, or lazy tensors have none."""
    assert torch_native._keys.__wrapped__() == torch_native._keys()
    with monkeypatch.context() as patch:
        patch.delattr(torch._C, "_dispatch_keys")
        assert torch_native._keys.__wrapped__() is None
    for number in (0, 1):
        with monkeypatch.context() as patch:
            patch.setattr(
                torch._C, "_dispatch_keys", lambda x, n=number: SimpleNamespace(raw_repr=lambda: n)
            )
            assert torch_native._keys.__wrapped__() is None


@pytest.mark.parametrize("missing", ["methods", "torch_words", "replace_backward"])
def test_nodes_in_c_need_all_of_their_parts(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_native, missing, lambda *_: None)
    if missing != "replace_backward":
        assert call_uncached(torch_native.apply) is None
    monkeypatch.setattr(torch_native, "apply", lambda: None)
    assert torch_native.node_of(SimpleNamespace(), np.zeros(1)) is None  # type: ignore[arg-type]


# Threads


def test_a_thread_that_finds_no_task_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although the list was not empty before."""

    class LateList(list):
        def __bool__(self) -> bool:
            return True

    done: list[int] = []
    monkeypatch.setattr(threads, "list", LateList, raising=False)
    threads.run_all([lambda k=k: done.append(k) for k in range(5)], 3)  # type: ignore[misc]
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_systems_without_posix_threads_have_no_native_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(native_threads, "SYSTEM_FUNCTIONS", ("no_such_function",))
        assert call_uncached(native_threads.system) is None
    with monkeypatch.context() as patch:
        patch.setattr(native_threads, "c_text", lambda *_, **__: None)
        assert call_uncached(native_threads.system) is None


def test_a_launch_uses_the_threads_that_could_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more threads are started at the end of the process."""

    class FailingThread:
        def __init__(self, _: object) -> None:
            raise OSError(11, "no more")

    monkeypatch.setattr(native_threads, "_NativeThread", FailingThread)
    monkeypatch.setattr(native_threads, "_workers", ["one"])
    assert native_threads._first_threads(None, 3) == ["one"]  # type: ignore[arg-type]
    monkeypatch.setattr(native_threads, "_NativeThread", lambda _: "more")
    ended = native_threads.threading.Event()
    monkeypatch.setattr(native_threads, "_ended", ended)
    assert native_threads._first_threads(None, 3) == ["one", "more", "more"]  # type: ignore[arg-type]
    assert native_threads._first_threads(None, 2) == ["one", "more"]  # type: ignore[arg-type]
    ended.set()
    assert len(native_threads._first_threads(None, 9)) == 3  # type: ignore[arg-type]


def test_threads_stop_at_the_end_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, and no more are started. A forked process has none."""
    stopped: list[int] = []
    workers = [SimpleNamespace(stop=lambda k=k: stopped.append(k), words=[0] * 9) for k in range(3)]
    monkeypatch.setattr(native_threads, "_ended", native_threads.threading.Event())
    monkeypatch.setattr(native_threads, "_workers", [*workers])
    monkeypatch.setattr(native_threads, "_lock", native_threads.threading.Lock())
    native_threads._stop()
    assert stopped == [0, 1, 2] and native_threads._workers == []
    assert native_threads._ended.is_set()
    native_threads._workers += workers  # type: ignore[arg-type]
    lock = native_threads._lock
    native_threads._reset_after_fork()
    assert native_threads._workers == [] and native_threads._lock is not lock
    assert [each.words for each in workers] == [[0] * 9] * 3


def test_threads_are_compiled_only_for_kernels_that_use_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One thread and kernels of a GPU need none."""
    asked: list[bool] = []
    monkeypatch.setattr(native_threads, "system", lambda: asked.append(True))
    cpu, gpu = SimpleNamespace(on_cuda=False), SimpleNamespace(on_cuda=True)
    for number, kernels, compiled in ((1, [cpu], 0), (2, [gpu], 0), (2, [], 0), (2, [gpu, cpu], 1)):
        monkeypatch.setattr(native_threads, "get_num_threads", lambda n=number: n)
        asked.clear()
        native_threads.compile_threads(kernels)  # type: ignore[arg-type]
        assert len(asked) == compiled


# Plain numbers on a GPU


@pytest.mark.parametrize("single", [True, False])
def test_plain_numbers_are_passed_by_value(single: bool) -> None:
    """They become NumPy arrays of the call's dtype, up to a limit. An array on the device is not
    changed."""
    x: Any = SimpleNamespace(label="gravity")
    dtype = np.float32 if single else np.float64
    first: Any = SimpleNamespace(library=TORCH, device="cuda:0", single=single)
    for given in ([1, 2, 3], (1.0, 2.0, 3.0), np.array([1, 2, 3])):
        found = array_of_numbers(x, given, first)
        assert isinstance(found, np.ndarray) and found.dtype == dtype
        assert found.tolist() == [1.0, 2.0, 3.0]
    assert array_of_numbers(x, np.array(2), first).dtype == dtype
    most = [0.5] * MOST_BY_VALUE
    assert len(array_of_numbers(x, most, first)) == MOST_BY_VALUE
    with pytest.raises(ValueError) as refused:
        array_of_numbers(x, [*most, 0.5], first)
    assert str(refused.value) == (
        f"gravity has {MOST_BY_VALUE + 1} plain numbers, but a launch on cuda:0 takes at most "
        f"{MOST_BY_VALUE}; pass an array of torch there"
    )
    with pytest.raises(
        TypeError, match=r"gravity must be numbers \(x, y, z\) or an array, got 'x'"
    ):
        array_of_numbers(x, "x", first)
    ours: Any = SimpleNamespace(library=NUMPY, device="cpu", single=single)
    same = np.zeros((2, 3), dtype)
    assert array_of_numbers(x, same, ours) is same
    assert array_of_numbers(x, [1, 2], ours).dtype == dtype


def test_plain_numbers_are_not_moved_to_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of numbers are, and on the CPU all are."""
    q, v, a = (torch.zeros((2, 2)) for _ in range(3))
    row = np.array([0.0, 0.0, -1.0], np.float32)
    moved: dict[tuple[bool, int], bool] = {}
    for on_cuda in (False, True):
        monkeypatch.setattr(type(TORCH), "on_cuda", lambda *_, value=on_cuda: value)
        for gravity in (row, np.tile(row, (2, 1))):
            call = wd.rnea.describe(MODEL, q, v, a, gravity=gravity)  # type: ignore[attr-defined]
            arrays = dispatch.gather(dispatch.in_one_library(call))[1]
            moved[on_cuda, gravity.ndim] = isinstance(arrays["gravity"], torch.Tensor)
    assert moved == {(False, 1): True, (False, 2): True, (True, 1): False, (True, 2): True}


def test_the_cpu_computes_for_a_gpu_during_the_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are copied there and back, plain numbers are passed unchanged."""
    q, v = np.array([[0.1, 0.2]]), np.array([[1.0, 2.0]])
    call = wd.rnea.describe(MODEL, q, v, v, gravity=[0.0, 0.0, -1.0])  # type: ignore[attr-defined]
    seen: list[Any] = []
    written: list[Any] = []
    library = SimpleNamespace(
        to_host=lambda x: np.asarray(x), write=lambda x, values: written.append((x, values))
    )
    job: Any = SimpleNamespace(
        kernel=SimpleNamespace(compile_soon=lambda: seen.append("soon")),
        library=library,
        results=("out",),
    )

    def compute(host: Any) -> Any:
        seen.append(host)
        return SimpleNamespace(results=([[5.0, 6.0]],))

    cpu_stand_in.compute_on_cpu(call, job, compute)
    assert seen[0] == "soon" and seen[1].out is None
    assert seen[1].arrays["gravity"] == [0.0, 0.0, -1.0] and seen[1].arrays["q"] is q
    ((place, values),) = written
    assert place == "out" and values.tolist() == [[5.0, 6.0]]


@pytest.mark.parametrize("kind", ["conjugate", "zero", "functional", "parameter", ""])
def test_each_kind_of_lazy_tensor_has_a_key(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that no plain tensor has. If Torch returned plain tensors in place of lazy ones, the
    path in C would be off."""
    plain = torch.zeros((4, 3))

    class OtherTorch:
        """Torch, except for one kind of tensor."""

        def __getattr__(self, name: str) -> Any:
            return getattr(torch, name)

        def zeros(self, shape: Any, **options: Any) -> Any:
            if kind == "conjugate" and options.get("dtype") is torch.complex64:
                return SimpleNamespace(conj=lambda: SimpleNamespace(imag=plain.clone()))
            return torch.zeros(shape, **options)

    other = OtherTorch()
    if kind == "zero":
        other._efficientzerotensor = torch.zeros  # type: ignore[attr-defined]
    if kind == "functional":
        other._to_functional_tensor = torch.clone  # type: ignore[attr-defined]
    if kind == "parameter":
        lazy = torch._efficientzerotensor((4, 3))
        other.nn = SimpleNamespace(Parameter=lambda _: lazy)  # type: ignore[attr-defined]
    monkeypatch.setattr(torch_native, "torch", other)
    assert (torch_native._keys.__wrapped__() is None) is bool(kind)
