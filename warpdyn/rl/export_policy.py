"""Export of a trained policy as an ONNX file with its description."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .checkpoint import plain
from .deployment.deployment_record import deployment_record
from .deployment.robot_step import RobotStep
from .domain_randomization import randomization_of
from .learners.networks import Network
from .policy import ABOUT, ACTION, DEPLOYMENT, OBSERVATION, ONNX_ACTIVATIONS, Policy
from .recipe import Recipe
from .task import Task
from .training import Trainer, training_task

OPSET, IR_VERSION = 18, 10
"""Versions of ONNX that the runtimes of 2024 read."""

OF_POLICIES = ("--init", "--teacher")
"""Options of a training run that name a policy's file."""


def export(trainer: Trainer, path: Path) -> None:
    """Write the mean of a trainer's policy, including the normalisation of observations."""
    about = {
        "task": trainer.task.name,
        "robot": trainer.task.model.name,
        "seed": trainer.seed,
        "iterations": trainer.iteration,
        "recipe": plain(trainer.recipe.as_dict()),
        "command": _command(sys.argv[1:]),
        "commit": _commit(),
    }
    if trainer.teacher:
        about["teacher"] = trainer.teacher
    policy = trainer.policy()
    nodes, weights = _layers(policy)
    wide = [len(policy.normalizer.mean), trainer.task.actions]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["envs", size])
        for name, size in zip((OBSERVATION, ACTION), wide, strict=True)
    ]
    graph = helper.make_graph(nodes, trainer.task.name, ends[:1], ends[1:], weights)
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    whole.ir_version = IR_VERSION
    _set_metadata(whole, ABOUT, about)
    _set_metadata(whole, DEPLOYMENT, deployment_record(trainer.task, trained=trainer.env.task))
    onnx.checker.check_model(whole)
    onnx.save(whole, str(path))


def describe(task: Task, path: Path) -> None:
    """Write the deployment record of a task into a policy's file, whose network stays as it is.

    For files that an earlier version wrote. The record has the domain randomisation with which the
    file was trained. TaskError: the file is of another task or robot.
    """
    robot_step, policy = RobotStep(task), Policy(path)
    policy.check(task, robot_step.observations[robot_step.group][0])
    whole = onnx.load(str(path))
    drawn = policy.about.get("recipe", {}).get("vary")
    recipe = Recipe(vary=None if drawn is None else randomization_of(drawn))
    trained = training_task(task, recipe)
    _set_metadata(whole, DEPLOYMENT, deployment_record(task, robot_step, trained))
    onnx.save(whole, str(path))


def _set_metadata(whole: Any, key: str, values: dict[str, Any]) -> None:
    found = [entry for entry in whole.metadata_props if entry.key == key]
    entry = found[0] if found else whole.metadata_props.add()
    entry.key, entry.value = key, json.dumps(values)


def _layers(policy: Network) -> tuple[list[Any], list[Any]]:
    """Nodes and weights: (x - mean) / scale, then linear layers with an activation between them."""
    arrays = {"mean": policy.normalizer.mean, "deviation": policy.normalizer.scale}
    nodes = [
        helper.make_node("Sub", [OBSERVATION, "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "deviation"], ["layer"]),
    ]
    entering, last = "layer", policy.linear_layers[-1]
    for k, layer in enumerate(policy.linear_layers):
        name = ACTION if layer is last else f"sum{k}"
        arrays |= {f"weight{k}": layer.weight, f"bias{k}": layer.bias}
        gemm = [entering, f"weight{k}", f"bias{k}"]
        nodes.append(helper.make_node("Gemm", gemm, [name], transB=1))
        if layer is not last:
            nodes += _activation(policy.activation, name, f"layer{k}")
            entering = f"layer{k}"
    weights = [
        numpy_helper.from_array(x.detach().cpu().numpy().astype(np.float32), name)
        for name, x in arrays.items()
    ]
    return nodes, weights


def _activation(activation: str, entering: str, leaving: str) -> list[Any]:
    """Nodes of an activation. Opset 18 has no SiLU: it is x times its sigmoid."""
    first, *second = ONNX_ACTIVATIONS[activation]
    between = f"{leaving}_{activation}" if second else leaving
    nodes = [helper.make_node(first, [entering], [between])]
    return nodes + [helper.make_node(name, [entering, between], [leaving]) for name in second]


def _command(words: Sequence[str]) -> str:
    """The command that trained the policy. Its folder is left out and files of other policies are
    reduced to their names, because the paths belong to this machine."""
    before = ["", *words]
    kept = []
    for word, last in zip(words, before, strict=False):
        option, equals, value = word.partition("=")
        if "--folder" in (option, last):
            continue
        if last in OF_POLICIES:
            word = Path(word).name
        elif option in OF_POLICIES and equals:
            word = f"{option}={Path(value).name}"
        kept.append(word)
    return " ".join(["warpdyn", *kept])


def _commit() -> str:
    """The commit of the code, if it is known."""
    here = Path(__file__).parent
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True
    )
    return done.stdout.strip() if done.returncode == 0 else "unknown"
