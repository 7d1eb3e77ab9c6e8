"""Exported code of every public function of a robot beside the oracle, for the bundled robots.

    python -m benchmarks.exported_family            # some minutes of compiling
    python -m benchmarks.exported_family --float32

Each robot's functions become one module of Python by `wd.export_python`, whose results are compared
with `wd.oracle` on random states. A line for each robot names the worst function, its error relative
to the largest number of its result (at least one), and the functions that cannot be exported or need
more than states to be called.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import json
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import warpdyn as wd
from warpdyn.cli.workload import random_states
from warpdyn.functions.compile_ahead import Precision
from warpdyn.functions.exporting import exported_functions

from .__main__ import what_it_ran_on

ROBOTS = {"panda": False, "ur5e": False, "cartpole": False, "quadruped": True, "humanoid": True}
"""Bundled robots, and whether their base is free."""

ROWS = 5
RESULT = Path(__file__).parent / "results" / "exported_family.json"


def inputs_of(function: Callable[..., Any], states: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """States by the names of a function's arguments; KeyError at one that is no state."""
    named = dict(states)
    named |= {"q0": states["q"], "q1": states["q"][::-1], "d": 0.1 * states["v"], "b": states["v"]}
    given = list(inspect.signature(function).parameters.values())[1:]
    wanted = [x for x in given if x.kind is x.POSITIONAL_OR_KEYWORD and x.default is x.empty]
    return {x.name: named[x.name] for x in wanted if x.name not in ("frame", "points")}


def calls_of(
    model: wd.Model, states: Mapping[str, np.ndarray]
) -> tuple[dict[str, Callable[..., Any]], dict[str, str]]:
    """Functions that states alone are enough for, their frame or point at the last link; and why
    others are left out."""
    last, calls, left = model.link_names[-1], {}, {}
    for name in wd.__all__:
        function = getattr(wd, name)
        if not getattr(function, "of_a_model", False):
            continue
        parameters = inspect.signature(function).parameters
        fixed: dict[str, Any] = {}
        if "frame" in parameters and parameters["frame"].default is inspect.Parameter.empty:
            fixed["frame"] = last
        if "points" in parameters and parameters["points"].default is inspect.Parameter.empty:
            fixed["points"] = [wd.ContactPoint(last, (0.1, 0.0, -0.1), 0.02)]
        try:
            given = inputs_of(function, states)
            call = partial(function, **fixed)
            (exported,) = exported_functions(model, {name: call}, "float64")
            if more := [x for x in exported.inputs if x not in given]:
                raise KeyError(more[0])
        except KeyError as missing:
            left[name] = f"needs {missing}"
        except (ValueError, TypeError) as refusal:
            left[name] = str(refusal).splitlines()[0]
        else:
            calls[name] = call
    return calls, left


def module_of(
    model: wd.Model, calls: Mapping[str, Callable[..., Any]], folder: Path, dtype: Precision
) -> Any:
    """The compiled module, imported."""
    name = f"{model.name}_{dtype}"
    file = wd.export_python(model, calls, folder, name=name, dtype=dtype)
    spec = importlib.util.spec_from_file_location(file.name.split(".")[0], file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def errors(model: wd.Model, folder: Path, dtype: Precision) -> dict[str, Any]:
    """The largest error of each function, of one robot at a time and of rows; what was left out."""
    states = {k: x.astype(dtype) for k, x in random_states(model, ROWS).items()}
    calls, left = calls_of(model, states)
    module, found = module_of(model, calls, folder, dtype), {}
    for name, call in tqdm(calls.items(), desc=model.name):
        given = inputs_of(getattr(wd, name), states)
        answer = wd.oracle(call.func, model, **given, **call.keywords)  # type: ignore[attr-defined]
        expected = [np.asarray(x) for x in (answer if isinstance(answer, tuple) else (answer,))]
        if not all(x.size for x in expected):
            left[name] = "has a result of no numbers"
            continue
        given = {k: np.ascontiguousarray(x) for k, x in given.items()}
        rows = [np.zeros(x.shape, dtype) for x in expected]
        getattr(module, f"{name}_batch")(*given.values(), *rows)
        single = [np.zeros(x.shape, dtype) for x in expected]
        for k in range(ROWS):
            getattr(module, name)(
                *(x[k, ...] for x in given.values()), *(x[k, ...] for x in single)
            )
        found[name] = max(
            float(np.abs(x - wanted).max() / max(1.0, np.abs(wanted).max()))
            for some in (rows, single)
            for x, wanted in zip(some, expected, strict=True)
        )
    return {"errors": found, "left_out": left}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--robots", nargs="+", choices=ROBOTS, default=list(ROBOTS))
    given = parser.parse_args()
    dtype: Precision = "float32" if given.float32 else "float64"
    results = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    results["about"] = what_it_ran_on("cpu", [])
    with tempfile.TemporaryDirectory() as folder:
        for name in given.robots:
            model = wd.load_robot(name, floating_base=True) if ROBOTS[name] else wd.load_robot(name)
            one = results[f"{name} {dtype}"] = errors(model, Path(folder), dtype)
            worst = max(one["errors"], key=one["errors"].__getitem__)
            print(
                f"{name}, {dtype}: {len(one['errors'])} functions, worst {worst} "
                f"{one['errors'][worst]:.1e}; left out: {', '.join(one['left_out']) or 'none'}"
            )
            RESULT.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
