"""A policy with which a training begins: the networks of an ONNX file or of a checkpoint."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import numpy_helper

from .checkpoint import read_checkpoint
from .policy import Policy
from .task import Task, TaskError

SEEN = 2**20
"""Number of observations that the normalisation of an ONNX file counts for: its own number is not
in the file. A training of 1,024 environments and 24 steps sees as many in 43 iterations."""


def start_from(algorithm: Any, task: Task, path: Path) -> str:
    """Replace the networks of a learner by those of a file; returns the file's hash.

    path: `policy.onnx`, which has the policy and its normalisation of observations but neither the
    critic nor the deviation of actions, or `checkpoint.pt`, which has all of them. The optimiser
    starts afresh. TaskError: the networks have other sizes.
    """
    if path.suffix == ".onnx":
        _from_onnx(algorithm.get_policy(), task, path)
    else:
        _from_checkpoint(algorithm, path)
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _from_onnx(actor: Any, task: Task, path: Path) -> None:
    """The weights of an exported policy."""
    Policy(path).check(task, actor.mlp[0].in_features)
    stored = onnx.load(str(path)).graph.initializer
    arrays = {x.name: torch.tensor(numpy_helper.to_array(x)) for x in stored}
    layers = [(k, x) for k, x in enumerate(actor.mlp) if isinstance(x, torch.nn.Linear)]
    wanted = [tuple(layer.weight.shape) for _, layer in layers]
    shapes = [tuple(x.shape) for n, x in arrays.items() if n.startswith("weight")]
    missing = {"mean", "deviation"} - set(arrays)
    if missing or shapes != wanted:
        widths = ",".join(str(shape[0]) for shape in shapes[:-1])
        raise TaskError(
            f"{path} has layers of other widths than the recipe, {shapes} instead of {wanted}: "
            f"--set recipe.layers={widths or '...'}"
        )
    with torch.no_grad():
        for k, layer in layers:
            layer.weight.copy_(arrays[f"weight{k}"])
            layer.bias.copy_(arrays[f"bias{k}"])
        seen = actor.obs_normalizer
        deviation = arrays["deviation"] - seen.eps
        seen._mean.copy_(arrays["mean"])
        seen._std.copy_(deviation)
        seen._var.copy_(deviation**2)
        seen.count.fill_(SEEN)


def _from_checkpoint(algorithm: Any, path: Path) -> None:
    """The networks of a checkpoint."""
    whole = read_checkpoint(path)
    parts = {"actor": True, "critic": True, "optimizer": False, "rnd": False, "iteration": False}
    try:
        algorithm.load(whole["algorithm"], parts, True)
    except Exception as error:  # from Torch, for networks of other sizes
        said = str(error).strip().splitlines()
        layers = whole["of"].get("recipe", {}).get("layers")
        raise TaskError(
            f"{path} has other networks than this training: {said[-1].strip() if said else error}; "
            f"its layers are {layers}, and its task is {whole['of'].get('task')}"
        ) from None
