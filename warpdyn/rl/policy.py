"""A trained policy from a file: its description and its actions. It needs only onnxruntime."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from ..model.regular_files import RefusedFileError, read_regular_file
from ..user_kernels.loading import in_one_line
from .task import Task, TaskError

ABOUT, DEPLOYMENT = "warpdyn", "deployment"
"""Names of the description and of the deployment record in the file's metadata."""

LARGEST = 256 * 2**20
"""Largest size of a policy's file in bytes; a network of three layers of 4,096 units has 130 MB."""

NO_LOG = 4
"""onnxruntime's level of fatal errors. Its other messages would appear on stderr, with names from
the file as they are; the exceptions say the same."""

OBSERVATION, ACTION = "observation", "action"
"""Names of the network's input and output."""


ONNX_ACTIVATIONS = {
    "elu": ("Elu",),
    "relu": ("Relu",),
    "silu": ("Sigmoid", "Mul"),
    "tanh": ("Tanh",),
}
"""Operators of an activation, by its name in a recipe; a second operator also takes its input."""


class Policy:
    """A policy from a file: `policy(observations)` returns actions, (B, n) → (B, actions).

    about: the task, robot, seed, recipe, command and commit that made it. deployment: joints,
    observation terms, gains and programs that run it elsewhere (`deployment_record`); empty for a
    file without it. width, actions: numbers of its observations and actions.
    """

    def __init__(self, path: str | Path, *, threads: int = 1):
        path = Path(path)
        data = _read_file(path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = threads
        options.log_severity_level = NO_LOG
        try:
            self._session = onnxruntime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime has its own class for each cause
            raise TaskError(f"{path} is not an ONNX policy: {str(error).splitlines()[0]}") from None
        entering, leaving = self._session.get_inputs(), self._session.get_outputs()
        shapes = [each.shape for each in (*entering, *leaving)]
        if len(shapes) != 2 or any(len(x) != 2 or not isinstance(x[1], int) for x in shapes):
            raise TaskError(
                f"{path} is not a policy: a policy maps observations (B, n) to actions (B, m); "
                f"the shapes of this network's inputs and outputs are {', '.join(map(str, shapes))}"
            )
        described = self._session.get_modelmeta().custom_metadata_map
        self.path, self.about = path, _about(path, described.get(ABOUT), ABOUT)
        self.deployment = _about(path, described.get(DEPLOYMENT), DEPLOYMENT)
        self._input = entering[0].name
        self.width, self.actions = (int(x[1]) for x in shapes)

    def __call__(self, observations: Any) -> np.ndarray:
        """Actions for observations. ValueError: they have another shape. TaskError: the network
        cannot compute them, or its actions have another shape than it states."""
        rows = np.asarray(observations, dtype=np.float32)
        if rows.ndim not in (1, 2) or rows.shape[-1] != self.width:
            raise ValueError(
                f"observations must be ({self.width},) or (B, {self.width}), got {rows.shape}"
            )
        given = np.atleast_2d(rows)
        try:
            (actions,) = self._session.run(None, {self._input: given})
        except Exception as error:  # as above
            raise TaskError(f"{self.path} cannot run: {in_one_line(error)}") from None
        if np.shape(actions) != (len(given), self.actions):
            raise TaskError(
                f"{self.path} states {self.actions} actions, and gives {np.shape(actions)} for "
                f"{len(given)} observations"
            )
        return actions if rows.ndim > 1 else actions[0]

    def __reduce_ex__(self, _: Any) -> Any:
        """Refuse `copy` and `pickle`: the network is in memory of onnxruntime."""
        raise TypeError(
            "a Policy cannot be pickled or copied: its network is in memory of onnxruntime; read its "
            "file again there, rl.Policy(policy.path)"
        )

    def check(self, task: Task, width: int) -> None:
        """Raise for a policy of another robot, or with another number of observations or actions
        than the task has."""
        trained, robot = (self.about.get(name, "unknown") for name in ("task", "robot"))
        mine = f"{self.path} was trained in the task {trained} with the robot {robot}"
        if self.width != width:
            raise TaskError(
                f"{mine}, and observes {self.width} numbers; {task.name} for {task.model.name} gives "
                f"{width}"
            )
        if self.actions != task.actions:
            raise TaskError(
                f"{mine}, and gives {self.actions} actions; {task.name} for {task.model.name} has "
                f"{task.actions}"
            )
        if robot not in ("unknown", task.model.name):
            raise TaskError(f"{mine}; {task.name} is for {task.model.name}")


def _read_file(path: Path) -> bytes:
    """The bytes of a policy's file. TaskError: it does not exist, is not a regular file, or is too
    large."""
    try:
        return read_regular_file(path, LARGEST, "name an ONNX file of a policy")
    except FileNotFoundError:
        raise TaskError(f"{path}: no such policy file") from None
    except RefusedFileError as error:
        raise TaskError(f"{path} {error}") from None
    except OSError as error:
        raise TaskError(f"{path} cannot be read: {error.strerror}") from None


def _about(path: Path, described: str | None, key: str) -> dict[str, Any]:
    """The description in a file's metadata; empty without one. TaskError: it is in another
    format."""
    if not described:
        return {}
    try:
        about = json.loads(described)
    except (ValueError, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise TaskError(
            f"{path}: its description ({key!r} in the metadata) is not JSON: {reason}; export the policy "
            "again with warpdyn.rl.export"
        ) from None
    if not isinstance(about, dict):
        raise TaskError(
            f"{path}: its description ({key!r} in the metadata) is a {type(about).__name__}, not an "
            "object; export the policy again with warpdyn.rl.export"
        )
    for name in ("task", "robot"):
        if name in about and not (isinstance(about[name], str) and about[name].isprintable()):
            raise TaskError(
                f"{path}: the {name} in its description must be a printable name, got {about[name]!r}"
            )
    return about
