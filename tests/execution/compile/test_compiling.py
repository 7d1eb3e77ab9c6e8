"""Compiles: announced, estimated and done together; and calls whose kernels are only noted."""

from __future__ import annotations

import fcntl
import itertools
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp
from fresh_caches import ONE_CALL, environment, environment_with_header, run

import warpdyn as wd
from warpdyn.execution.compile import compiling, kernel_objects
from warpdyn.execution.compile import compiling as chosen
from warpdyn.execution.compile.compiling import Kernel, expected_seconds, load_all, noting
from warpdyn.execution.launch.launch import prepare

Z = np.zeros((1, 2))
numbers = itertools.count(1)


@pytest.fixture
def model() -> wd.Model:
    """A model whose kernels are not loaded: Warp loads kernels of the same source once in a
    process."""
    return wd.load_robot("cartpole").with_armature(0.1 + next(numbers) / 1024)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of Warp."""
    prepare(wd.crba.describe(wd.load_robot("cartpole"), Z))  # Warp is initialised by it
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    return tmp_path


LONG = "from warpdyn.execution.compile import compiling; compiling.expected_seconds = lambda _: 3.0"
"""Makes every compile one that is announced, also with parsed headers."""


def objects(folder: Path) -> list[str]:
    return sorted(path.parent.name.rsplit("_", 2)[0] for path in folder.glob("*/*.o"))


def test_the_first_compile_prints_one_line_on_stderr(tmp_path: Path) -> None:
    """It names the function, the robot and the expected seconds. Nothing is printed on stdout, and
    nothing for a kernel in the cache."""
    said, lines = run(ONE_CALL, environment(tmp_path))
    assert said == "0.0\n" and lines == ["warpdyn: compiling rnea for cartpole, once, about 3 s"]
    said, lines = run(ONE_CALL, environment(tmp_path))
    assert said == "0.0\n" and lines == []


@pytest.mark.parametrize(
    ("before", "changes"),
    [
        ("import warpdyn; warpdyn.config.compile_messages = False", {}),
        ("", {"WARPDYN_VERBOSE": "0"}),
    ],
    ids=["config", "environment"],
)
def test_the_line_can_be_switched_off(tmp_path: Path, before: str, changes: dict[str, str]) -> None:
    """The program or the environment can do it."""
    program = "\n".join((LONG, before, ONE_CALL))
    assert run(program, environment_with_header(tmp_path, **changes)) == ("0.0\n", [])


def test_a_terminal_shows_a_progress_bar(tmp_path: Path) -> None:
    """The bar replaces the line."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    done = subprocess.Popen(
        [sys.executable, "-c", LONG + ONE_CALL],
        env=environment_with_header(tmp_path),
        stderr=follower,
        stdout=subprocess.PIPE,
    )
    os.close(follower)
    seen = b""
    try:
        while part := os.read(leader, 4096):
            seen += part
    except OSError:  # the other end is closed
        pass
    assert done.communicate()[0] == b"0.0\n" and done.returncode == 0
    text = seen.decode()
    assert "warpdyn: compiling rnea for cartpole, once" in text
    assert re.search(r"3 of about 3 s", text) and "\r" in text


def test_estimated_seconds_grow_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """They grow with the length of its source. They are more if the headers are not parsed yet,
    less on two cores, but at least those of the longest part. On a GPU the size of the results
    counts, too."""
    cartpole, model = wd.load_robot("cartpole"), wd.load_robot("panda")
    small = prepare(wd.rnea.describe(cartpole, Z, Z, Z)).kernel
    q = np.zeros((1, model.nv))
    large = prepare(wd.aba_derivatives.describe(model, q, q, q)).kernel
    monkeypatch.setattr(compiling, "has_header", lambda: True)
    monkeypatch.setattr(compiling, "get_num_threads", lambda: 1)
    one, two = expected_seconds([small]), expected_seconds([large])
    assert 0.2 < one < 1 < two
    assert expected_seconds([small, large]) == pytest.approx(one + two)
    monkeypatch.setattr(compiling, "get_num_threads", lambda: 2)
    longest = max(module.seconds for module in large.modules)
    assert expected_seconds([small]) == one
    assert expected_seconds([small, large]) == pytest.approx(max(longest, (one + two) / 2))
    monkeypatch.setattr(compiling, "has_header", lambda: False)
    assert expected_seconds([small]) == pytest.approx(one + compiling.SECONDS_FOR_HEADERS)

    class OnGpu:
        is_cpu, is_cuda = False, True

    on_gpu = Kernel(small.source, OnGpu(), "rnea")  # type: ignore[arg-type]
    assert 0.1 < expected_seconds([on_gpu]) < 1.0
    monkeypatch.setattr(compiling, "get_num_threads", lambda: 1)
    both = expected_seconds([on_gpu]) + expected_seconds([small])
    assert expected_seconds([small, on_gpu]) == pytest.approx(both)
    much = Kernel(large.source, OnGpu(), "aba_derivatives")  # type: ignore[arg-type]
    entries = sum(map(prod, large.source.results.values()))
    assert expected_seconds([much]) > 0.5 + compiling.NVRTC_PER_ENTRY * entries


def test_kernels_of_calls_are_noted_in_a_block(model: wd.Model) -> None:
    """Those of every call in the block, and of no call after it."""
    with noting() as noted:
        assert not wd.crba(model, Z).any() and not wd.crba(model, Z).any()
    assert {x.label for x in noted} == {f"crba for {model.name}"} and len(noted) == 2
    assert wd.crba(model, Z).any() and len(noted) == 2


def test_two_threads_compile_two_kernels_at_the_same_time(
    model: wd.Model, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is announced with its seconds."""
    kernels = [  # of texts with the model's own armature: none is loaded by another test
        prepare(call).kernel
        for call in (
            *(wd.crba.describe(model, Z), wd.mass_matrix_inverse.describe(model, Z)),
            wd.aba.describe(model, Z, Z, Z),
        )
    ]
    both, told = threading.Barrier(2, timeout=300), []
    compile_one = compiling._compile

    def meeting(module: Any) -> float:
        both.wait()
        return compile_one(module)

    load_all(kernels[:1])
    monkeypatch.setattr(compiling, "_compile", meeting)
    wd.runtime.set_num_threads(2)
    assert load_all(kernels, lambda kernel, seconds: told.append((kernel, seconds))) == 2
    assert {kernel for kernel, _ in told} == set(kernels) and all(s >= 0 for _, s in told)
    assert load_all(kernels) == 0


def test_the_error_of_a_full_disk_names_the_folder(
    model: wd.Model, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error also says what to do."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernel_objects, "compile_object", full)
    with pytest.raises(
        OSError,
        match=r"crba for cartpole could not be written to .*No space left.*WARP_CACHE_PATH",
    ):
        wd.crba(model, Z)  # it depends on the model's armature, so no other test has loaded it


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.ENOUGH_INTERPRETED == 0.02
    assert chosen.SECONDS == 0.35
    assert chosen.SECONDS_PER_CHARACTER == 7e-06
    assert chosen.SECONDS_FOR_HEADERS == 2.7
    assert chosen.NVRTC == 0.25
    assert chosen.NVRTC_PER_CHARACTER == 1.8e-05
    assert chosen.NVRTC_PER_ENTRY == 0.0034
