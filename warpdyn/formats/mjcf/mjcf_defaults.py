"""MJCF: an element's attributes combined with those of its default class."""

from __future__ import annotations

from collections.abc import Mapping

TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
"""The ways to write an orientation; an element may use one."""

LISTS = (
    "size",
    "friction",
    "solref",
    "solimp",
    "solreffriction",
    "solimpfriction",
    "surfacevel",
    "solreflimit",
    "solimplimit",
    "stiffness",
    "damping",
    "gear",
    "fluidcoef",
)
"""Attributes that may have fewer numbers than their class, whose other numbers then remain."""


def with_class_defaults(written: Mapping[str, str], defaults: Mapping[str, str]) -> dict[str, str]:
    """Attributes combined with those of a class, without the class's orientation if the element has
    one. Numbers that a list of the element lacks are those of the class."""
    if any(key in written for key in TURNS):
        defaults = {key: value for key, value in defaults.items() if key not in TURNS}
    combined = {**defaults, **written}
    for key in (each for each in LISTS if each in written and each in defaults):
        own, numbers = written[key].split(), defaults[key].split()
        if len(own) < len(numbers):
            combined[key] = " ".join((*own, *numbers[len(own) :]))
    return combined
