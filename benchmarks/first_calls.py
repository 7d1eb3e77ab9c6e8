"""Time until the first result, and the cost of the interpreter until the kernel is compiled.

    python -m benchmarks.first_calls [ROBOT ...]        measure the times
    python -m benchmarks.first_calls bits [ROBOT ...]   compare interpreted and compiled results bit by bit
    python -m benchmarks.first_calls large              measure programs that take minutes to compile

Every program is recorded anew, with an empty cache. The interpreter is compiled beforehand, once for
each type of processor; its compile time has a record of its own. Results go to
benchmarks/results/first_calls.json.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import warpdyn as wd
from warpdyn import rl
from warpdyn.codegen.bytecode.interpreter_source import ENTRY, interpreter_source
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.execution.compile import background, c_object
from warpdyn.execution.compile.compiling import load
from warpdyn.execution.compile.interpreter import interpreter
from warpdyn.execution.config import compile_policy
from warpdyn.execution.launch.launch import prepare
from warpdyn.model.names import ModelError

from .__main__ import describe_run
from .every_function import Work, takes_robot
from .robots import tree

RESULT = Path(__file__).parent / "results" / "first_calls.json"

ROBOTS = ("panda", "quadruped", "humanoid", "cartpole")

ALGORITHMS = ("rnea", "crba", "aba", "fk", "rnea_derivatives")
"""Functions whose interpreted and compiled times are compared."""

BATCH = 4096

TURNS = 31


def first_results(robot: str) -> Iterator[dict[str, Any]]:
    """Yield the time of the first call of each function [s]."""
    for name in tqdm(sorted(FUNCTIONS), desc=f"first calls, {robot}", leave=False):
        if robot != ROBOTS[0] and not takes_robot(name):
            continue
        try:
            work = Work.of(name, wd.load_robot(robot), 100)
            begun = time.perf_counter()
            FUNCTIONS[name](*work.arguments, **work.options)
            seconds = time.perf_counter() - begun
        except (ModelError, ValueError):  # the function does not apply to this robot
            continue
        yield {"function": name, "robot": robot, "seconds": round(seconds, 4)}


def first_steps() -> Iterator[dict[str, Any]]:
    """Yield the time of the first step of a simulation and of an environment [s]."""
    model, make_environment = wd.load_robot("quadruped"), rl.VecEnv  # this imports Torch
    begun = time.perf_counter()
    simulation = wd.Simulation(model, 64)
    simulation.step()
    yield {"first step of": "wd.Simulation(quadruped)", "seconds": time.perf_counter() - begun}
    begun = time.perf_counter()
    environment = make_environment(rl.QuadrupedVelocity(), 64)
    environment.reset()
    environment.step(np.zeros(environment.action_space.shape, np.float32))
    yield {"first step of": "rl.VecEnv", "seconds": time.perf_counter() - begun}


def interleaved_medians(runs: Sequence[Callable[[], Any]], turns: int = TURNS) -> list[float]:
    """Median seconds of each function; the functions run in turns."""
    samples: list[list[float]] = [[] for _ in runs]
    for _ in range(turns):
        for run, found in zip(runs, samples, strict=True):
            begun = time.perf_counter()
            run()
            found.append(time.perf_counter() - begun)
    return [float(np.median(found)) for found in samples]


def interpreter_ratios(robot: str) -> Iterator[dict[str, Any]]:
    """Yield the time of an interpreted batch divided by that of a compiled one, in rows, on one thread."""
    for name in tqdm(ALGORITHMS, desc=f"interpreted and compiled, {robot}", leave=False):
        work = in_rows(Work.of(name, wd.load_robot(robot), BATCH))
        interpreted = bind_anew(work, "never")
        compiled = bind_anew(work, "wait")
        slow, fast = interleaved_medians([interpreted, compiled])
        yield {
            "function": name,
            "robot": robot,
            "interpreted_ns": round(1e9 * slow / BATCH, 1),
            "compiled_ns": round(1e9 * fast / BATCH, 1),
            "ratio": round(slow / fast, 2),
        }


def in_rows(work: Work) -> Work:
    """The same states with a row for each robot."""
    arrays = tuple(np.ascontiguousarray(x) for x in work.arrays)
    return Work(work.name, work.model, arrays, work.options)


def bind_anew(work: Work, policy: Any) -> Callable[[], Any]:
    """Bound call, interpreted or compiled. Its model is new, because equal models share kernels."""
    model = changed_model(work.model)
    with compile_policy(policy):
        return wd.bind(FUNCTIONS[work.name], model, *work.arrays, **work.options)


def changed_model(model: wd.Model) -> wd.Model:
    """A model with slightly different numbers, so that its kernels are new."""
    return model.with_armature(0.1 + 0.1 * random.random())


def plain_calls() -> Iterator[dict[str, Any]]:
    """Yield the microseconds of an interpreted plain call of panda's rnea for one robot."""
    model = changed_model(wd.load_robot("panda"))
    q, v, a = (np.zeros(model.nv, np.float32) + 0.1 * k for k in range(3))
    samples = []
    with compile_policy("never"):
        for _ in range(2200):
            begun = time.perf_counter()
            wd.rnea(model, q, v, a)
            samples.append(time.perf_counter() - begun)
    del samples[:200]
    yield {"plain call of": "panda rnea, B = 1", "us": round(1e6 * float(np.median(samples)), 2)}


def slowdowns() -> Iterator[dict[str, Any]]:
    """Yield the time of interpreted calls during a compilation, divided by that without one."""
    model, other = wd.load_robot("panda"), wd.load_robot("humanoid")
    home = np.tile(other.neutral.astype(np.float32), (4, 1))
    still = np.zeros((4, other.nv), np.float32)
    for count in (1, BATCH):
        q, v, a = (np.zeros((count, model.nv), np.float32) + 0.1 * k for k in range(3))
        run = partial(wd.rnea, changed_model(model), q, v, a)
        with compile_policy("never"):
            run()
            alone = mean_call_time(2.0, run)
        wd.bind(wd.aba_derivatives, changed_model(other), home, still, still)
        with compile_policy("never"):
            meanwhile = mean_call_time(3.0, run)
        background.wait_until_idle()
        with compile_policy("never"):
            again = mean_call_time(2.0, run)
        yield {
            "while a kernel is compiled": f"panda rnea, B = {count}",
            "us alone": round(1e6 * (alone + again) / 2, 2),
            "us meanwhile": round(1e6 * meanwhile, 2),
            "ratio": round(2 * meanwhile / (alone + again), 3),
        }


def mean_call_time(seconds: float, run: Callable[[], Any]) -> float:
    """Mean time of a call that is repeated for some seconds."""
    begun, calls = time.perf_counter(), 0
    while time.perf_counter() < begun + seconds:
        run()
        calls += 1
    return (time.perf_counter() - begun) / calls


def interpreter_compiles() -> Iterator[dict[str, Any]]:
    """Yield the seconds to compile the interpreter with an empty Warp cache."""
    for single in (True, False):
        source = interpreter_source(single) + f"// {time.time()}\n"
        begun = time.perf_counter()
        c_object.load_object("interpreter_timed", source, ENTRY)
        name = "float32" if single else "float64"
        seconds = round(time.perf_counter() - begun, 2)
        yield {"compile the interpreter": name, "seconds": seconds}


def compare_bits(robots: Sequence[str]) -> int:
    """Compare interpreted and compiled results of all functions and return the number that differ."""
    os.environ["WARPDYN_CACHE_DIR"] = tempfile.mkdtemp()
    cases = [
        (robot, name)
        for robot in robots
        for name in sorted(FUNCTIONS)
        if robot == robots[0] or takes_robot(name)
    ]
    compared, different = 0, list[str]()
    for robot, name in tqdm(cases, desc="bits"):
        for dtype in (np.float32, np.float64):
            number, found = compare(robot, name, dtype)
            compared += number
            different += found
    print(*different, sep="\n")
    print(f"{compared} calls compared, {len(different)} different")
    return len(different)


def compare(robot: str, name: str, dtype: Any) -> tuple[int, list[str]]:
    """Number of batches of a function that were computed both ways, and a list of those that differ."""
    with compile_policy("never"):
        try:
            model = wd.load_robot(robot)
            works = [with_dtype(Work.of(name, model, count), dtype) for count in COUNTS]
            kernel = prepare(works[0].describe_call()).kernel
        except (ModelError, ValueError):  # the function does not apply to this robot
            return 0, []
        if kernel.loaded:  # another function has the same program and was compared
            return 0, []
        assert kernel.interpreted is not None, "the kernel is in a cache"
        interpreted = [results(work) for work in works]
        load(kernel)
        different = [
            f"{name} of {robot}, {dtype.__name__}, B = {count}"
            for count, work, found in zip(COUNTS, works, interpreted, strict=True)
            if not all(map(same_bits, found, results(work)))
        ]
    return len(works), different


COUNTS = (1, 5, 100, BATCH)
"""Batch sizes whose bits are compared."""


def with_dtype(work: Work, dtype: Any) -> Work:
    """The same call on rows of another dtype."""
    arrays = tuple(np.ascontiguousarray(x, dtype) for x in work.arrays)
    return Work(work.name, work.model, arrays, work.options)


def results(work: Work) -> list[np.ndarray]:
    """Results of a call."""
    found = FUNCTIONS[work.name](*work.arguments, **work.options)
    return [np.array(x) for x in (found if isinstance(found, tuple) else (found,))]


def humanoid_on_points(number: int) -> dict[str, Any]:
    """Options of a humanoid simulation with additional contact points."""
    model = wd.load_robot("humanoid")
    points = wd.ContactPoints(model)
    for k in range(number - len(points)):
        points = points.with_sphere(
            model.link_names[k % len(model.link_names)], (0.0, 0.0, 0.01 * k), 0.02
        )
    return {"model": changed_model(model), "points": points}


def large_programs() -> Iterator[dict[str, Any]]:
    """Yield first result, call time and compile time of programs that take minutes to compile."""
    model = wd.load(tree(60))
    q = np.random.default_rng(0).uniform(-1.0, 1.0, (64, 60)).astype(np.float32)
    yield time_large_program(
        "aba_derivatives, tree of 60 joints",
        lambda: partial(wd.bind, wd.aba_derivatives, changed_model(model), q, q, q),
        64,
    )

    def humanoid() -> Callable[[], Callable[[], Any]]:
        options = humanoid_on_points(100)
        model = options.pop("model")
        return lambda: wd.Simulation(model, 64, substeps=1, **options).step

    yield time_large_program("step of wd.Simulation(humanoid), 100 points", humanoid, 64)


def time_large_program(
    name: str, make: Callable[[], Callable[[], Callable[[], Any]]], batch: int
) -> dict[str, Any]:
    """Seconds until the first result, interpreted and compiled, and the time of later calls [us per robot].

    `make` returns a function that prepares a call of a new model.
    """
    found: dict[str, Any] = {"large": name}
    for policy, key in (("never", "first_result_s"), ("wait", "compiled_s")):
        with compile_policy(policy):  # type: ignore[arg-type]
            prepare_call = make()
            begun = time.perf_counter()
            run = prepare_call()
            run()
            found[key] = round(time.perf_counter() - begun, 2)
        (seconds,) = interleaved_medians([run], 9)
        found[f"{policy}_us"] = round(1e6 * seconds / batch, 2)
        print(found, flush=True)
    return found


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    """True if all numbers have the same bits. All NaN count as equal."""
    nan = np.isnan(x)
    return np.array_equal(nan, np.isnan(y)) and x[~nan].tobytes() == y[~nan].tobytes()


def main(arguments: list[str]) -> int:
    """Measure and write the results, or compare the bits."""
    wd.runtime.set_num_threads(1)
    wd.config.compile_messages, wd.config.compile = False, "background"
    if arguments[:1] == ["bits"]:
        return bool(compare_bits(arguments[1:] or ROBOTS))
    if arguments[:1] == ["large"]:
        write_records(list(large_programs()), "large")
        return 0
    robots = arguments or ROBOTS
    for single in (True, False):
        interpreter(single)
    records: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WARPDYN_CACHE_DIR"] = folder
        parts = [first_results(robot) for robot in robots]
        parts += [first_steps(), *(interpreter_ratios(robot) for robot in robots)]
        parts += [plain_calls(), slowdowns(), interpreter_compiles()]
        for part in parts:
            for record in part:
                records.append({**record, "load": round(os.getloadavg()[0], 2)})
                if "function" not in record or "ratio" in record:
                    print(records[-1], flush=True)
        background.wait_until_idle()
    for robot in robots:
        of_robot = [x for x in records if x.get("robot") == robot and "seconds" in x]
        worst = max(of_robot, key=lambda x: x["seconds"])
        median = float(np.median([x["seconds"] for x in of_robot]))
        print(f"{robot}: {len(of_robot)} first calls, median {median:.3f} s, worst {worst}")
    found = [x["ratio"] for x in records if "interpreted_ns" in x]
    print(f"interpreted / compiled time: median {np.median(found):.2f}, largest {max(found):.2f}")
    write_records(records, "records")
    return 0


def write_records(records: list[dict[str, Any]], key: str) -> None:
    """Write records to the file of results in place of the earlier ones with this key."""
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    kept |= {"about": describe_run("cpu", ()), key: records}
    RESULT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
