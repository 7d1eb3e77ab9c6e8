"""Compiles and launches if Warp, Python or the system lack something that we use."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import warp as wp

import warpdyn as wd
from warpdyn.execution.autodiff import foreign_call
from warpdyn.execution.compile import (
    c_object,
    interpreted_program,
    interpreter,
    kernel,
    kernel_cache,
    kernel_objects,
    precompiled_header,
)
from warpdyn.execution.compile.interpreted_program import (
    MOST_BOUNDS,
    InterpretedCommand,
    InterpretedProgram,
)

MODEL = wd.load_robot("cartpole")


# Launches


def test_there_is_no_handler_of_xla_without_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """It yields by the system's function, if there is one."""
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


def test_there_is_no_interpreter_without_warps_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(interpreter.c_object, "is_possible", lambda: False)
        assert interpreter._load(True) is None
    with monkeypatch.context() as patch:
        patch.setattr(interpreter, "CAPTURE", "no_such_attribute")
        assert interpreter._load(True) is None


@pytest.mark.parametrize("single", [True, False])
def test_the_error_of_an_uncompiled_interpreter_names_the_remedy(
    single: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If Clang may not run, the message says what is missing and which machine could provide it."""

    def raise_disk_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(interpreter.c_object, "is_compiled", lambda *_: True)
    monkeypatch.setattr(interpreter.c_object, "load_object", raise_disk_full)
    with pytest.raises(OSError) as error:
        interpreter._load(single)
    assert error.value.errno == 28
    assert error.value.strerror == (
        "the interpreter of programs is not compiled: No space left on device. Where Clang may not "
        f"run, {kernel_cache.kernel_cache_directory()} has to hold its object already: call a function "
        "with arrays of this dtype where Clang may run, on the same kind of processor"
    )


def test_an_object_that_warp_cannot_load_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert c_object.is_possible()
    library = SimpleNamespace(wp_load_obj=lambda *_: 1)
    monkeypatch.setattr(c_object.context, "runtime", SimpleNamespace(llvm=library))
    monkeypatch.setattr(c_object.kernel_objects, "is_whole", lambda _: True)
    with pytest.raises(RuntimeError, match=r"^Warp could not load .*/numbers\.o$"):
        c_object.load_object("numbers", "source", "twice")


def test_launches_without_warps_hooks_use_warps_own_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a launch has no address."""
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


def test_a_launch_on_cuda_has_complete_blocks() -> None:
    """The number of threads is set only if it changes, and never on the CPU."""
    set_to: list[int] = []
    for on_cuda in (False, True):
        one = kernel.KernelCommand.__new__(kernel.KernelCommand)
        one._on_cuda, one._threads, one._warps = on_cuda, 1, 2
        one._launch = SimpleNamespace(set_dim=set_to.append)
        for count in (1, kernel.BLOCK, kernel.BLOCK + 1, 2 * kernel.BLOCK):
            one.set_threads(count)
    assert set_to == [2 * kernel.BLOCK, 4 * kernel.BLOCK]


def test_a_kernel_with_shared_memory_declares_a_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tile has as many floats, so that each launch requests the memory."""
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


def test_compiled_kernels_of_a_gpu_are_found_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each block size has a folder, with a file of either type."""
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


# Programs


def test_a_kernel_without_an_address_does_not_replace_the_interpreter() -> None:
    """Nor does one with more bounds than the interpreter reads."""
    program = InterpretedProgram.__new__(InterpretedProgram)
    program._words, program._held = [0, 0, 0], []  # type: ignore[assignment]
    for address, bounds in ((None, [1]), (7, [1] * (MOST_BOUNDS + 1))):
        program.switch_to(SimpleNamespace(address=address, bounds=bounds))  # type: ignore[arg-type]
        assert not program.is_compiled and program._held == []
    command = SimpleNamespace(address=7, bounds=[1] * MOST_BOUNDS)
    program.switch_to(command)  # type: ignore[arg-type]
    assert program.is_compiled and program._words[0] == 7 and program._words[2] == MOST_BOUNDS
    assert program._held[0] is command and program._held[1].tolist() == [1] * MOST_BOUNDS


def test_warp_records_the_compiled_kernel_of_an_interpreted_launch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A launch outside a recording is interpreted."""
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


def test_one_error_reports_that_no_folder_is_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_permission_error(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(kernel_cache.tempfile, "TemporaryDirectory", raise_permission_error)
    monkeypatch.setattr(wp.config, "kernel_cache_dir", "/cache")
    with pytest.raises(OSError) as error:
        kernel_cache._folder_of_this_process(OSError(28, "No space left on device"))
    assert error.value.errno == 13 and error.value.strerror == (
        "kernels can be compiled neither into /cache (No space left on device) nor into a temporary "
        "folder (Permission denied); set WARP_CACHE_PATH, or TMPDIR, to a folder that can be written"
    )


def test_only_header_files_in_folders_of_headers_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links and other files are not."""
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


def test_our_own_objects_are_compiled_with_fixed_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have fused operations as on a GPU, no fast mathematics and no precompiled header."""
    monkeypatch.setattr(wp.config, "cpu_compiler_flags", None)
    assert c_object._options() == {
        "use_precompiled_headers": False,
        "optimization_level": 1,
        "verify_fp": False,
        "fuse_fp": True,
        "fast_math": False,
        "block_dim": 1,
        "cpu_compiler_flags": "-march=native -w",
        "extra_cpu_include_dirs": (),
        "mode": "release",
        "enable_tiles_in_stack_memory": True,
    }
    monkeypatch.setattr(wp.config, "cpu_compiler_flags", "-a")
    assert c_object._options()["cpu_compiler_flags"] == "-a -w"


def test_missing_room_on_the_disk_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly the needed size is enough."""
    status = SimpleNamespace(f_bavail=3, f_frsize=1000)
    monkeypatch.setattr(kernel_objects.os, "statvfs", lambda _: status)
    kernel_objects.check_room(tmp_path, 3000)
    with pytest.raises(OSError) as error:
        kernel_objects.check_room(tmp_path, 3001)
    assert error.value.errno == 28
    said = f"No space left on device (3,001 bytes needed in {tmp_path}, 3,000 are free)"
    assert error.value.strerror == said


def test_the_folder_of_headers_depends_on_warp_and_the_processor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name is sixteen hexadecimal digits."""
    monkeypatch.setattr(precompiled_header, "cache_directory", lambda: tmp_path)
    folder = precompiled_header.kept_headers()
    assert folder.parent == tmp_path / precompiled_header.HEADERS
    assert precompiled_header._FOLDER.fullmatch(folder.name)
    assert precompiled_header._fingerprint("another") != folder.name
    runtime = SimpleNamespace(get_clang_pch_dir=lambda: None)
    monkeypatch.setattr(precompiled_header.context, "runtime", runtime)
    assert precompiled_header.compiler_folder() is None and not precompiled_header.has_header()
    runtime.get_clang_pch_dir = lambda: str(tmp_path)
    assert precompiled_header.compiler_folder() == tmp_path
    monkeypatch.setattr(wp.config, "use_precompiled_headers", False)
    assert precompiled_header.compiler_folder() is None
    monkeypatch.setattr(wp.config, "use_precompiled_headers", True)
    monkeypatch.setattr(precompiled_header.context, "runtime", SimpleNamespace())
    assert precompiled_header.compiler_folder() is None


def test_modules_with_other_methods_are_loaded_by_warp(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warp also loads modules that it has loaded before."""
    loaded: list[Any] = []
    compiled: list[Any] = []
    monkeypatch.setattr(kernel_objects.wp, "force_load", lambda *x: loaded.append(x))
    monkeypatch.setattr(kernel_objects, "compile_module", lambda *x: compiled.append(x))
    place = kernel_objects.ObjectFiles(Path("/there"), "a.o", "a.json")
    monkeypatch.setattr(kernel_objects, "place_of", lambda *_: place)
    methods = dict.fromkeys(kernel_objects.PRIVATE)
    calls: list[Any] = []
    load = {"load": lambda *x, **y: calls.append((x, y))}
    for module in (
        SimpleNamespace(execs={(None, 1): 0}, **methods),
        SimpleNamespace(execs={}, **dict.fromkeys(kernel_objects.PRIVATE[1:])),
    ):
        kernel_objects.load(module, "cpu")
    assert loaded == [("cpu", [x]) for x in (loaded[0][1][0], loaded[1][1][0])] and not compiled
    for cached, whole, count in ((True, True, 0), (True, False, 1), (False, True, 1)):
        monkeypatch.setattr(wp.config, "cache_kernels", cached)
        monkeypatch.setattr(kernel_objects, "is_whole", lambda _, whole=whole: whole)
        compiled.clear()
        kernel_objects.load(SimpleNamespace(execs={(None, 2): 0}, **methods, **load), "cpu")
        assert len(compiled) == count
    paths = {"block_dim": 1, "binary_path": "/there/a.o", "meta_path": "/there/a.json"}
    assert calls == [(("cpu",), paths)] * 3 and len(loaded) == 2
