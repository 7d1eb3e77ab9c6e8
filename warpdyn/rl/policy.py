"""A trained policy from a file: what it is of, and what it does. It needs onnxruntime alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from .task import Task, TaskError

ABOUT = "warpdyn"
"""Name of the description in the file's metadata."""

OBSERVATION, ACTION = "observation", "action"
"""Names of what goes in and what comes out."""


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
