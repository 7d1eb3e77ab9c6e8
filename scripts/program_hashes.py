"""Hashes of every public function's recorded program and of the C++ written from it.

`python scripts/program_hashes.py --out before.json`, and later `--compare before.json`. Nothing is
compiled. Each line is function/robot/derivative, dtype: operations, hash of the program as text,
hashes of the C++ for the CPU and for CUDA.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

import warpdyn as wd
from warpdyn.codegen.targets import TARGETS, write
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.execution.request.call import derive, input_shapes, inputs_of, result_names
from warpdyn.execution.request.evaluate import record_call, result_shapes

ROBOTS = (
    "panda",
    "hand",
    "quadruped",
    "quadruped_world",
    "quadruped_aligned",
    "humanoid",
    "panda_params",
)
"""Robots of every function; functions without a model are hashed with the first robot."""

ROWS = 2
DERIVED = {"panda": ("vjp", "jvp"), "hand": ("vjp", "jvp"), "quadruped_world": ("vjp",)}
"""Robots for which derivatives are hashed, too."""

HAND = """
<robot name="hand"><link name="base"/>
<link name="palm"><inertial><origin xyz="0.1 0 0.05"/><mass value="1"/>
 <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="0" iyz="-0.002"/></inertial></link>
<link name="left"><inertial><origin xyz="0 0.1 0.02"/><mass value="0.3"/>
 <inertia ixx="0.002" iyy="0.003" izz="0.0025" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="right"><inertial><origin xyz="0 -0.03 0.1"/><mass value="0.2"/>
 <inertia ixx="0.002" iyy="0.003" izz="0.0025" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wrist" type="revolute"><parent link="base"/><child link="palm"/><origin xyz="0 0 0.4" rpy="0.3 0.5 0"/>
 <axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2" effort="30"/></joint>
<joint name="left_finger" type="revolute"><parent link="palm"/><child link="left"/><origin xyz="0 0.1 0.1"/>
 <axis xyz="1 0 0"/><limit lower="-1" upper="1" velocity="2" effort="5"/></joint>
<joint name="right_finger" type="revolute"><parent link="palm"/><child link="right"/><origin xyz="0 -0.1 0"/>
 <axis xyz="1 0 0"/><mimic joint="left_finger" multiplier="-0.8" offset="0.2"/>
 <limit lower="-1" upper="1" velocity="2" effort="5"/></joint>
</robot>"""

WIDTHS = {
    "pose": (7,),
    "quaternion": (4,),
    "rotation": (3, 3),
    "matrix": (4, 4),
    "twist": (6,),
    "wrench": (6,),
    "targets": (4, 4),
}


@cache
def model_of(robot: str) -> wd.Model:
    """The robot with a name of the hash file."""
    match robot:
        case "hand":
            model = wd.load(HAND).with_friction(viscous=0.3, coulomb=0.1)
            return model.with_limit_springs(stiffness=100.0, damping=1.0)
        case "panda" | "panda_params":
            return wd.load_robot("panda")
        case "quadruped_world":
            return wd.load_robot("quadruped", base_velocity="world")
        case "quadruped_aligned":
            return wd.load_robot("quadruped", base_velocity="local_world_aligned")
    return wd.load_robot(robot)


def params_of(model: wd.Model) -> wd.Params:
    """Parameters of every kind, for two links or joints."""
    links, joints = (
        [link.name for link in model.links if link.mass][-2:],
        list(model.joint_names[-2:]),
    )
    kinds = {"mass": (), "com": (3,), "inertia": (6,)}
    values: dict[str, Any] = {
        kind: {name: np.ones((ROWS, *shape)) for name in links} for kind, shape in kinds.items()
    }
    values |= {kind: {name: np.ones(ROWS) for name in joints} for kind in ("armature", "viscous")}
    values["placement"] = {joints[0]: np.ones((ROWS, 7))}
    return model.params(**values)


def describe_call(robot: str, name: str) -> Any:
    """The call of a public function with arrays of zeros."""
    model, function = model_of(robot), FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    frame = model.link_names[-1]
    given: dict[str, Any] = {}
    for argument in parameters.values():
        if argument.kind is argument.POSITIONAL_OR_KEYWORD and argument.name != "model":
            shape = WIDTHS.get(
                argument.name, (model.nq,) if argument.name[0] == "q" else (model.nv,)
            )
            given[argument.name] = np.zeros((ROWS, *shape))
    if "t" in given:
        given["t"] = 0.5
    if "frame" in parameters and ("frames" not in parameters or "jacobian" in name):
        given["frame"] = frame
    if name.startswith("convert_"):
        by_name = {
            "quaternion": ("xyzw", "wxyz"),
            "twist": ("local", "world"),
            "wrench": ("local", "world"),
        }
        source, target = by_name.get(name.removeprefix("convert_"), ("warpdyn", "mujoco"))
        given |= {"source": source, "target": target}
    if "f_ext" in parameters and robot in ("hand", "panda_params"):
        given |= {"f_ext": {frame: np.zeros((ROWS, 6))}, "gravity": np.zeros(3)}
    if "params" in parameters and robot == "panda_params":
        given["params"] = params_of(model)
    return function.describe(*((model,) if "model" in parameters else ()), **given)


def derivative(call: Any, kind: str) -> Any:
    """The derivative of the call with respect to every array."""
    inputs = inputs_of(call)
    solution = None
    if call.solves:
        solution = np.zeros((ROWS, *result_shapes(call)[call.results[0]]))
    if kind == "vjp":
        shapes = result_shapes(call)
        seeds = {name: np.zeros((ROWS, *shapes[name])) for name in result_names(call)}
        return derive(call, "vjp", tuple(inputs), seeds, solution)
    seeds = {name: np.zeros((ROWS, *x.shape)) for name, x in inputs.items()}
    return derive(call, "jvp", tuple(inputs), seeds, solution)


def digest(text: str) -> str:
    """First 16 hexadecimal digits of the text's SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def hash_function(case: tuple[str, str, str]) -> list[tuple[str, Any]]:
    """Hashes of one function on one robot, for float32 and float64, or the error if it is refused."""
    robot, name, kind = case
    entries: list[tuple[str, Any]] = []
    for single in (True, False):
        key = f"{name}/{robot}/{kind or 'plain'} {'float32' if single else 'float64'}"
        try:
            call = describe_call(robot, name)
            call = derivative(call, kind) if kind else call
            program = record_call(call, input_shapes(call), single)
        except (TypeError, ValueError, KeyError, NotImplementedError) as refusal:
            entries.append((key, f"refused: {refusal}"))
            continue
        sources = [digest(write(program, name, single, target).code) for target in TARGETS]
        entries.append((key, [program.operations, digest(program.listing()), *sources]))
    return entries


def names() -> list[str]:
    """Names of the public functions that have a program."""
    return sorted(FUNCTIONS)


def cases(functions: Sequence[str]) -> list[tuple[str, str, str]]:
    """Each case: robot, function, derivative."""
    return [
        (robot, name, kind)
        for name in functions
        for robot in (ROBOTS if FUNCTIONS[name].of_a_model else ROBOTS[:1])
        for kind in ("", *DERIVED.get(robot, ()))
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute the hashes, and write or compare them. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="write the hashes to this file")
    parser.add_argument(
        "--compare",
        type=Path,
        help="say what differs from this file; exit status 1 if anything does",
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=names(),
        metavar="NAME",
        help="public functions, in place of all; of the other file only these are compared",
    )
    args = parser.parse_args(arguments)
    functions = args.only or names()
    hashes: dict[str, Any] = {}
    every = cases(functions)
    with ProcessPoolExecutor(2) as pool:
        for entries in tqdm(
            pool.map(hash_function, every, chunksize=4), total=len(every), disable=None
        ):
            hashes |= dict(entries)
    if args.out:
        args.out.write_text(json.dumps(hashes, indent=0, sort_keys=True) + "\n")
    if args.compare is None:
        return 0
    before = json.loads(args.compare.read_text())
    if args.only:
        before = {key: was for key, was in before.items() if key.partition("/")[0] in functions}
    changed = [key for key in sorted({*before, *hashes}) if before.get(key) != hashes.get(key)]
    for key in changed:
        print(f"{key}: {before.get(key)} -> {hashes.get(key)}")
    print(f"{len(hashes)} programs, {len(changed)} of them changed", file=sys.stderr)
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main())
