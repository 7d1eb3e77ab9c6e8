"""MJCF: attributes with any count of numbers, in which those after the first are coefficients of
higher powers."""

from __future__ import annotations

from typing import TypeVar

from .mjcf_values import Attributes, Element, MjcfValues

Numbers = TypeVar("Numbers", bound=tuple[float, ...])


def all_numbers(values: MjcfValues, element: Element, key: str, written: Attributes) -> list[float]:
    """The finite numbers of an optional attribute, of any count."""
    count = len(written.get(key, "").split())
    return values.numbers(element, key, written, count) if count else []


def first_numbers(
    values: MjcfValues, element: Element, key: str, written: Attributes, start: Numbers
) -> Numbers:
    """The first numbers of an attribute, as many as `start` has; missing ones are those of `start`."""
    words = written.get(key, "").split()[: len(start)]
    read = values.numbers(element, key, {key: " ".join(words)}, len(words)) if words else []
    return (*read, *start[len(read) :])  # type: ignore[return-value]


def linear_coefficient(
    values: MjcfValues, element: Element, key: str, written: Attributes, what: str
) -> float:
    """The first number of an attribute, or 0 without it. Further ones are remarked as numbers of
    `what`."""
    first, *powers = all_numbers(values, element, key, written) or [0.0]
    if any(powers):
        values.ignore(f"numbers of {what} for higher powers", element)
    return first
