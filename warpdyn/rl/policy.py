"""A trained policy as a file: ONNX, with what it is of."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from .task import Task, TaskError
from .training import Trainer

ABOUT = "warpdyn"
"""Name of the description in the file's metadata."""

OBSERVATION, ACTION = "observation", "action"
"""Names of what goes in and what comes out."""

OPSET, IR_VERSION = 18, 10
"""Versions of ONNX that runtimes of 2024 read."""


def export(trainer: Trainer, path: Path) -> None:
    """Write the mean of a trainer's policy, with the normalisation of observations in it."""
    about = {
        "task": trainer.task.name,
        "robot": trainer.task.model.name,
        "seed": trainer.seed,
        "iterations": trainer.iteration,
        "recipe": trainer.recipe.as_dict(),
        "command": " ".join(["warpdyn", *sys.argv[1:]]),
        "commit": _commit(),
    }
    policy: Any = trainer.algorithm.get_policy()
    nodes, weights = _layers(policy)
    wide = [policy.mlp[0].in_features, trainer.task.actions]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["envs", size])
        for name, size in zip((OBSERVATION, ACTION), wide, strict=True)
    ]
    graph = helper.make_graph(nodes, trainer.task.name, ends[:1], ends[1:], weights)
    whole = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])
    whole.ir_version = IR_VERSION
    entry = whole.metadata_props.add()
    entry.key, entry.value = ABOUT, json.dumps(about)
    onnx.checker.check_model(whole)
    onnx.save(whole, str(path))


def _layers(policy: Any) -> tuple[list[Any], list[Any]]:
    """Nodes and weights: (x - mean) / (deviation + eps), then linear layers with ELU between."""
    seen = policy.obs_normalizer
    arrays = {"mean": seen.mean, "deviation": seen.std + seen.eps}
    nodes = [
        helper.make_node("Sub", [OBSERVATION, "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "deviation"], ["layer"]),
    ]
    last = "layer"
    for k, layer in enumerate(policy.mlp):
        name = ACTION if k == len(policy.mlp) - 1 else f"layer{k}"
        if isinstance(layer, torch.nn.Linear):
            arrays |= {f"weight{k}": layer.weight, f"bias{k}": layer.bias}
            gemm = [last, f"weight{k}", f"bias{k}"]
            nodes.append(helper.make_node("Gemm", gemm, [name], transB=1))
        else:
            nodes.append(helper.make_node("Elu", [last], [name], alpha=layer.alpha))
        last = name
    weights = [
        numpy_helper.from_array(x.detach().cpu().numpy().astype(np.float32), name)
        for name, x in arrays.items()
    ]
    return nodes, weights


class Policy:
    """A policy from a file: `policy(observations)` gives actions, (B, n) → (B, actions).

    about: the task, robot, seed, recipe, command and commit that made it.
    """

    def __init__(self, path: str | Path, *, threads: int = 1):
        path = Path(path)
        if not path.is_file():
            raise TaskError(f"{path}: no such policy file")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        try:
            self._session = onnxruntime.InferenceSession(
                path.read_bytes(), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # of onnxruntime, which has a class for each cause
            raise TaskError(f"{path} is no ONNX policy: {str(error).splitlines()[0]}") from None
        described = self._session.get_modelmeta().custom_metadata_map.get(ABOUT)
        self.path, self.about = path, json.loads(described) if described else {}
        (self._input,) = self._session.get_inputs()

    @property
    def width(self) -> int:
        """How many numbers it observes."""
        return int(self._input.shape[-1])

    def __call__(self, observations: Any) -> np.ndarray:
        """Actions for observations."""
        rows = np.asarray(observations, dtype=np.float32)
        (actions,) = self._session.run(None, {self._input.name: np.atleast_2d(rows)})
        return actions if rows.ndim > 1 else actions[0]

    def check(self, task: Task, width: int) -> None:
        """Refuse a policy of another task or robot."""
        if self.width != width:
            of = self.about.get("task", "an unknown task")
            raise TaskError(
                f"{self.path} observes {self.width} numbers and is of {of}; {task.name} for "
                f"{task.model.name} gives {width}"
            )


def _commit() -> str:
    """The commit of the code, if it is known."""
    here = Path(__file__).parent
    told = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True
    )
    return told.stdout.strip() if told.returncode == 0 else "unknown"
