"""MJCF: attributes with any count of numbers, of which those after the first are coefficients of powers."""

from __future__ import annotations

from .mjcf_values import Attributes, Element, MjcfValues


def all_numbers(values: MjcfValues, element: Element, key: str, written: Attributes) -> list[float]:
    """The finite numbers of an optional attribute, of any count."""
    count = len(written.get(key, "").split())
    return values.numbers(element, key, written, count) if count else []


def linear_coefficient(
    values: MjcfValues, element: Element, key: str, written: Attributes, what: str
) -> float:
    """The first number of an attribute, or 0 without it. Further ones are remarked as numbers of
    `what`."""
    first, *powers = all_numbers(values, element, key, written) or [0.0]
    if any(powers):
        values.ignore(f"numbers of {what} that are of powers", element)
    return first
