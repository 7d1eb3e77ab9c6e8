"""Compiles: announced, estimated, done together; and the block that only notes them."""

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
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from fresh_caches import ONE_CALL, environment, run

import warpdyn as wd
from warpdyn.execution import compiling
from warpdyn.execution.compiling import Kernel, expected_seconds, label_of, load_all
from warpdyn.execution.launch import prepare

Z = np.zeros((1, 2))
numbers = itertools.count(1)


@pytest.fixture
def model() -> wd.Model:
    """One whose kernels nobody has loaded: Warp loads kernels of one text once in a process."""
    return wd.load_robot("cartpole").with_armature(0.1 + next(numbers) / 1024)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Warp's cache, for kernels that are yet to be loaded."""
    prepare(wd.crba.describe(wd.load_robot("cartpole"), Z))  # Warp is initialised by it
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    return tmp_path


def objects(folder: Path) -> list[str]:
    return sorted(path.parent.name.rsplit("_", 2)[0] for path in folder.glob("*/*.o"))


def test_a_first_compile_is_one_line_on_stderr(tmp_path: Path) -> None:
    """Which function, for whom, how long; nothing on stdout, and nothing once it is in the cache."""
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
def test_it_can_be_switched_off(tmp_path: Path, before: str, changes: dict[str, str]) -> None:
    """In the program, or around it."""
    assert run(before + ONE_CALL, environment(tmp_path, **changes)) == ("0.0\n", [])


def test_a_terminal_sees_a_bar(tmp_path: Path) -> None:
    """In place of the line."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    done = subprocess.Popen(
        [sys.executable, "-c", ONE_CALL],
        env=environment(tmp_path),
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


def test_labels_say_what_is_computed() -> None:
    """Of a derivative too."""
    model = wd.load_robot("cartpole")
    assert label_of(wd.rnea.describe(model, Z, Z, Z)) == "rnea for cartpole"
    vjp = wd.vjp.describe(wd.rnea, model, Z, Z, Z, cotangents=Z)
    assert label_of(vjp) == "vjp of rnea for cartpole"


def test_seconds_grow_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its text; more where the headers are yet to be parsed, unknown on a GPU."""
    small = prepare(wd.rnea.describe(wd.load_robot("cartpole"), Z, Z, Z)).kernel
    model = wd.load_robot("panda")
    q = np.zeros((1, model.nv))
    large = prepare(wd.aba_derivatives.describe(model, q, q, q)).kernel
    monkeypatch.setattr(compiling, "has_header", lambda: True)
    one, two = expected_seconds([small]), expected_seconds([large])
    assert one is not None and two is not None and 0.2 < one < 1 < two
    assert expected_seconds([small, large]) == pytest.approx(one + two)
    monkeypatch.setattr(compiling, "has_header", lambda: False)
    assert expected_seconds([small]) == pytest.approx(one + compiling.SECONDS_FOR_HEADERS)

    class OnGpu:
        is_cpu = False

    on_gpu = Kernel(small.source, OnGpu(), small.compiled, "rnea")  # type: ignore[arg-type]
    assert expected_seconds([small, on_gpu]) is None


def test_a_block_notes_calls_and_compiles_them_at_its_end(
    model: wd.Model, empty_cache: Path
) -> None:
    """Results in it are zeros, arrays of the caller stay as they are, and each kernel is compiled once."""
    out = np.full((1, 2, 2), 7.0)
    with wd.compiling():
        tau = wd.rnea(model, Z + 1, Z, Z)
        assert wd.crba(model, Z, out=out) is out and (out == 7).all()
        wd.rnea(model, *np.ones((3, 3, 2)))
        assert objects(empty_cache) == []
    assert (tau == 0).all()
    assert objects(empty_cache) == [
        "wp_warpdyn_crba_cartpole",
        "wp_warpdyn_rnea_cartpole",
    ]
    assert np.allclose(wd.crba(model, Z), wd.oracle(wd.crba, model, Z), rtol=1e-14, atol=0)
    assert len(objects(empty_cache)) == 2


def test_a_block_that_fails_compiles_nothing(model: wd.Model, empty_cache: Path) -> None:
    """And calls after it compute again."""
    with pytest.raises(RuntimeError, match="mine"), wd.compiling():
        wd.crba(model, Z)
        raise RuntimeError("mine")
    assert objects(empty_cache) == []
    assert wd.crba(model, Z)[0, 0, 0] > 0


def test_a_bound_call_in_a_block_is_whole(model: wd.Model, empty_cache: Path) -> None:
    """It outlives the block, so it is compiled and launched there."""
    with wd.compiling():
        run_it = wd.bind(wd.crba, model, Z)
        assert objects(empty_cache) == ["wp_warpdyn_crba_cartpole"]
    assert np.allclose(run_it(), wd.oracle(wd.crba, model, Z), rtol=1e-14, atol=0)


def test_a_backward_pass_finds_its_kernels(model: wd.Model, empty_cache: Path) -> None:
    """Torch's, from a block that runs a training step once."""
    torch = pytest.importorskip("torch")

    def step() -> torch.Tensor:
        q = torch.ones((2, 2), dtype=torch.float64, requires_grad=True)
        v = torch.ones((2, 2), dtype=torch.float64)
        wd.aba(model, q, v, v).square().sum().backward()
        return q.grad

    with wd.compiling():
        step()
    kept = objects(empty_cache)
    assert len(kept) == 2
    assert step().abs().sum() > 0 and objects(empty_cache) == kept


def test_kernels_are_compiled_side_by_side(
    model: wd.Model, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two threads two compiles are under way at once; each is told with its seconds."""
    kernels = [  # of texts with the model's own armature: none is loaded by another test
        prepare(call).kernel
        for call in (
            *(wd.crba.describe(model, Z), wd.mass_matrix_inverse.describe(model, Z)),
            wd.aba.describe(model, Z, Z, Z),
        )
    ]
    both, told = threading.Barrier(2, timeout=300), []
    compile_one = compiling._load_compiled

    def meeting(kernel: Kernel) -> float:
        both.wait()
        return compile_one(kernel)

    load_all(kernels[:1])
    monkeypatch.setattr(compiling, "_compile", meeting)
    wd.set_num_threads(2)
    assert load_all(kernels, lambda kernel, seconds: told.append((kernel, seconds))) == 2
    assert {kernel for kernel, _ in told} == set(kernels) and all(s >= 0 for _, s in told)
    assert load_all(kernels) == 0


def test_a_full_disk_is_named(
    model: wd.Model, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the kernel could not go, and what to do."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(wp, "force_load", full)
    with pytest.raises(
        OSError,
        match=r"gravity_torques for cartpole could not be written to .*No space left.*WARP_CACHE_PATH",
    ):
        wd.gravity_torques(model, Z)
