"""Fixtures of all tests: a robot, a device, a dtype, and `run`, which calls warpdyn with device and
dtype."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

# Set before warpdyn is imported, also for processes that tests start. Most tests interpret kernels.
os.environ.setdefault("WARPDYN_COMPILE", "never")
# Before NumPy and Torch are: each test process has one core, and their threads wait for each other by turning. A
# training of 0.2 s on one thread takes 6.5 s of two threads on busy cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pytest
from device_tests import is_device_test, why_left_out
from devices import call_on
from garbage import OBJECTS_BEFORE_A_COLLECTION, ignored_objects
from generated_messages import remedy
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from quick import is_quick
from robots import REAL, ROBOTS, Robot

import warpdyn as wd
from warpdyn.execution import threads

wd.config.compile_messages = False  # else a cold cache puts lines on stderr

settings.register_profile(
    "warpdyn", deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
settings.load_profile("warpdyn")
# Hypothesis draws some of its numbers from constants in this project's files. Reading all files takes
# 3 s, and which of them it knows depends on the tests that ran before.
providers._get_local_constants = lambda: providers._local_constants

# A test process ends at once. Python's last collections would look through 300,000 objects, which
# takes 1 s and more.
atexit.register(gc.freeze)

TESTS = Path(__file__).resolve().parent


POLICY = os.environ["WARPDYN_COMPILE"]

COMPILED = (
    "cli/test_cache.py",
    "codegen",
    "execution/compile",
    "execution/launch/test_native_threads.py",
    "execution/native",
    "execution/repeat",
    "execution/test_",
    "functions/export",
)
"""Folders and files whose tests compile their kernels, in addition to tests with the mark `compiled`.
All other tests interpret."""

COMPILED_LAWS = (
    *(f"algorithms/test_{name}.py" for name in ("rnea", "crba", "aba")),
    "test_accuracy.py",
)
"""Laws of algorithms, and their accuracy. They compile for the robots of COMPILED_ROBOTS."""

COMPILED_ROBOTS = ("panda", "rooted_floating", "mimic_branches")
"""A program of several parts, a free base, and mimic joints. `benchmarks.first_calls bits` compares the
kernels of larger robots with the interpreter."""


def is_compiled(request: pytest.FixtureRequest) -> bool:
    """True if a test compiles its kernels."""
    path = request.path.relative_to(TESTS).as_posix()
    if path.startswith(COMPILED_LAWS):
        parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
        robot = parameters.get("robot") or parameters.get("accurate")
        return robot is not None and robot.name in COMPILED_ROBOTS
    return path.startswith(COMPILED) or request.node.get_closest_marker("compiled") is not None


@pytest.fixture(autouse=True)
def compile_policy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile the kernels of the marked tests, unless the environment asks for another policy."""
    policy = "wait" if POLICY == "never" and is_compiled(request) else POLICY
    monkeypatch.setattr(wd.config, "compile", policy)
    monkeypatch.setenv("WARPDYN_COMPILE", policy)  # for processes that the test starts


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        default="cpu",
        help='Warp device the kernels run on: "cpu" (default), "cuda:0", ...',
    )
    parser.addoption(
        "--slow",
        action="store_true",
        help="also run what takes minutes: every real robot, every kernel",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="run what tells most of every room, on few robots (tests/quick.py)",
    )
    parser.addoption(
        "--device-tests",
        choices=("quick", "all"),
        help="run only what depends on --device, on an emulated one (tests/device_tests.py)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes minutes to compile; runs with --slow")
    config.addinivalue_line("markers", "compiled: compiles its kernels")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Any:
    """Report what to run if a test failed for want of a generated message."""
    report = yield
    if text := remedy(call.excinfo and call.excinfo.value):
        report.longrepr = text
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Any:
    """Report the same for a file of tests that cannot be imported."""
    report = yield
    error = report.call.excinfo and report.call.excinfo.value
    if text := remedy(error and error.__cause__):
        report.longrepr = text
    return report


WAITING = ("labels/test_on_ray_itself.py", "viewer/test_browser.py", "viewer/test_pages.py")
"""Files whose tests wait for other processes most of the time. They come first, so that one worker
waits while the others use all cores."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    first = {TESTS / file for file in WAITING}
    items.sort(key=lambda item: item.path not in first)
    if config.getoption("--quick"):
        keep_only(config, items, lambda item: is_quick(item, TESTS))
    if selection := config.getoption("--device-tests"):
        keep_only(config, items, lambda item: is_device_test(item, TESTS, selection))
        for item in items:
            if reason := why_left_out(item, TESTS):
                item.add_marker(pytest.mark.skip(reason=reason))
    if not config.getoption("--slow"):
        for item in items:
            if "slow" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="takes minutes; give --slow"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Any:
    """Keep the garbage collector from visiting collected tests and imported libraries."""
    with ignored_objects():
        result = yield
        gc.collect()
    gc.set_threshold(OBJECTS_BEFORE_A_COLLECTION)
    return result


def keep_only(
    config: pytest.Config, items: list[pytest.Item], wanted: Callable[[pytest.Item], bool]
) -> None:
    """Deselect all other tests."""
    left_out = [item for item in items if not wanted(item)]
    items[:] = [item for item in items if wanted(item)]
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    return request.config.getoption("--device")


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    """Reset the thread count that a command has set for its process."""
    yield
    wd.runtime.set_num_threads(None)


@pytest.fixture(autouse=True, scope="session")
def _workers() -> Iterator[None]:
    """End Python's threads for large batches with the tests. A worker that is not a daemon by
    mistake would otherwise keep pytest running after its last test."""
    yield
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading, "excepthook", threading.__excepthook__)  # which lets a thread exit
        for worker in threads._workers:
            worker.inbox.put(sys.exit)
        for each in threading.enumerate():
            if each.name == "warpdyn":
                each.join(10)
    threads._workers.clear()


@pytest.fixture(
    params=[
        pytest.param(each, id=each.name, marks=pytest.mark.slow if each in REAL else ())
        for each in ROBOTS
    ],
    scope="session",
)
def robot(request: pytest.FixtureRequest) -> Robot:
    """Every robot of `robots.py`. Real ones, which have the joints of bundled ones, take longer:
    `--slow` adds them where they are installed."""
    return request.param


@pytest.fixture(params=["float64", "float32"], scope="session")
def dtype(request: pytest.FixtureRequest) -> np.dtype:
    return np.dtype(request.param)


@pytest.fixture(scope="session")
def run(device: str) -> Callable[..., np.ndarray]:
    """`run(wd.rnea, model, q, v, a, dtype=..., gravity=...)`: the kernel's result on the device, as float64 NumPy."""

    def run(
        function: Callable[..., Any], model: Any, *given: np.ndarray, **options: Any
    ) -> np.ndarray:
        return call_on(device, function, model, *given, **options)

    return run
