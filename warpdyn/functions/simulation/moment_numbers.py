"""Coefficients of friction moments, and the number of moments of each contact."""

from __future__ import annotations

from typing import Any

from .varied_numbers import Shaped, for_each, is_number


def moment_counts(torsional: Any, rolling: Any, count: int) -> tuple[int, ...]:
    """The number of friction moments of each of `count` contacts: 0, 1 about the normal or 3 about
    all axes; empty if no contact has any.

    torsional, rolling: coefficients as a user gives them. None and the number 0, alone or in a
    tuple, mean no friction. An array is read at each launch, so all contacts have these moments.
    """
    if torsional is None and rolling is None:
        return ()
    spins, rolls = (_present(numbers, count) for numbers in (torsional, rolling))
    counts = tuple(3 if roll else int(spin) for spin, roll in zip(spins, rolls, strict=True))
    return counts if any(counts) else ()


def _present(numbers: Any, count: int) -> list[bool]:
    """True for each contact that has this friction."""
    if numbers is None or is_number(numbers):
        return [bool(numbers)] * count
    if isinstance(numbers, (tuple, list)) and all(is_number(x) for x in numbers):
        if len(numbers) != count:
            raise ValueError(
                f"a torsional or rolling friction has {len(numbers)} numbers, and there are {count} "
                "contacts; give one number for all, or one for each"
            )
        return [bool(x) for x in numbers]
    return [True] * count


def moment_arrays(prefix: str, torsional: Any, rolling: Any, count: int) -> Shaped:
    """The coefficients of `count` contacts with their shapes, by name; empty without moments."""
    if torsional is None and rolling is None:
        return {}
    counts = moment_counts(torsional, rolling, count)
    numbers = {"torsional_friction": torsional, "rolling_friction": rolling}
    for name, value in numbers.items():
        # Raises for negative and infinite ones.
        for_each(name, 0.0 if value is None else value, count, finite=True)
    if 3 not in counts:
        del numbers["rolling_friction"]
    if not counts:
        return {}
    return {
        f"{prefix}{name}": (for_each(name, 0.0 if x is None else x, count), (count,))
        for name, x in numbers.items()
    }
