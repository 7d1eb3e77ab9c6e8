"""Observations: named terms, combined into groups, with noise and earlier observations."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ..arrays import views
from ..user_kernels.random_numbers import Key
from .task import Task, TaskError

ONE, POLICY = "observation", "policy"
"""The term of a function that returns one array, and the group of tasks that name no groups."""

Terms = Mapping[str, Any]


class Observation:
    """Groups of a task's observations.

    terms: shapes of the terms, by name. shapes: of each group, including the history. entries: by
    group, the terms with their sizes, in order. carried: shapes of the earlier observations, by the
    name under which they are carried.
    """

    def __init__(self, task: Task, terms: Mapping[str, tuple[int, ...]]):
        self.task, self.terms = task, terms
        groups = task.groups or {POLICY: tuple(terms)}
        _check_groups(task, groups, terms)
        self.entries = {
            g: {n: _size(task, g, n, terms) for n in each} for g, each in groups.items()
        }
        self.policy = next(iter(groups))
        if unknown := set(task.noise) - set(terms):
            raise TaskError(
                f"{task.name}.noise names {', '.join(sorted(unknown))}, which observe does not return; "
                f"it returns {', '.join(terms)}"
            )
        if empty := [g for g, each in groups.items() if not each]:
            raise TaskError(f"{task.name}.groups: {', '.join(empty)} has no terms")
        observed = self.entries[self.policy]
        if exact := [n for n in task.noise if n not in observed]:
            raise TaskError(
                f"{task.name}.noise names {', '.join(exact)}, which the policy does not observe; its "
                f"group {self.policy} has {', '.join(observed)}"
            )
        for name, each in task.noise.items():
            if np.shape(each.size) not in ((), terms[name]):
                raise TaskError(
                    f"{task.name}.noise.{name}: size must be a number or {terms[name]}, got "
                    f"{np.shape(each.size)}"
                )
        if unknown := set(task.history) - set(groups):
            raise TaskError(
                f"{task.name}.history names {', '.join(sorted(unknown))}; the groups are "
                f"{', '.join(groups)}"
            )
        widths = {g: sum(each.values()) for g, each in self.entries.items()}
        self.shapes = {g: (task.history.get(g, 1) * width,) for g, width in widths.items()}
        self.carried: dict[str, tuple[int, int]] = {
            f"seen_{g}": (count - 1, widths[g]) for g, count in task.history.items() if count > 1
        }

    @property
    def layout(self) -> dict[str, tuple[int, list[tuple[str, int]]]]:
        """For each group the number of observations in its history, and its terms with their sizes,
        in order."""
        return {
            g: (self.task.history.get(g, 1), list(each.items())) for g, each in self.entries.items()
        }

    def present_observations(self, terms: Terms, key: Key) -> dict[str, Any]:
        """Current observations by group, without history."""
        noise = self.task.noise.items()
        drawn = {
            n: each.add_to(key.at(key.stream + k), terms[n]) for k, (n, each) in enumerate(noise)
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
        """Groups with their history, and the part of it that the next step carries. Where an
        episode begins `anew`, the whole history is the current observation."""
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
    """Terms by name, from the result of a task's `observe`; TaskError for other types."""
    if found is None:
        raise TaskError("observe returned nothing; end it with `return`")
    if isinstance(found, (list, tuple)) and any(np.ndim(x) for x in found):
        raise TaskError(
            "observe must return one array, np.concatenate([s.q, s.v]), or terms by name, "
            f'{{"joints": s.q, "speeds": s.v}}; it returned a {type(found).__name__} of arrays'
        )
    if not isinstance(found, Mapping):
        if views.has_none_or_text(found):
            raise TaskError(f"observe must return numbers or arrays; it returned {found!r}")
        return {ONE: found}
    for name, x in found.items():
        if views.has_none_or_text(x):
            raise TaskError(f"observe: the term {name} must be an array of numbers, got {x!r}")
    return dict(found)


def _array(x: Any) -> Any:
    return x if hasattr(x, "shape") else np.asarray(x, dtype=float)


def _check_groups(task: Task, groups: Mapping[str, Any], terms: Mapping[str, Any]) -> None:
    """Raise if a group is one string, which is a sequence of letters, or has a term twice."""
    for group, each in groups.items():
        if isinstance(each, str) or len(set(each)) != len(each):
            raise TaskError(
                f"{task.name}.groups.{group} must be names of terms, each once, such as "
                f"{tuple(terms)}; got {each!r}"
            )


def _size(task: Task, group: str, term: str, terms: Mapping[str, tuple[int, ...]]) -> int:
    if term not in terms:
        raise TaskError(
            f"{task.name}.groups: {group} has {term}, which observe does not return; "
            f"it returns {', '.join(terms)}"
        )
    return prod(terms[term])
