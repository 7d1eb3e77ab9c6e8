"""Policies that come with warpdyn: an ONNX file for each task that has a policy."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from .task import Task, TaskError
from .tasks import TASKS


def bundled_policy(task: Task | str) -> Path:
    """The file of the policy that comes with a task."""
    kind = getattr(task, "settings_of", type(task))  # a task with settings is of a subclass
    names = [task] if isinstance(task, str) else [n for n, x in TASKS.items() if kind is x]
    known = policies()
    for name in names:
        if name in known:
            return known[name]
    what = task if isinstance(task, str) else task.name
    raise TaskError(
        f"no policy of {what} comes with warpdyn ({', '.join(known) or 'there is none yet'}): train one, "
        "warpdyn train TASK, and name its file, --policy runs/TASK-0/policy.onnx"
    )


def policies() -> dict[str, Path]:
    """Files of all policies that come with warpdyn, by the names of their tasks."""
    folder = Path(str(files(__package__))) / "policies"
    return {path.stem: path for path in sorted(folder.glob("*.onnx"))}
