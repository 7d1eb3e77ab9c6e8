"""What calls do where Warp, Torch, JAX or the system lack something that our fast paths use."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import warp as wp

import warpdyn as wd
from warpdyn.arrays.libraries import NUMPY
from warpdyn.arrays.torch_arrays import LIBRARY as TORCH
from warpdyn.execution import dispatch, fast_paths, threads
from warpdyn.execution.autodiff import foreign_call
from warpdyn.execution.compile import (
    c_object,
    compiler_process,
    interpreted_program,
    interpreter,
    kernel,
    kernel_cache,
    kernel_objects,
    precompiled_header,
    sealed_files,
    warp_start,
    writer_process,
)
from warpdyn.execution.compile.interpreted_program import (
    MOST_BOUNDS,
    InterpretedCommand,
    InterpretedProgram,
)
from warpdyn.execution.launch import cpu_stand_in, native_threads
from warpdyn.execution.native import c_functions, native_call, torch_native
from warpdyn.execution.request.argument_checks import MOST_BY_VALUE, array_of_numbers

MODEL = wd.load_robot("cartpole")


def unwrapped(function: Any) -> Any:
    """The function below `run_once` or `cache`, which remembers nothing."""
    return function.__wrapped__()


# The folder of calls in C


@pytest.mark.parametrize("name", ["native", "native.versions"])
def test_without_the_folder_of_calls_in_c(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ModuleNotFoundError(name=f"warpdyn.execution.{name}")

    monkeypatch.setattr(fast_paths, "import_module", missing)
    assert unwrapped(fast_paths._native_call) is None


def test_a_module_that_the_folder_lacks_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise ModuleNotFoundError("no module named other", name="other")

    monkeypatch.setattr(fast_paths, "import_module", missing)
    with pytest.raises(ModuleNotFoundError, match="other"):
        unwrapped(fast_paths._native_call)


def test_calls_stay_in_python_until_the_c_function_is_compiled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is asked for once, in the background; where calls wait for compiles, at once."""
    asked: list[Any] = []
    methods = SimpleNamespace(is_made=lambda: False)
    monkeypatch.setattr(native_call, "methods", methods)
    monkeypatch.setattr(native_call, "_asked", [])
    monkeypatch.setattr(native_call.background, "enqueue", asked.append)
    monkeypatch.setattr(wd.config, "compile", "background")
    assert not native_call.is_ready() and not native_call.is_ready()
    assert asked == [methods]
    monkeypatch.setattr(wd.config, "compile", "wait")
    assert native_call.is_ready() and asked == [methods]


@pytest.mark.parametrize("missing", ["library", "layout", "text"])
def test_calls_in_c_need_what_they_read(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warp's record of launches, arrays as we know them, and a compiled function."""
    if missing == "library":
        monkeypatch.setattr(c_functions, "CAPTURE", "no_such_attribute")
    if missing == "layout":
        monkeypatch.setattr(c_functions, "_as_expected", lambda: False)
    if missing == "text":
        monkeypatch.setattr(c_functions, "c_text", lambda *_: None)
    assert unwrapped(c_functions.methods) is None


def test_arrays_of_numpy_are_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here; not in another interpreter, nor on 32 bits."""
    assert c_functions._as_expected()
    with monkeypatch.context() as other:
        other.setattr(sys, "implementation", SimpleNamespace(name="pypy"))
        assert not c_functions._as_expected()
    with monkeypatch.context() as other:
        other.setattr(c_functions.ctypes, "sizeof", lambda _: 4)
        assert not c_functions._as_expected()


def test_tensors_of_torch_are_as_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here; not where the C interface lacks a function, fails or says something else."""
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


def test_keys_of_tensors_that_are_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Torch does not tell them, where no word has them, where lazy tensors have none."""
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
def test_nodes_in_c_need_what_they_read(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_native, missing, lambda *_: None)
    if missing != "replace_backward":
        assert unwrapped(torch_native.apply) is None
    monkeypatch.setattr(torch_native, "apply", lambda: None)
    assert torch_native.node_of(SimpleNamespace(), np.zeros(1)) is None  # type: ignore[arg-type]


# Threads


def test_a_late_thread_finds_no_task(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the list was not empty when it looked."""

    class LateList(list):
        def __bool__(self) -> bool:
            return True

    done: list[int] = []
    monkeypatch.setattr(threads, "list", LateList, raising=False)
    threads.run_all([lambda k=k: done.append(k) for k in range(5)], 3)  # type: ignore[misc]
    assert sorted(done) == [0, 1, 2, 3, 4]


def test_systems_without_posix_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(native_threads, "SYSTEM", ("no_such_function",))
        assert unwrapped(native_threads.system) is None
    with monkeypatch.context() as patch:
        patch.setattr(native_threads, "c_text", lambda *_, **__: None)
        assert unwrapped(native_threads.system) is None


def test_a_system_that_starts_no_more_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """The launch has those that there are; none at the end of the process."""

    class Refused:
        def __init__(self, _: object) -> None:
            raise OSError(11, "no more")

    monkeypatch.setattr(native_threads, "_NativeThread", Refused)
    monkeypatch.setattr(native_threads, "_workers", ["one"])
    assert native_threads._at_hand(None, 3) == ["one"]  # type: ignore[arg-type]
    monkeypatch.setattr(native_threads, "_NativeThread", lambda _: "more")
    ended = native_threads.threading.Event()
    monkeypatch.setattr(native_threads, "_ended", ended)
    assert native_threads._at_hand(None, 3) == ["one", "more", "more"]  # type: ignore[arg-type]
    assert native_threads._at_hand(None, 2) == ["one", "more"]  # type: ignore[arg-type]
    ended.set()
    assert len(native_threads._at_hand(None, 9)) == 3  # type: ignore[arg-type]


def test_threads_stop_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, and no more are started; a forked process has none."""
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
    native_threads._begin_anew()
    assert native_threads._workers == [] and native_threads._lock is not lock
    assert [each.words for each in workers] == [[0] * 9] * 3


def test_threads_are_compiled_where_kernels_use_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for one thread, and not for a GPU's kernels."""
    asked: list[bool] = []
    monkeypatch.setattr(native_threads, "system", lambda: asked.append(True))
    cpu, gpu = SimpleNamespace(on_cuda=False), SimpleNamespace(on_cuda=True)
    for number, kernels, compiled in ((1, [cpu], 0), (2, [gpu], 0), (2, [], 0), (2, [gpu, cpu], 1)):
        monkeypatch.setattr(native_threads, "get_num_threads", lambda n=number: n)
        asked.clear()
        native_threads.compile_threads(kernels)  # type: ignore[arg-type]
        assert len(asked) == compiled


# Warp


def test_the_handler_of_xla_needs_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """And yields by the system's function, if there is one."""
    assert foreign_call._yield.__wrapped__() != 0
    with monkeypatch.context() as patch:
        patch.setattr(foreign_call, "_text", lambda: None)
        assert foreign_call.handler.__wrapped__() is None
    for library in (SimpleNamespace(), SimpleNamespace(sched_yield="no function")):
        with monkeypatch.context() as patch:
            patch.setattr(foreign_call.ctypes, "CDLL", lambda _, each=library: each)
            if isinstance(getattr(library, "sched_yield", None), str):
                patch.setattr(foreign_call.ctypes, "cast", _raise_type_error)
            assert foreign_call._yield.__wrapped__() == 0


def _raise_type_error(*_: object) -> None:
    raise TypeError


def test_the_interpreter_needs_warps_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(interpreter.c_object, "is_possible", lambda: False)
        assert interpreter._load(True) is None
    with monkeypatch.context() as patch:
        patch.setattr(interpreter, "CAPTURE", "no_such_attribute")
        assert interpreter._load(True) is None


@pytest.mark.parametrize("single", [True, False])
def test_an_interpreter_that_cannot_be_compiled(
    single: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where Clang may not run: what is missing, and where it could come from."""

    def refused(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(interpreter.c_object, "is_compiled", lambda *_: True)
    monkeypatch.setattr(interpreter.c_object, "load_object", refused)
    with pytest.raises(OSError) as error:
        interpreter._load(single)
    assert error.value.errno == 28
    assert error.value.strerror == (
        "the interpreter of programs is not compiled: No space left on device. Where Clang may not "
        f"run, {kernel_cache.kernel_cache_directory()} has to hold its object already: call a function "
        "with arrays of this dtype where Clang may run, on the same kind of processor"
    )


def test_an_object_that_warp_cannot_load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert c_object.is_possible()
    library = SimpleNamespace(wp_load_obj=lambda *_: 1)
    monkeypatch.setattr(c_object.context, "runtime", SimpleNamespace(llvm=library))
    monkeypatch.setattr(c_object.kernel_objects, "is_whole", lambda _: True)
    with pytest.raises(RuntimeError, match=r"^Warp could not load .*/numbers\.o$"):
        c_object.load_object("numbers", "source", "twice")


def test_launches_without_warps_hooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warp's own launch takes their place; it has no address."""
    z = np.zeros((1, 2))
    wd.crba(MODEL, z)
    one = kernel.KernelCommand.__new__(kernel.KernelCommand)
    ran: list[str] = []
    launch = SimpleNamespace(
        hooks=SimpleNamespace(forward=None),
        device=SimpleNamespace(is_cpu=True),
        block_dim=1,
        launch=lambda: ran.append("launch"),
    )
    one._launch = launch
    one.run_at_once()
    assert ran == ["launch"] and one.address is None and kernel._entry(launch) is None
    for key, value in (("block_dim", 2), ("device", SimpleNamespace(is_cpu=False))):
        hooks = SimpleNamespace(forward=lambda *_: None)
        other = SimpleNamespace(**{**vars(launch), "hooks": hooks, key: value})
        assert kernel._forward(other) is None
    fit = SimpleNamespace(**{**vars(launch), "hooks": SimpleNamespace(forward=len)})
    assert kernel._forward(fit) is len
    with monkeypatch.context() as patch:
        patch.setattr(kernel, "CAPTURE", "no_such_attribute")
        assert kernel._entry(fit) is None and kernel.records_launches()


def test_a_launch_on_cuda_has_whole_blocks() -> None:
    """Set only where it changes, and never on the CPU."""
    set_to: list[int] = []
    for on_cuda in (False, True):
        one = kernel.KernelCommand.__new__(kernel.KernelCommand)
        one._on_cuda, one._threads, one._warps = on_cuda, 1, 2
        one._launch = SimpleNamespace(set_dim=set_to.append)
        for count in (1, kernel.BLOCK, kernel.BLOCK + 1, 2 * kernel.BLOCK):
            one.set_threads(count)
    assert set_to == [2 * kernel.BLOCK, 4 * kernel.BLOCK]


def test_a_kernel_with_shared_memory_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a tile of as many floats, which makes each launch ask."""
    source = SimpleNamespace(
        name="a b", code="// no statement", layout=SimpleNamespace(length=5), shared_bytes=50_000
    )
    made: list[str] = []
    monkeypatch.setattr(kernel.linecache, "cache", {})
    for size in (50_000, 0):
        source.shared_bytes = size
        compiled = kernel.compile_kernel(source)  # type: ignore[arg-type]
        (text,) = ("".join(lines) for _, _, lines, _ in kernel.linecache.cache.values())
        made.append(text)
        assert compiled.key.startswith("warpdyn_a_b")
    assert "wp.tile_empty(shape=12500, dtype=float, storage='shared')" in made[0]
    assert "tile_empty" not in made[1]


def test_the_cache_of_a_gpu_is_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for each size of blocks, with a file of either kind."""
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    module = SimpleNamespace(get_module_identifier=lambda block: f"wp_module_{block}")
    one: Any = SimpleNamespace(module=module)
    device: Any = SimpleNamespace(is_cpu=False)
    assert not kernel_cache.has_compiled(one, device, 64)
    for name, there in (("a.o", False), ("a.ptx", True)):
        (tmp_path / "wp_module_64").mkdir(exist_ok=True)
        (tmp_path / "wp_module_64" / name).write_text("")
        assert kernel_cache.has_compiled(one, device, 64) is there
    assert not kernel_cache.has_compiled(one, device, 32)
    (tmp_path / "wp_module_64" / "a.ptx").rename(tmp_path / "wp_module_64" / "a.cubin")
    assert kernel_cache.has_compiled(one, device, 64)


# Folders and processes


def test_a_folder_of_kernels_that_warp_has_just_made(tmp_path: Path) -> None:
    """Open to others by the umask: it is closed if it is empty, and refused if it is not."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    folder.chmod(0o777)
    kernel_cache._probe(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "a").write_text("")
    folder.chmod(0o777)
    with pytest.raises(OSError, match="every user can write to it, and kernels in it would run"):
        kernel_cache._probe(folder)


def test_groups_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may have other members; root's own group is private to root."""
    private = sealed_files._is_private.__wrapped__
    monkeypatch.setattr(sealed_files.os, "geteuid", lambda: 4242)
    assert not private(0)
    user = SimpleNamespace(pw_name="me", pw_gid=77)
    monkeypatch.setattr(sealed_files.pwd, "getpwuid", lambda _: user)
    assert not private(2**31 - 7)
    for name, number, members, alone in (
        ("me", 77, [], True),
        ("me", 77, ["me"], True),
        ("me", 77, ["me", "you"], False),
        ("us", 77, [], False),
        ("me", 78, [], False),
    ):
        entry = SimpleNamespace(gr_name=name, gr_mem=members)
        monkeypatch.setattr(sealed_files.grp, "getgrgid", lambda _, entry=entry: entry)
        assert private(number) is alone
    monkeypatch.setattr(sealed_files.os, "geteuid", lambda: 0)
    assert private(0)


def test_a_header_that_no_disk_can_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it stays in the compiler's folder."""
    monkeypatch.setattr(precompiled_header.sealed_files, "read", lambda _: b"header")

    class FullPath(type(tmp_path)):  # type: ignore[misc]
        def write_bytes(self, data: bytes) -> int:
            super().write_bytes(data[:3])
            raise OSError(28, "No space left on device")

    target = FullPath(tmp_path / "a.pch")
    assert not precompiled_header._lend(tmp_path / "kept", target) and not target.exists()
    assert precompiled_header._lend(tmp_path / "kept", tmp_path / "b.pch")
    assert (tmp_path / "b.pch").read_bytes() == b"header"


def test_warp_starts_where_stderr_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is held back then; otherwise only the line about the driver is."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    sys.stderr.close()
    ran: list[int] = []
    with warp_start._without_line("driver"):
        ran.append(1)
    assert ran == [1]


def test_lines_beside_the_dropped_one(capfd: pytest.CaptureFixture[str]) -> None:
    with warp_start._without_line("driver"):
        os.write(2, b"first\nno driver\nlast\n")
    assert capfd.readouterr().err == "first\nlast\n"


@pytest.mark.parametrize(
    ("code", "written", "number", "said"),
    [
        (3, "", 5, "with exit code 3"),
        (-9, "", 12, "by SIGKILL"),
        (-15, "a\nb", 5, "by SIGTERM (a)"),
        (-999, "", 5, "with exit code -999"),
        (1, "LLVM ERROR: No space left on device", 28, "(LLVM ERROR: No space left on device)"),
        (1, "File too large", 28, "with exit code 1 (File too large)"),
        (1, "Out of MEMORY", 12, "with exit code 1 (Out of MEMORY)"),
        (-6, "std::bad_alloc", 12, "by SIGABRT (std::bad_alloc)"),
    ],
)
def test_how_a_compiler_process_ended(code: int, written: str, number: int, said: str) -> None:
    """By a signal's name or its exit code, with its first line; the kind of error from its words."""
    error = compiler_process._exit_error(code, written)
    assert error.errno == number and str(error.strerror).startswith("the compiler process ended")
    assert said in str(error.strerror)


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ({"errno": 28, "error": "full"}, 28),
        ({"errno": None, "error": "failed to map segment"}, 12),
        ({"errno": None, "error": "cannot allocate memory"}, 12),
        ({"errno": None, "error": "no such library"}, 5),
    ],
)
def test_answers_of_a_compiler_that_failed(
    answer: dict[str, Any], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is ended, and the kind of error is the system's or follows from the words."""
    compiler = SimpleNamespace(
        ask=lambda _: (answer, ""), kill=lambda: ended.append(1), reused=False
    )
    ended: list[int] = []
    monkeypatch.setattr(compiler_process, "_next_compiler", lambda _: compiler)
    with pytest.raises(compiler_process.CompilerEndedError) as error:
        compiler_process.compile_object({})
    assert error.value.errno == number and ended == [1]
    assert error.value.strerror == f"the compiler process failed ({answer['error']})"


def test_what_a_compiler_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its warnings are printed; a source that it rejects is an error. It may be asked again."""
    answers = [({"code": 0}, "a warning"), ({"code": 0}, ""), ({"code": 2}, "no such type")]
    compiler = SimpleNamespace(ask=lambda _: answers.pop(0), reused=False)
    idle: list[Any] = []
    monkeypatch.setattr(compiler_process, "_next_compiler", lambda _: compiler)
    monkeypatch.setattr(compiler_process, "_idle", idle)
    compiler_process.compile_object({})
    assert capsys.readouterr().err == "a warning\n" and compiler.reused
    compiler_process.compile_object({})
    assert capsys.readouterr().err == "" and idle == [compiler] * 2
    with pytest.raises(RuntimeError, match=r"^Clang failed with error code 2: no such type$"):
        compiler_process.compile_object({})


def test_a_process_that_ended_while_it_waited_is_asked_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another takes its place, silently; a new one that ends is an error, and so is a message."""
    asked: list[str] = []

    def compiler(name: str, reused: bool, code: int, written: str) -> Any:
        def ask(_: object) -> tuple[Any, str]:
            asked.append(name)
            return (None, written) if name != "good" else ({"code": 0}, "")

        return SimpleNamespace(ask=ask, end=lambda: code, reused=reused)

    def compile_with(*compilers: Any) -> None:
        waiting = [*compilers]
        monkeypatch.setattr(compiler_process, "_next_compiler", lambda _: waiting.pop(0))
        compiler_process.compile_object({})

    good = compiler("good", False, 0, "")
    monkeypatch.setattr(compiler_process, "_idle", [])
    compile_with(compiler("old", True, 0, ""), good)
    assert asked == ["old", "good"]
    for reused, code, written in ((False, 0, ""), (True, 1, ""), (True, 0, "words")):
        with pytest.raises(compiler_process.CompilerEndedError):
            compile_with(compiler("bad", reused, code, written), good)


def test_a_pipe_that_is_closed_is_an_ended_process() -> None:
    class ClosedPipe:
        def write(self, _: bytes) -> None:
            raise BrokenPipeError

    one = compiler_process._Compiler.__new__(compiler_process._Compiler)
    one.process = SimpleNamespace(stdin=ClosedPipe(), stdout=io.BytesIO())  # type: ignore[assignment]
    assert one.ask({}) == (None, "")
    said = io.BytesIO(b"a line\n\xff\n\0" + b'{"code": 3}\n')
    one.process = SimpleNamespace(stdin=io.BytesIO(), stdout=said)  # type: ignore[assignment]
    assert one.ask({"a": 1}) == ({"code": 3}, "a line\n\ufffd")
    one.process = SimpleNamespace(stdin=io.BytesIO(), stdout=io.BytesIO(b"end\n"))  # type: ignore[assignment]
    assert one.ask({}) == (None, "end")


@pytest.mark.parametrize("reason", ["environment", "interpreter", "process", "pickle"])
def test_programs_that_no_child_can_write(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process writes them itself."""

    def refused(*_: object, **__: object) -> None:
        if reason == "pickle":
            raise writer_process.pickle.PicklingError
        raise OSError(11, "no more processes")

    monkeypatch.delenv(compiler_process.IN_CHILD, raising=False)
    monkeypatch.setattr(writer_process, "replace", lambda x: x)
    if reason == "environment":
        monkeypatch.setenv(compiler_process.IN_CHILD, "0")
    if reason == "interpreter":
        monkeypatch.setattr(writer_process, "no_interpreter", lambda: "an application")
    if reason == "pickle":
        monkeypatch.setattr(writer_process.pickle, "dumps", refused)
    monkeypatch.setattr(writer_process.subprocess, "run", refused)
    assert writer_process.write_in_child(None, "a", True, "cpu", 0) is None  # type: ignore[arg-type]


def test_flags_of_folders_reach_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each folder's own path, whatever links lead there; in this process only with enough room."""
    options = {
        **c_object._options(),
        "cpu_compiler_flags": "-a -b",
        "extra_cpu_include_dirs": (str(tmp_path / "link"),),
        "mode": "debug",
        "optimization_level": None,
        "use_precompiled_headers": True,
    }
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    source, target = tmp_path / "a.cpp", tmp_path / "a.o"
    source.write_text("text")
    requests: list[tuple[dict[str, Any], int]] = []
    monkeypatch.setattr(kernel_objects, "compiler_folder", lambda: tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(kernel_objects, "in_child", lambda _: True)
        patch.setattr(kernel_objects, "compile_object", lambda *x: requests.append(x))
        kernel_objects._compile(source, target, options)
        patch.setattr(kernel_objects.background, "in_background", lambda: True)
        kernel_objects._compile(source, target, {**options, "use_precompiled_headers": False})
    (first, niceness), (second, gives_way) = requests
    assert (niceness, gives_way) == (0, kernel_objects.background.NICENESS)
    assert first["flags"] == ["-a", "-b", "-I", str(tmp_path / "real")]
    assert first["optimization_level"] == 2 and first["debug"] is True
    assert (first["header_folder"], second["header_folder"]) == (str(tmp_path), None)
    assert (first["source"], first["object"]) == (str(source), str(target))
    room: list[tuple[Path, int]] = []
    built: list[dict[str, Any]] = []
    monkeypatch.setattr(kernel_objects, "in_child", lambda _: False)
    monkeypatch.setattr(kernel_objects, "check_room", lambda *x: room.append(x))
    monkeypatch.setattr(kernel_objects.build, "build_cpu", lambda *_, **x: built.append(x))
    least = kernel_objects.SPACE + kernel_objects.SPACE_PER_CHARACTER * 4
    for header, kept, more in ((True, False, 1), (True, True, 0), (False, False, 0)):
        monkeypatch.setattr(kernel_objects, "has_header", lambda kept=kept: kept)
        room.clear()
        kernel_objects._compile(source, target, {**options, "use_precompiled_headers": header})
        assert room[0] == (tmp_path, least) and len(room) == 1 + more
        assert built[-1]["pch_dir"] == (str(tmp_path) if header else None)


def test_what_lies_where_a_kernel_belongs(tmp_path: Path) -> None:
    """A file there is replaced by the folder; a build without an object is an error."""
    place = kernel_objects.ObjectFiles(tmp_path / "there", "a.o", "a.json")
    place.folder.write_text("a file")
    made = tmp_path / "made"
    for whole in (False, True):
        made.mkdir(exist_ok=True)
        for name in ("a.cpp", "a.json", *(["a.o"] if whole else [])):
            (made / name).write_text(name)
        if whole:
            kernel_objects._keep(made, "a.cpp", place)
        else:
            with pytest.raises(OSError, match="the compiler left no object file"):
                kernel_objects._keep(made, "a.cpp", place)
    assert kernel_objects.is_whole(place) and (place.folder / "a.o").read_text() == "a.o"
    made.mkdir(exist_ok=True)
    for name in ("a.cpp", "a.json", "a.o"):
        (made / name).write_text(name)
    (place.folder / "more").write_text("stays")
    kernel_objects._keep(made, "a.cpp", place)
    assert kernel_objects.is_whole(place) and (place.folder / "more").read_text() == "stays"


# Plain numbers on a GPU


@pytest.mark.parametrize("single", [True, False])
def test_plain_numbers_are_passed_by_value(single: bool) -> None:
    """As NumPy's arrays of the call's dtype, up to a number; an array of the device stays."""
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
        f"gravity has {MOST_BY_VALUE + 1} plain numbers, and a launch on cuda:0 takes at most "
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


def test_numbers_that_a_launch_passes_are_not_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU; rows of numbers are, and on the CPU all are."""
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


def test_the_cpu_computes_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the kernel is compiled: arrays go there and back, plain numbers as they are."""
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


def test_a_program_stays_interpreted_without_an_address() -> None:
    """Of its kernel, or with more bounds than the interpreter reads."""
    program = InterpretedProgram.__new__(InterpretedProgram)
    program._words, program._held = [0, 0, 0], []  # type: ignore[assignment]
    for address, bounds in ((None, [1]), (7, [1] * (MOST_BOUNDS + 1))):
        program.switch_to(SimpleNamespace(address=address, bounds=bounds))  # type: ignore[arg-type]
        assert not program.is_compiled and program._held == []
    command = SimpleNamespace(address=7, bounds=[1] * MOST_BOUNDS)
    program.switch_to(command)  # type: ignore[arg-type]
    assert program.is_compiled and program._words[0] == 7 and program._words[2] == MOST_BOUNDS
    assert program._held[0] is command and program._held[1].tolist() == [1] * MOST_BOUNDS


def test_an_interpreted_launch_while_warp_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warp records the compiled kernel instead; what runs at once does not."""
    ran: list[Any] = []
    recorded = SimpleNamespace(set=ran.append, run=lambda: ran.append("recorded"))
    interpreter = SimpleNamespace(address=3, function=lambda *x: ran.append(len(x)))
    program: Any = SimpleNamespace(
        layout=SimpleNamespace(length=4), interpreter=interpreter, bounds=[1, 2]
    )
    runtime = SimpleNamespace(_apic_capture=None)
    monkeypatch.setattr(interpreted_program.wp._src.context, "runtime", runtime)
    command = InterpretedCommand(program, lambda: recorded)  # type: ignore[arg-type, return-value]
    command.set([5, 6, 7, 8])
    assert command.run("result") == "result" and ran == [2]
    runtime._apic_capture = "a capture"
    assert command.run("result") == "result" and ran == [2, [5, 6, 7, 8], "recorded"]
    command.run_at_once()
    assert ran[3:] == [2]


def test_neither_a_cache_nor_a_temporary_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(kernel_cache.tempfile, "TemporaryDirectory", refused)
    monkeypatch.setattr(wp.config, "kernel_cache_dir", "/cache")
    with pytest.raises(OSError) as error:
        kernel_cache._folder_of_this_process(OSError(28, "No space left on device"))
    assert error.value.errno == 13 and error.value.strerror == (
        "kernels can be compiled neither into /cache (No space left on device) nor into a temporary "
        "folder (Permission denied); set WARP_CACHE_PATH, or TMPDIR, to a folder that can be written"
    )


def test_headers_in_our_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of folders with names like ours; neither links nor other files."""
    monkeypatch.setattr(precompiled_header, "cache_directory", lambda: tmp_path)
    assert precompiled_header.header_files() == []
    top = tmp_path / precompiled_header.HEADERS
    for folder in ("0123456789abcdef", "fedcba9876543210", "0123", "other"):
        (top / folder).mkdir(parents=True)
        for name in ("builtin.pch", ".builtin-a.pch.x1", "more.pch", "builtin.pc"):
            (top / folder / name).write_text("")
    (top / ("a" * 16)).symlink_to(top / "other")
    (top / ("b" * 16)).write_text("")
    found = [path.relative_to(top).as_posix() for path in precompiled_header.header_files()]
    assert found == [
        f"{folder}/{name}"
        for folder in ("0123456789abcdef", "fedcba9876543210")
        for name in (".builtin-a.pch.x1", "builtin.pch")
    ]
    link = tmp_path / "linked"
    link.mkdir()
    (link / precompiled_header.HEADERS).symlink_to(top)
    monkeypatch.setattr(precompiled_header, "cache_directory", lambda: link)
    assert precompiled_header.header_files() == []
