"""What is observed: terms by name, put together in groups, with noise and what was seen before."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ..user_kernels.random_numbers import Key
from .task import Task, TaskError

ONE, POLICY = "observation", "policy"
"""The term of a text that returns one array, and the group of tasks that name none."""

Terms = Mapping[str, Any]


class Observation:
    """Groups of a task's observations.

    shapes: of each group, the history included. entries: by group, the terms with their sizes, in
    order. carried: shapes of what was seen before, by the name that it is carried under.
    """

    def __init__(self, task: Task, terms: Mapping[str, tuple[int, ...]]):
        self.task = task
        groups = task.groups or {POLICY: tuple(terms)}
        self.entries = {
            g: {n: _size(task, g, n, terms) for n in each} for g, each in groups.items()
        }
        self.policy = next(iter(groups))
        if unknown := set(task.noise) - set(terms):
            raise TaskError(
                f"{task.name}.noise is of {', '.join(sorted(unknown))}, which observe does not give; "
                f"it gives {', '.join(terms)}"
            )
        if unknown := set(task.history) - set(groups):
            raise TaskError(
                f"{task.name}.history is of {', '.join(sorted(unknown))}; there are the groups "
                f"{', '.join(groups)}"
            )
        widths = {g: sum(each.values()) for g, each in self.entries.items()}
        self.shapes = {g: (task.history.get(g, 1) * width,) for g, width in widths.items()}
        self.carried = {
            f"seen_{g}": (count - 1, widths[g]) for g, count in task.history.items() if count > 1
        }

    def seen(self, terms: Terms, key: Key) -> dict[str, Any]:
        """What is seen now, by group, without what was before."""
        noise = self.task.noise.items()
        drawn = {
            n: each.added(key.at(key.stream + k), terms[n]) for k, (n, each) in enumerate(noise)
        }
        noisy = {**terms, **drawn}
        return {
            group: np.concatenate(
                [
                    np.reshape(_array((noisy if group == self.policy else terms)[name]), (size,))
                    for name, size in each.items()
                ]
            )
            for group, each in self.entries.items()
        }

    def with_history(self, now: Terms, before: Mapping[str, Any], anew: Any) -> dict[str, Any]:
        """Groups with what was seen before, and what the next step carries of it; where an episode
        begins `anew` all of it is what is seen now."""
        whole: dict[str, Any] = {}
        for group, x in now.items():
            name = f"seen_{group}"
            if name not in self.carried:
                whole[group] = x
                continue
            past = [np.where(anew, x, before[name][k]) for k in range(self.carried[name][0])]
            whole[group] = np.concatenate([*past, x])
            whole[name] = np.stack([*past[1:], x])
        return whole


def terms_of(found: Any) -> dict[str, Any]:
    """Terms by name of what a text returned."""
    return dict(found) if isinstance(found, Mapping) else {ONE: found}


def _array(x: Any) -> Any:
    return x if hasattr(x, "shape") else np.asarray(x, dtype=float)


def _size(task: Task, group: str, term: str, terms: Mapping[str, tuple[int, ...]]) -> int:
    if term not in terms:
        raise TaskError(
            f"{task.name}.groups: {group} has {term}, which observe does not give; "
            f"it gives {', '.join(terms)}"
        )
    return prod(terms[term])
