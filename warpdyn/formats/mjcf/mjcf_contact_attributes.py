"""MJCF: the contact attributes of a geom or a <pair>, which are refused as MuJoCo refuses them."""

from __future__ import annotations

import math
import re

from ..robot_source import has_plain_digits
from .mjcf_values import Attributes, Element, MjcfValues

MOST_NUMBERS = {
    "friction": 3,
    "solref": 2,
    "solreffriction": 2,
    "solimp": 5,
    "solmix": 1,
    "margin": 1,
    "gap": 1,
}
"""Largest number of values of each attribute of a geom. Values that are left out have MuJoCo's defaults."""

FRICTIONS_OF_PAIR = 5
"""The same for the friction of a <pair>."""

MASKS = ("contype", "conaffinity")
"""Attributes whose bits say what a geom touches."""

WHOLE = ("condim", "priority", "group", *MASKS)
"""Attributes that are one whole number each."""

CONDIMS = (1, 3, 4, 6)

LARGEST = 2**31 - 1
"""Largest whole number of a file; MuJoCo stores 32 bits."""


def check_contact_attributes(values: MjcfValues, element: Element, written: Attributes) -> None:
    """Refuse contact attributes that MuJoCo refuses, or that are not finite.

    Raises ModelError for too many numbers, for words and NaN, for fractions where a whole number
    is needed, and for a condim that no contact has.
    """
    for key, most in MOST_NUMBERS.items():
        if key == "friction" and element.tag == "pair":
            most = FRICTIONS_OF_PAIR
        text = written.get(key, "")
        if not _are_finite(text) or len(text.split()) > most:
            raise values.refusal(
                element,
                f'{key} is "{text}"; it must be at most {most} finite numbers',
            )
    for key in WHOLE:
        text = written.get(key, "").strip()
        if text and (not re.fullmatch(r"[+-]?[0-9]+", text) or abs(int(text)) > LARGEST):
            raise values.refusal(
                element, f'{key} is "{text}"; it must be a whole number up to {LARGEST}'
            )
    condim = written.get("condim", "").strip()
    if condim and int(condim) not in CONDIMS:
        raise values.refusal(element, f'condim is "{condim}"; it must be one of 1, 3, 4, 6')


def may_touch(written: Attributes) -> bool:
    """True if a checked geom has a bit of `contype` or `conaffinity`, both 1 unless they are
    written."""
    return any(int(written.get(mask, "").strip() or "1") for mask in MASKS)


def _are_finite(text: str) -> bool:
    """True for finite numbers, or none."""
    try:
        return has_plain_digits(text) and all(math.isfinite(float(word)) for word in text.split())
    except ValueError:
        return False
