"""A policy with which a training run begins: the networks of an ONNX file or of a checkpoint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import onnx
import torch
from onnx import numpy_helper

from ..execution.compile.announcements import say
from .checkpoint import read_checkpoint
from .deployment.deployment_record import say_other_programs
from .environment_step import EnvironmentStep
from .learners.learner import Learner
from .learners.networks import SMALLEST_DEVIATION, Network, Normalizer
from .policy import ONNX_ACTIVATIONS, Policy
from .task import Task, TaskError

SEEN = 2**20
"""Number of observations that the normalisation of an ONNX file counts for: its own number is not
in the file. Training with 1,024 environments and 24 steps reaches this number in 43 iterations."""


def start_from(
    learner: Learner, kernels: EnvironmentStep, task: Task, path: Path, deviation: float
) -> str:
    """Replace the networks of a learner by those of a file; returns the file's hash.

    path: `policy.onnx`, which has the policy and its normalisation of observations but neither the
    critic nor the deviation of actions, or `checkpoint.pt`, which has all of them. The optimiser
    starts afresh. A line on stderr names terms that are computed differently.
    kernels: the environments of the training that begins. task: its task without the recipe's
    randomisation, as files record it. deviation: the recipe's. If the checkpoint's recipe had
    another deviation, the checkpoint's is used, and a line on stderr says so.
    TaskError: the networks have other sizes or another activation, or a checkpoint is of another
    robot or of other terms of the observations.
    """
    if path.suffix == ".onnx":
        record = _from_onnx(learner, kernels.task, path)
    else:
        record = _from_checkpoint(learner, kernels, path, deviation)
    say_other_programs(path, record, task)
    return file_hash(path)


def file_hash(path: Path) -> str:
    """The hash by which a training run recognises a file. TaskError: there is no such file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise TaskError(f"{path} cannot be read: {error.strerror}") from None


def network_of_onnx(path: Path) -> Network:
    """The network of an exported policy, with its normalisation of observations.

    TaskError: the file is not a policy of warpdyn: linear layers with one activation between.
    """
    graph = onnx.load(str(path)).graph
    arrays = {x.name: torch.tensor(numpy_helper.to_array(x)) for x in graph.initializer}
    # Weights and biases are in the order of the layers, whatever their numbers are.
    weights, biases = (
        [x for n, x in arrays.items() if n.startswith(k)] for k in ("weight", "bias")
    )
    operators = {node.op_type for node in graph.node}
    activation = next((n for n, x in ONNX_ACTIVATIONS.items() if x[0] in operators), "none")
    known = {"Sub", "Div", "Gemm", *ONNX_ACTIVATIONS.get(activation, ())}
    if {"mean", "deviation"} - set(arrays) or not weights or operators - known:
        raise TaskError(
            f"{path} is not a policy that warpdyn exported: it has the operators "
            f"{', '.join(sorted(operators))}"
        )
    widths = [len(x) for x in weights[:-1]]
    normalizer = Normalizer(len(arrays["mean"]))
    policy = Network(normalizer, len(weights[-1]), widths, activation if widths else "relu")
    with torch.no_grad():
        for layer, weight, bias in zip(policy.linear_layers, weights, biases, strict=True):
            layer.weight.copy_(weight)
            layer.bias.copy_(bias)
        normalizer.mean.copy_(arrays["mean"])
        normalizer.variance.copy_((arrays["deviation"] - SMALLEST_DEVIATION) ** 2)
        normalizer.count.fill_(SEEN)
    return policy


def _from_onnx(learner: Learner, task: Task, path: Path) -> Mapping[str, Any]:
    """Take the weights of an exported policy; returns its deployment record."""
    policy, exported = learner.policy(), Policy(path)
    exported.check(task, len(policy.normalizer.mean))
    found = network_of_onnx(path)
    shapes, wanted = (
        [tuple(layer.weight.shape) for layer in x.linear_layers] for x in (found, policy)
    )
    if shapes != wanted:
        widths = ",".join(str(shape[0]) for shape in shapes[:-1])
        raise TaskError(
            f"{path} has layers of other widths than the recipe, {shapes} instead of {wanted}: "
            f"--set recipe.layers={widths or '...'}"
        )
    if found.activation != policy.activation:
        raise TaskError(
            f"{path} has the activation {found.activation} and the recipe {policy.activation}: "
            f"--set recipe.activation={found.activation}"
        )
    learner.use_policy(found)
    return exported.deployment


def _from_checkpoint(
    learner: Learner, kernels: EnvironmentStep, path: Path, deviation: float
) -> Mapping[str, Any]:
    """Take the networks of a checkpoint, and its deviation of actions; returns the deployment record
    of its task."""
    whole = read_checkpoint(path, "name the policy.onnx or the checkpoint.pt of a training")
    task = kernels.task
    _check_task(whole, kernels, path)
    try:
        learner.restore_networks(whole["learner"])
    except Exception:  # from Torch, for networks of other sizes
        recipe, policy = whole["of"].get("recipe", {}), learner.policy()
        widths = ", ".join(f"{x.shape[-1]} ({n})" for n, x in whole["observations"].items())
        raise TaskError(
            f"{path} has other networks than this training: its task {whole['of'].get('task')} "
            f"observes {widths} numbers, with layers {recipe.get('layers')} of the learner "
            f"{recipe.get('learner')}; the policy of {task.name} observes "
            f"{len(policy.normalizer.mean)}, with layers "
            f"{[len(layer.weight) for layer in policy.linear_layers[:-1]]}"
        ) from None
    if whole["of"].get("recipe", {}).get("deviation", deviation) != deviation:
        say(
            f"the deviation of actions is that of {path}, {learner.deviation:.2g}; the recipe's "
            f"deviation, {deviation:g}, has no effect. policy.onnx stores no deviation"
        )
    record: Mapping[str, Any] = whole.get("deployment") or {}
    return record


def _check_task(whole: Mapping[str, Any], kernels: EnvironmentStep, path: Path) -> None:
    """Raise for a checkpoint of another robot or of other terms. Its networks may happen to have
    the right sizes, and would then take one term for another."""
    task, trained, robot = kernels.task, whole["of"].get("task"), whole["of"].get("robot")
    if robot not in (None, task.model.name):
        raise TaskError(
            f"{path} was trained in the task {trained} with the robot {robot}; {task.name} is for "
            f"{task.model.name}"
        )
    if "terms" not in whole:  # written by an earlier version
        say(
            f"{path} does not record what its task observed, so a difference in observations would go unnoticed"
        )
        return
    old, new = (_in_words(x) for x in (whole["terms"], kernels.observation.layout))
    if old != new:
        raise TaskError(
            f"{path}: its task {trained} observes {old}; {task.name} observes {new}. Begin with a "
            "training that observes the same terms in the same order"
        )


def _in_words(layout: Mapping[str, tuple[int, Iterable[tuple[str, int]]]]) -> str:
    """Terms of each group with their sizes, in order, and the number of observations in its
    history."""
    words = []
    for group, (count, terms) in layout.items():
        often = f" of the last {count} steps" if count > 1 else ""
        words.append(f"{group}: {', '.join(f'{n} ({size})' for n, size in terms)}{often}")
    return "; ".join(words)
