"""Exported code of every public function of a robot beside the oracle, for the bundled robots.

    python -m benchmarks.exported_family                     # half an hour of compiling on two cores
    python -m benchmarks.exported_family --robots panda --dtypes float32
    python -m benchmarks.exported_family --robots humanoid --functions step state_derivative

Each robot's functions are headers of C++, a few functions each, that g++ and clang++ compile with -O2
and with -O3, two at a time. Their results on random states, for one robot and for rows, are compared
with `wd.oracle`: an error is relative to the largest number of a result (at least one). In float32
it stands beside what the oracle itself changes by when each number of the state changes by half a
unit in its last place: no code that reads float32 can be asked for less. Results go to
benchmarks/results/exported_family.json.
"""

from __future__ import annotations

import argparse
import ctypes
import inspect
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from tqdm import tqdm

import warpdyn as wd
from warpdyn.cli.workload import random_states
from warpdyn.codegen.exported_header import ExportedFunction
from warpdyn.codegen.portable import Style
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.functions.export.compile_ahead import Precision
from warpdyn.functions.export.exporting import exported_functions, header_of

from .__main__ import what_it_ran_on

FRAMES = {"panda": "", "ur5e": "tool0", "cartpole": "", "quadruped": "", "humanoid": ""}
"""Bundled robots, and the link that frames and points are at: the last one, if it is not named."""


COMPILERS, LEVELS = ("g++", "clang++"), ("-O2", "-O3")
OPTIONS = ("-std=c++17", "-march=native", "-shared", "-fPIC")
AT_ONCE = 2
"""Compilers that run at one time."""

GROUP = 4000
"""Statements of the functions that share a header, but for one that has more."""

ROWS = 5
"""States: no whole number of lanes."""

PERTURBED = 8
"""Random changes of the state by half a unit in the last place, of which the largest effect counts."""

RESULT = Path(__file__).parent / "results" / "exported_family.json"


@dataclass(frozen=True)
class Case:
    """A function to be compiled, and what it is to give."""

    function: ExportedFunction
    inputs: Sequence[np.ndarray]
    expected: Sequence[np.ndarray]
    """Results of the oracle for the same numbers, in rows."""
    sensitivity: float
    """Error that half a unit in the last place of the inputs makes of the oracle's results."""


def inputs_of(function: Callable[..., Any], states: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """States by the names of a function's arguments; KeyError at one that is not a state."""
    named = dict(states)
    named |= {"q0": states["q"], "q1": states["q"][::-1], "d": 0.1 * states["v"], "b": states["v"]}
    given = list(inspect.signature(function).parameters.values())[1:]
    wanted = [x for x in given if x.kind is x.POSITIONAL_OR_KEYWORD and x.default is x.empty]
    return {x.name: named[x.name] for x in wanted if x.name not in ("frame", "points")}


def cases(
    model: wd.Model,
    states: Mapping[str, np.ndarray],
    dtype: Precision,
    names: Sequence[str],
    left: dict[str, str],
) -> Iterator[Case]:
    """Of these functions those that states alone are enough for, their frame or point at one link;
    `left` is told why others are left out."""
    last = FRAMES[model.name] or model.link_names[-1]
    for name in names:
        function = FUNCTIONS[name]
        if not function.of_a_model:
            continue
        parameters = inspect.signature(function).parameters
        fixed: dict[str, Any] = {}
        if "frame" in parameters and parameters["frame"].default is inspect.Parameter.empty:
            fixed["frame"] = last
        if "points" in parameters and parameters["points"].default is inspect.Parameter.empty:
            fixed["points"] = [wd.ContactPoint(last, (0.1, 0.0, -0.1), 0.02)]
        try:
            given = inputs_of(function, states)
            (exported,) = exported_functions(model, {name: partial(function, **fixed)}, dtype)
            if more := [x for x in exported.inputs if x not in given]:
                raise KeyError(more[0])
            case = case_of(partial(function, model, **fixed), exported, given)
        except KeyError as missing:
            left[name] = f"needs {missing}"
        except (ValueError, TypeError) as refusal:
            left[name] = str(refusal).splitlines()[0]
        else:
            if any(x.size for x in case.expected):
                yield case
            else:
                left[name] = "has a result of no numbers"


def case_of(
    function: Callable[..., Any], exported: ExportedFunction, given: Mapping[str, np.ndarray]
) -> Case:
    """What the oracle says at these inputs and close to them."""

    def asked(inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        answer = wd.oracle(
            function.func,  # type: ignore[attr-defined]
            *function.args,  # type: ignore[attr-defined]
            **{k: x.astype(float) for k, x in inputs.items()},
            **function.keywords,  # type: ignore[attr-defined]
        )
        return [np.asarray(x) for x in (answer if isinstance(answer, tuple) else (answer,))]

    expected, sensitivity = asked(given), 0.0
    random = np.random.default_rng(0)
    single = all(x.dtype == np.float32 for x in given.values())
    for _ in range(PERTURBED if single else 0):
        moved = {
            k: x.astype(float) + 0.5 * np.spacing(x) * random.choice((-1.0, 1.0), x.shape)
            for k, x in given.items()
        }
        sensitivity = max(sensitivity, error(asked(moved), expected))
    arrays = [np.ascontiguousarray(given[x]) for x in exported.inputs]
    return Case(exported, arrays, expected, sensitivity)


def error(found: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """The largest, relative to the largest number of its result, which counts as one at least."""
    return max(
        float(np.abs(x - wanted).max() / max(1.0, np.abs(wanted).max()))
        for x, wanted in zip(found, expected, strict=True)
        if wanted.size
    )


def groups(each: Iterator[Case]) -> Iterator[list[Case]]:
    """Functions of one header: some small ones, or one large one."""
    held: list[Case] = []
    for case in each:
        sizes = [len(x.function.program.statements) for x in (*held, case)]
        if held and sum(sizes) > GROUP:
            yield held
            held = []
        held.append(case)
    if held:
        yield held


def source_of(model: wd.Model, group: Sequence[Case], single: bool) -> str:
    """A file of C++: the header, and its functions as C sees them."""
    functions = [x.function for x in group]
    lines = [header_of(model, functions, Style("c++", single, "robot")).replace("#pragma once", "")]
    real = "float" if single else "double"
    for each in functions:
        read = each.inputs.values()
        pointers = ", ".join(f"{'const ' if x in read else ''}{real} *{x}" for x in each.shapes)
        for suffix, first, count in (("", "", ""), ("_batch", "std::size_t n, ", "n, ")):
            called = f"{each.name}{suffix}"
            lines.append(
                f'extern "C" void x_{called}({first}{pointers}) '
                f"{{ robot::{called}({count}{', '.join(each.shapes)}); }}"
            )
    return "\n".join([*lines, ""])


def compiled(source: Path, compiler: str, level: str) -> ctypes.CDLL:
    """The library that a compiler makes of a file."""
    made = source.with_name(f"{source.stem}_{compiler.strip('+')}{level}.so")
    command = [compiler, *OPTIONS, level, str(source), "-o", str(made)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"{' '.join(command)}: {ran.stderr[:2000]}")
    return ctypes.CDLL(str(made))


def errors_of(
    source: Path, group: Sequence[Case], compiler: str, level: str
) -> tuple[str, dict[str, float]]:
    """Errors of functions in a file by their names, and the build that has them."""
    library, found = compiled(source, compiler, level), dict[str, float]()
    for case in group:
        dtype = case.inputs[0].dtype
        rows = [np.full(x.shape, np.nan, dtype) for x in case.expected]
        single = [np.full(x.shape, np.nan, dtype) for x in case.expected]
        library[f"x_{case.function.name}_batch"](ctypes.c_size_t(ROWS), *at(case.inputs, rows))
        for k in range(ROWS):
            one = [[x[k, ...] for x in arrays] for arrays in (case.inputs, single)]
            library[f"x_{case.function.name}"](*at(*one))
        # NaN must not vanish in a maximum.
        worst = [error(x, case.expected) for x in (rows, single)]
        found[case.function.name] = float(np.max(worst))
    return f"{compiler} {level}", found


def at(*arrays: Sequence[np.ndarray]) -> list[ctypes.c_void_p]:
    """Where arrays are."""
    return [ctypes.c_void_p(x.ctypes.data) for some in arrays for x in some]


def checked(model: wd.Model, dtype: Precision, names: Sequence[str]) -> dict[str, Any]:
    """Errors of each function by build; what a change of float32 inputs makes; what was left out."""
    states = {k: x.astype(dtype) for k, x in random_states(model, ROWS).items()}
    left: dict[str, str] = {}
    found: dict[str, dict[str, float]] = {}
    close: dict[str, float] = {}
    builds = [(x, level) for x in COMPILERS for level in LEVELS]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        jobs: list[Future[tuple[str, dict[str, float]]]] = []
        with tqdm(total=0, desc=f"{model.name} {dtype}", unit="build", file=sys.stderr) as bar:
            for k, group in enumerate(groups(cases(model, states, dtype, names, left))):
                source = Path(folder) / f"group{k}.cpp"
                source.write_text(source_of(model, group, dtype == "float32"))
                jobs += [pool.submit(errors_of, source, group, *build) for build in builds]
                close |= {x.function.name: x.sensitivity for x in group}
                bar.total = len(jobs)
                bar.refresh()
            for job in as_completed(jobs):
                build, errors = job.result()
                for name, worst in errors.items():
                    found.setdefault(name, {})[build] = float(f"{worst:.2g}")
                bar.update()
    result: dict[str, Any] = {"errors": dict(sorted(found.items())), "left_out": left}
    if dtype == "float32":
        result["half_a_unit_in_the_inputs"] = {k: float(f"{x:.2g}") for k, x in close.items()}
    return result


def joined(before: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    """Results of some functions among those of all."""
    all_of_them = {k: dict(sorted((before.get(k, {}) | x).items())) for k, x in result.items()}
    compared = all_of_them["errors"].keys()
    left_out = {k: x for k, x in all_of_them["left_out"].items() if k not in compared}
    return all_of_them | {"left_out": left_out}


def summary(result: Mapping[str, Any], bound: float) -> str:
    """The worst functions of a robot, and those beyond the bound with their inputs' share."""
    worst = {name: max(builds.values()) for name, builds in result["errors"].items()}
    close = result.get("half_a_unit_in_the_inputs", {})
    name = max(worst, key=worst.__getitem__)
    beyond = ", ".join(
        f"{x} {e:.1e} (inputs' last place {close.get(x, 0):.1e})"
        for x, e in worst.items()
        if not e <= bound
    )
    return (
        f"{len(worst)} functions, worst {name} {worst[name]:.1e}; beyond {bound:g}: "
        f"{beyond or 'none'}; left out: {', '.join(result['left_out']) or 'none'}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--robots", nargs="+", choices=FRAMES, default=list(FRAMES))
    dtypes = get_args(Precision)[::-1]
    parser.add_argument("--dtypes", nargs="+", choices=dtypes, default=dtypes)
    parser.add_argument("--functions", nargs="+", choices=FUNCTIONS, default=[], metavar="NAME")
    given = parser.parse_args()
    if missing := [x for x in COMPILERS if shutil.which(x) is None]:
        raise SystemExit(f"{', '.join(missing)} must be installed")
    for dtype in given.dtypes:
        for name in given.robots:
            model = wd.load_robot(name)
            result = checked(model, dtype, given.functions or list(FUNCTIONS))
            results = json.loads(RESULT.read_text()) if RESULT.exists() else {}
            results["about"] = what_it_ran_on("cpu", [])
            before = results.get(f"{name} {dtype}", {}) if given.functions else {}
            results[f"{name} {dtype}"] = joined(before, result)
            RESULT.write_text(json.dumps(results, indent=1) + "\n")
            bound = 1e-13 if dtype == "float64" else 1e-5
            print(f"{name}, {dtype}: {summary(result, bound)}", flush=True)


if __name__ == "__main__":
    main()
