"""Folders of kernels and headers, and processes that compile, if something is refused or broken."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import warp as wp

from warpdyn.execution.compile import (
    c_object,
    compiler_process,
    kernel_cache,
    kernel_objects,
    precompiled_header,
    sealed_files,
    warp_start,
)
from warpdyn.execution.launch import source_writer

# Folders and processes


def test_an_empty_folder_that_others_can_write_is_closed(tmp_path: Path) -> None:
    """The umask left it open. A folder with files is refused."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    folder.chmod(0o777)
    kernel_cache._probe(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "a").write_text("")
    folder.chmod(0o777)
    with pytest.raises(OSError, match="every user can write to it, and kernels in it would run"):
        kernel_cache._probe(folder)


def test_a_group_is_private_only_if_it_has_no_other_members(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An unknown group may have other members. Root's own group is private to root."""
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


def test_a_header_that_does_not_fit_leaves_no_partial_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compiler's folder is full."""
    monkeypatch.setattr(precompiled_header.sealed_files, "read", lambda _: b"header")

    class FullPath(type(tmp_path)):  # type: ignore[misc]
        def write_bytes(self, data: bytes) -> int:
            super().write_bytes(data[:3])
            raise OSError(28, "No space left on device")

    target = FullPath(tmp_path / "a.pch")
    assert not precompiled_header._lend(tmp_path / "kept", target) and not target.exists()
    assert precompiled_header._lend(tmp_path / "kept", tmp_path / "b.pch")
    assert (tmp_path / "b.pch").read_bytes() == b"header"


def test_warp_starts_if_stderr_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All lines pass then. Otherwise the line about the driver is removed."""
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    sys.stderr.close()
    ran: list[int] = []
    with warp_start._without_line("driver"):
        ran.append(1)
    assert ran == [1]


def test_only_the_line_about_the_driver_is_removed(capfd: pytest.CaptureFixture[str]) -> None:
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
def test_the_error_says_how_a_compiler_process_ended(
    code: int, written: str, number: int, said: str
) -> None:
    """It has the name of a signal or the exit code, and the first line of output. The words of the
    output give the error number."""
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
def test_a_compiler_that_failed_is_ended_with_its_error_number(
    answer: dict[str, Any], number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number is the system's, or follows from the words of the answer."""
    compiler = SimpleNamespace(
        ask=lambda _: (answer, ""), kill=lambda: ended.append(1), reused=False
    )
    ended: list[int] = []
    monkeypatch.setattr(compiler_process, "_next_compiler", lambda _: compiler)
    with pytest.raises(compiler_process.CompilerEndedError) as error:
        compiler_process.compile_object({})
    assert error.value.errno == number and ended == [1]
    assert error.value.strerror == f"the compiler process failed ({answer['error']})"


def test_warnings_of_the_compiler_are_printed_and_rejections_raised(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process then takes other requests."""
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


def test_an_idle_process_that_ended_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """There is no message. If a new process ends, or one with a message, that is an error."""
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


def test_a_closed_pipe_means_an_ended_process() -> None:
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
def test_a_program_is_written_here_if_no_child_can_write_it(
    reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`write_in_child` returns None for each reason."""

    def fail(*_: object, **__: object) -> None:
        if reason == "pickle":
            raise source_writer.pickle.PicklingError
        raise OSError(11, "no more processes")

    monkeypatch.delenv(compiler_process.IN_CHILD, raising=False)
    monkeypatch.setattr(source_writer, "replace", lambda x: x)
    if reason == "environment":
        monkeypatch.setenv(compiler_process.IN_CHILD, "0")
    if reason == "interpreter":
        monkeypatch.setattr(source_writer, "no_interpreter", lambda: "an application")
    if reason == "pickle":
        monkeypatch.setattr(source_writer.pickle, "dumps", fail)
    monkeypatch.setattr(source_writer.subprocess, "run", fail)
    assert source_writer.write_in_child(None, "a", True, "cpu", 0) is None  # type: ignore[arg-type]


def test_include_folders_are_passed_to_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links are resolved. Only with enough room on the disk does this process compile."""
    wp.get_device("cpu")  # starts Warp's runtime, also if this test runs alone
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


def test_a_file_at_the_place_of_a_kernel_is_replaced(tmp_path: Path) -> None:
    """The folder of the kernel replaces it. A build without an object is an error."""
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
