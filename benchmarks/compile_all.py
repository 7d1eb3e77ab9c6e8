"""Time of the first call of every public function, with a cold and a warm kernel cache.

    python -m benchmarks.compile_all [ROBOT]

The default robot is talos_reduced with a free base (38 degrees of freedom). One process starts with an
empty cache; a second process reads the cache that the first one wrote. The tables go to standard output.
"""

from __future__ import annotations

import argparse
import inspect
import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import warp as wp

import warpdyn as wd
from warpdyn.cli.workload import furthest_link
from warpdyn.execution.batched import FUNCTIONS

from .cases import COLD_COMPILE
from .robots import robot
from .startup import run

WIDTHS = {"quaternion": (4,), "pose": (7,), "matrix": (4, 4), "twist": (6,), "wrench": (6,)}

EACH = """
import sys
from benchmarks.compile_all import print_seconds
print_seconds(sys.argv[1])
"""


def calls(model: wd.Model) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield titles and calls: every public array function, for all links and for one, and derivatives."""
    frame = furthest_link(model)

    def array(name: str) -> np.ndarray:
        """Values of an argument."""
        if name in ("q", "q0", "q1"):
            return wd.random_configuration(model, 1, dtype=np.float32)
        if name in WIDTHS:
            whole = {"pose": [0, 0, 0, 0, 0, 0, 1], "quaternion": [0, 0, 0, 1], "matrix": np.eye(4)}
            return np.array([whole.get(name, np.ones(WIDTHS[name]))], np.float32)
        return np.ones((1, model.nv), np.float32)

    def arguments_of(function: Callable[..., Any]) -> tuple[list[Any], dict[str, Any], bool]:
        """Arguments and options of a call; True if the function takes a frame that was left out."""
        parameters = inspect.signature(function).parameters
        positional = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        if function is wd.convert.matrix_to_quaternion:
            return [np.eye(3, dtype=np.float32)[None]], {}, False
        arguments: list[Any] = [
            model if x == "model" else 0.5 if x == "t" else array(x) for x in positional
        ]
        options: dict[str, Any] = {}
        for name, value in (("source", "local"), ("target", "world")):
            if name in parameters and parameters[name].default is inspect.Parameter.empty:
                options[name] = (
                    {"local": "xyzw", "world": "wxyz"}[value]
                    if function is wd.convert.quaternion
                    else value
                )
        if "joints" in parameters:
            options["target"] = "mujoco"
        framed = "frame" in parameters
        if framed and parameters["frame"].default is inspect.Parameter.empty:
            options["frame"], framed = frame, False
        return arguments, options, framed

    for name, function in FUNCTIONS.items():
        if name in (
            "inverse_kinematics",
            *(() if model.actuators else ("actuator_torques",)),
        ):
            continue
        arguments, options, framed = arguments_of(function)
        yield name, lambda f=function, a=arguments, o=options: f(*a, **o)
        if framed:
            yield (
                f"{name}, one frame",
                lambda f=function, a=arguments, o=options: f(*a, frame=frame, **o),
            )
    q = wd.random_configuration(model, 1, dtype=np.float32)
    if hasattr(wd, "inverse_kinematics"):
        pose = wd.fk(model, q, frame=frame)
        yield "inverse_kinematics", lambda: wd.inverse_kinematics(model, pose, frame=frame)
    v = np.ones((1, model.nv), np.float32)
    qdd = wd.aba(model, q, v, v)
    for name, options in (("rnea", {}), ("aba", {"solution": qdd})):
        function = getattr(wd, name)
        yield (
            f"vjp of {name}",
            lambda f=function, o=options: wd.vjp(f, model, q, v, v, cotangents=v, **o),
        )
        yield (
            f"jvp of {name}",
            lambda f=function, o=options: wd.jvp(f, model, q, v, v, tangents={"v": v}, **o),
        )
    poses = np.ones((1, model.nlinks, 4, 4), np.float32)
    yield "vjp of fk", lambda: wd.vjp(wd.fk, model, q, cotangents=poses)
    yield "derivatives of com", lambda: wd.derivatives(wd.com, model, q)
    yield (
        "derivatives of frame_velocity",
        lambda: wd.derivatives(wd.frame_velocity, model, q, v, frame=frame),
    )


def print_seconds(name: str) -> None:
    """Print the seconds of each call as a line of JSON. It runs in a new process."""
    wp.config.log_level = wp.LOG_ERROR
    warnings.simplefilter("ignore")
    model, found = robot(name).model, {}
    start = time.perf_counter()
    wd.gravity_torques(wd.load_robot("cartpole"), np.zeros((1, 2)))
    found["Warp's first kernel"] = time.perf_counter() - start
    for title, call in calls(model):
        start = time.perf_counter()
        call()
        found[title] = time.perf_counter() - start
        print(f"{title}: {found[title]:.2f}", file=sys.stderr, flush=True)
    print(json.dumps(found))


def main() -> int:
    """Print a Markdown page."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.compile_all", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "robot",
        nargs="?",
        default="talos_reduced_floating",
        metavar="ROBOT",
        help="a robot of the benchmarks (default: talos_reduced_floating, 38 degrees of freedom)",
    )
    name = parser.parse_args().robot
    try:
        robot(name)
    except OSError as error:
        parser.error(f"there is no robot {name!r}: {error}")
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = run(EACH, cache, name), run(EACH, cache, name)
    first = cold.pop("Warp's first kernel")
    slow = [title for title, value in cold.items() if value > COLD_COMPILE]
    print(
        f"# First call of every public function: {name}, {robot(name).model.nv} degrees of freedom, float32\n"
    )
    print(
        f"One process. Warp's first kernel, measured apart, takes {first:.1f} s with an empty cache."
    )
    print(
        f"The target is {COLD_COMPILE:g} s; {len(slow) or 'none'} of {len(cold)} calls take longer (bold).\n"
    )
    print("| function | cold [s] | warm [s] |\n|---|---|---|")
    for title, value in sorted(cold.items(), key=lambda item: -item[1]):
        shown = f"**{value:.1f}**" if title in slow else f"{value:.1f}"
        print(f"| {title} | {shown} | {warm[title]:.3f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
