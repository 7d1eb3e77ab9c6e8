"""Comparison of a policy's deployment record with the task and the robot that it will control."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...model.names import printable
from ..task import TaskError
from .portable_program import input_entries, run_portable

SAME = 1e-4
"""Relative tolerance of numbers and observations: the record's programs are in float64, and those
of another version of warpdyn may round differently."""

UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, RecursionError, OverflowError)
"""Errors of a record that was not written by warpdyn, or for a task that no robot can run."""

MOST_ENTRIES = 100_000
"""Largest number of entries of an input that a record may read."""

NUMBERS = ("kp", "kd", "effort")
"""Numbers of the joints that must be those of the training."""


def check_match(path: Any, recorded: Mapping[str, Any], present: Mapping[str, Any]) -> None:
    """Raise TaskError with all differences if a policy's record does not match the record of the
    present task: joints, gains, rate, action, command, observation terms, and what they compute."""
    if not (_is_whole(recorded) and _is_whole(present)):
        return
    try:
        different = list(_differences(recorded, present)) or list(_other_results(recorded, present))
    except UNREADABLE as error:
        reason = printable(f"{type(error).__name__}: {error}")
        raise TaskError(
            f"{path}: its deployment record cannot be read ({reason}); write it again with "
            "warpdyn.rl.describe"
        ) from None
    if different:
        raise TaskError(
            f"{path} was made for another robot or task than {present['task']} for {present['robot']}: "
            f"{printable('; '.join(different))}"
        )


def other_programs(recorded: Mapping[str, Any], present: Mapping[str, Any]) -> list[str]:
    """Observations and commands that were computed differently in training than in the current
    task. Empty for records without programs and for records that cannot be read."""
    if not (_is_whole(recorded) and _is_whole(present)):
        return []
    try:
        old, new = (_observation_in_words(each) for each in (recorded, present))
        different = [f"it observes {old}, not {new}"] if old != new else []
        return [*map(printable, different or _other_results(recorded, present))]
    except UNREADABLE:
        return []


def _is_whole(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("programs"), Mapping)


def _differences(recorded: Mapping[str, Any], present: Mapping[str, Any]) -> Iterator[str]:
    """Differences in words, each with a name."""
    yield from _other_joints(recorded["joints"], present["joints"])
    for part in ("q", "v"):
        if recorded[part] != present[part]:
            yield f"its {part} is {recorded[part]}, not {present[part]}"
    for what, of in (("period", ""), ("largest", "action"), ("history", "observation")):
        old, new = ((x[of] if of else x)[what] for x in (recorded, present))
        if not _equal(old, new):
            yield f"its {of or 'step'} has {what} {old}, not {new}"
    tables = [record.get("tables", {}) for record in (recorded, present)]
    if other := sorted(n for n in {*tables[0], *tables[1]} if not _is_table(n, *tables)):
        yield f"its table {other[0]} has other numbers"
    for words, verb in ((_observation_in_words, "observes"), (_command_in_words, "follows")):
        if words(recorded) != words(present):
            yield f"it {verb} {words(recorded)}, not {words(present)}"


def _other_joints(theirs: Mapping[str, Any], mine: Mapping[str, Any]) -> Iterator[str]:
    """Differences of the joints; only of their names if these differ."""
    if len(theirs["names"]) != len(mine["names"]):
        yield f"it moves {len(theirs['names'])} joints instead of {len(mine['names'])}"
        return
    pairs = enumerate(zip(theirs["names"], mine["names"], strict=True))
    if names := [f"its joint {k} is {x!r}, not {y!r}" for k, (x, y) in pairs if x != y]:
        yield names[0]
        return
    for k, name in enumerate(theirs["names"]):
        if theirs["kinds"][k] != mine["kinds"][k]:
            yield f"its joint {name!r} is {theirs['kinds'][k]}, not {mine['kinds'][k]}"
        for number in NUMBERS:
            old, new = theirs[number][k], mine[number][k]
            if not _equal(old, new):
                yield f"its {number} of {name!r} is {old}, not {new}"


def _is_table(name: str, *tables: Mapping[str, Any]) -> bool:
    """True if both tables have the same numbers under this name."""
    x, y = (np.asarray(each.get(name, []), float) for each in tables)
    return x.shape == y.shape and bool(np.allclose(x, y, rtol=SAME, atol=SAME))


def _observation_in_words(record: Mapping[str, Any]) -> str:
    return ", ".join(f"{t['name']} ({t['size']})" for t in record["observation"]["terms"])


def _command_in_words(record: Mapping[str, Any]) -> str:
    command = record["command"]
    return f"the command {command['name']} ({command['size']})" if command else "no command"


def _equal(x: float | None, y: float | None) -> bool:
    if x is None or y is None:
        return x is y
    return bool(np.isclose(x, y, rtol=SAME, atol=1e-9))


def _other_results(recorded: Mapping[str, Any], present: Mapping[str, Any]) -> Iterator[str]:
    """Observation terms, targets and forces for which the programs differ at one of two states."""
    for part, functions in (("observe", "observe() or update()"), ("act", "control()")):
        mine, theirs = present["programs"][part], recorded["programs"][part]
        draw, names = np.random.default_rng(0), set[str]()
        sizes = _sizes(mine, theirs)
        for first in (0.0, 1.0):
            inputs = {n: draw.uniform(-1.0, 1.0, sizes[n]) for n in sorted(sizes)} | {
                "first": first
            }
            pairs = ((theirs, recorded), (mine, present))
            found = [run_portable(x, inputs, record.get("tables")) for x, record in pairs]
            for name in dict.fromkeys((*found[0], *found[1])):
                x, y = (each.get(name, np.zeros(0)) for each in found)
                same = len(x) == len(y) and np.isclose(x, y, rtol=SAME, atol=SAME, equal_nan=True)
                if np.all(same):
                    continue
                names |= _terms(recorded, np.asarray(same)) if name == "observation" else {name}
        if names:
            yield f"its {functions} computed another {', '.join(sorted(names))} in training"


def _terms(record: Mapping[str, Any], same: np.ndarray) -> set[str]:
    """Names of the observation terms with differences."""
    seen = record["observation"]
    terms = [term["name"] for term in seen["terms"] for _ in range(term["size"])]
    if same.shape != (len(terms) * seen["history"],):
        return set(terms)
    return set(np.array(terms * seen["history"])[~same].tolist())


def _sizes(*programs: Mapping[str, Any]) -> dict[str, int]:
    """Number of entries of each input that one of the programs reads."""
    sizes: dict[str, int] = {}
    for program in programs:
        for entry in input_entries(program):
            name, _, index = entry.rstrip("]").partition("[")
            sizes[name] = max(sizes.get(name, 0), int(index) + 1)
            if sizes[name] > MOST_ENTRIES:
                raise ValueError(f"it reads {entry}, and entries up to {MOST_ENTRIES:,} are read")
    return sizes
