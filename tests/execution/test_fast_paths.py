"""The entry to the optional folder of calls in C."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from arm_calls import ARM, draw_states
from native_calls import nothing_known_of

import warpdyn as wd
from warpdyn.execution import fast_paths
from warpdyn.execution.native import versions

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def asked_anew() -> object:
    fast_paths._native_call.cache_clear()  # type: ignore[attr-defined]
    yield
    fast_paths._native_call.cache_clear()  # type: ignore[attr-defined]


def test_untested_versions_use_the_path_in_python(
    monkeypatch: pytest.MonkeyPatch, asked_anew: object
) -> None:
    """There is no message, and the bits are the same."""
    monkeypatch.setattr(versions, "are_tested", lambda: False)
    x = draw_states(4, 1)
    with nothing_known_of(wd.rnea):
        cache = wd.rnea._calls  # type: ignore[attr-defined]
        monkeypatch.setattr(cache, "_calls_in_c", None)
        results = [wd.rnea(ARM, *x) for _ in range(4)]
        assert cache._calls_in_c is None and len(cache._plans) == 1
    assert all(np.array_equal(y, results[0]) for y in results)


def test_a_module_that_the_folder_needs_must_exist(
    monkeypatch: pytest.MonkeyPatch, asked_anew: object
) -> None:
    """Only the folder itself is optional."""

    def lacking(name: str, package: str) -> None:
        raise ModuleNotFoundError("no module named other", name="other")

    monkeypatch.setattr(fast_paths, "import_module", lacking)
    with pytest.raises(ModuleNotFoundError, match="no module named other"):
        fast_paths._native_call()


@pytest.mark.parametrize("has_native", [True, False])
def test_c_functions_and_threads_are_compiled_ahead(
    has_native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads also without the folder of calls in C."""
    asked: list[tuple] = []
    native = SimpleNamespace(compile_native_call=lambda kernels: asked.append(("calls", kernels)))
    monkeypatch.setattr(fast_paths, "_native_call", lambda: native if has_native else None)
    monkeypatch.setattr(
        fast_paths, "compile_threads", lambda kernels: asked.append(("threads", kernels))
    )
    kernels: list = [object()]
    fast_paths.compile_c_functions(kernels)
    assert asked == [("calls", kernels), ("threads", kernels)][not has_native :]


def test_the_quick_tests_pass_without_the_folder_of_calls_in_c(tmp_path: Path) -> None:
    """The quick tests of calls and gradients run on a copy without `execution/native` and without
    its tests. Torch's compiler, which takes 2 s to import, calls nothing of that folder."""
    copy = tmp_path / "copy"
    for name in ("warpdyn", "tests", "docs"):
        shutil.copytree(ROOT / name, copy / name)  # with the bytecode, which takes seconds to make
    for name in ("pyproject.toml", "setup.py", "README.md"):
        shutil.copy(ROOT / name, copy / name)
    shutil.rmtree(copy / "warpdyn/execution/native")
    tests = ["repeat/test_planned_call.py", "autodiff/test_torch_remembered.py", "test_batched.py"]
    tests += ["-k", "not compiled_functions"]
    script = f"""
import sys
sys.path.insert(0, {str(copy)!r})
import pytest, warpdyn
assert warpdyn.__file__.startswith({str(copy)!r})
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *{tests!r}]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=copy / "tests/execution",
        env={**os.environ, "WARPDYN_COMPILE": "never"},  # each test decides, as it does here
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
