"""Programs written for a target by its name, and what a launch must know about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.cli.main import main
from warpdyn.codegen import targets
from warpdyn.codegen.targets import TARGETS, register, target_of, write
from warpdyn.recording.program import Program, record


def text(x: Any, y: Any) -> Any:
    """One of three entries is a constant."""
    return [x[0] * y[0] + x[1], x[1] / y[0], 2.0]


PROGRAM = record(text, {"x": (2,), "y": (1,)})


@pytest.fixture
def backend_calls() -> Iterator[list[tuple[Program, bool]]]:
    """The programs that the backend of target "dummy" has received, each with its precision."""
    programs: list[tuple[Program, bool]] = []

    def dummy(program: Program, single: bool) -> str:
        programs.append((program, single))
        return f"dummy of {program.operations} operations"

    register("dummy", dummy)
    yield programs
    del TARGETS["dummy"]


def test_a_new_backend_receives_the_program(backend_calls: list) -> None:
    """A call of `register` is enough. The backend's source is returned."""
    written = write(PROGRAM, "ours", True, "dummy")
    assert backend_calls == [(PROGRAM, True)]
    assert written.code == f"dummy of {PROGRAM.operations} operations"
    assert (written.name, written.target) == ("ours", "dummy")


def test_the_command_line_offers_every_backend(
    backend_calls: list, capsys: pytest.CaptureFixture[str]
) -> None:
    """`warpdyn source --target` accepts the last registered backend as well as the others."""
    assert main(["source", "panda", "rnea", "--target", "dummy"]) == 0
    assert capsys.readouterr().out.startswith("dummy of ")
    ((program, single),) = backend_calls
    assert single and list(program.inputs) == ["q", "v", "a"]


def test_a_backend_may_write_the_kernels_of_a_device(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """A launch uses the backend of its device, whatever its name, and caches its source
    separately."""
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path))
    others = {name: backend for name, backend in TARGETS.items() if backend.device != "cpu"}
    plain = TARGETS["cpu"].code
    asked: list[bool] = []

    def record_precision(program: Program, single: bool) -> str:
        asked.append(single)
        return plain(program, single)

    monkeypatch.setattr(targets, "TARGETS", others)
    register("counted", record_precision, device="cpu")
    monkeypatch.setattr("warpdyn.execution.launch.launch.TARGETS", others)
    assert target_of("cpu") == "counted"
    model = wd.load_robot("cartpole")
    q = np.array([[0.3, -0.4]])
    np.testing.assert_allclose(
        wd.gravity_torques(model, q), wd.oracle(wd.gravity_torques, model, q)
    )
    assert asked == [False]


def test_names_and_devices_are_registered_once(backend_calls: list) -> None:
    """A second backend with the same name, or for the same device, is refused."""
    with pytest.raises(ValueError, match="target 'dummy' is registered already"):
        register("dummy", lambda program, single: "")
    with pytest.raises(ValueError, match="kernels of device 'cuda' are already written by 'cuda'"):
        register("other", lambda program, single: "", device="cuda")
    assert "other" not in TARGETS


def test_an_unknown_target_is_refused() -> None:
    """The error names it and lists the known targets."""
    known = "cpu, cuda, cuda_few_220, cuda_few_96, cuda_few, scalar"
    with pytest.raises(ValueError, match=f"target must be one of {known}, got 'vulkan'"):
        write(PROGRAM, "ours", True, "vulkan")


def test_devices_have_their_targets() -> None:
    """Warp has two kinds of devices."""
    assert target_of("cpu") == "cpu" and target_of("cuda") == "cuda"


@pytest.mark.parametrize("target", ["cpu", "cuda", "scalar"])
def test_a_source_describes_its_arrays_and_operations(target: str) -> None:
    """Shapes of arrays, number of operations, and the bytes that one environment moves."""
    for single, size in ((True, 4), (False, 8)):
        written = write(PROGRAM, "ours", single, target)
        assert written.inputs == {"x": (2,), "y": (1,)} and written.results == {"out": (3,)}
        # The third result is a constant, which is written once.
        assert written.bytes == size * (3 + 2) and written.constant_bytes == size
        assert written.operations == PROGRAM.operations and not written.loops
        assert [name for name, _ in written.layout.arrays] == ["a_x", "a_y", "r_out"]
        assert (written.warps, written.shared_bytes) == (1, 0)
