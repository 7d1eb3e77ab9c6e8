"""Observations that reach a policy late."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from .task import Task, TaskError
from .variation import OBSERVATION_LATENCY


class LateObservations:
    """Terms of the policy's group as they were some time ago, linear between two steps.

    columns: their columns in the group's row. carried: the shape of the earlier rows, by name.
    """

    def __init__(self, task: Task, group: str, entries: Mapping[str, int]):
        late = OBSERVATION_LATENCY in task.vary
        if late and (unknown := set(task.sensed) - set(entries)):
            raise TaskError(
                f"{task.name}.sensed names {', '.join(sorted(unknown))}; the terms of group {group} are "
                f"{', '.join(entries)}"
            )
        sensed = set(task.sensed) or set(entries)
        names = [name for name, size in entries.items() for _ in range(size)]
        self.group, self.seconds = group, task.step_seconds
        self.columns = [k for k, name in enumerate(names) if name in sensed]
        self.carried: dict[str, tuple[int, int]] = {}
        if late:
            largest = task.vary[OBSERVATION_LATENCY].largest
            steps = max(math.ceil(largest / self.seconds - 1e-9), 1)
            self.carried = {f"earlier_{group}": (steps, len(self.columns))}

    def delay(
        self, now: dict[str, Any], before: Mapping[str, Any], anew: Any, s: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The groups with late terms, and the earlier rows that the next step carries. Where an
        episode begins `anew`, the earlier rows are the current one."""
        if not self.carried:
            return now, {}
        ((name, (steps, _)),) = self.carried.items()
        row = now[self.group]
        present = np.stack([row[k] for k in self.columns])
        rows = [present, *(np.where(anew, present, before[name][k]) for k in range(steps))]
        late = s.observation_latency * (1.0 / self.seconds)
        shares = [np.maximum(1.0 - np.abs(late - float(k)), 0.0) for k in range(steps + 1)]
        seen = sum(share * each for share, each in zip(shares, rows, strict=True))
        whole = [row[k] for k in range(row.shape[0])]
        for k, column in enumerate(self.columns):
            whole[column] = seen[k]
        return {**now, self.group: np.stack(whole)}, {name: np.stack(rows[:-1])}
