"""Warnings about a suspicious description: one warning, at the line where the user loaded it."""

from __future__ import annotations

import sys
import warnings

from .model import Model
from .names import ModelWarning, printable

PACKAGE = __name__.partition(".")[0]


WARNED_LINES = 12
"""Remarks shown in the one warning of a load; `Model.warnings` has them all."""


def warn(name: str, model: Model) -> Model:
    """The model, after one warning at the user's call that lists all remarks."""
    if model.warnings:
        shown = list(model.warnings[:WARNED_LINES])
        if len(model.warnings) > WARNED_LINES:
            shown.append(f"... and {len(model.warnings) - WARNED_LINES} more, see model.warnings")
        level, frame = 1, sys._getframe().f_back
        while (
            frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE
        ):
            level, frame = level + 1, frame.f_back
        lines = (f"{name} is used as written, but:", *shown)
        text = "\n  ".join(map(printable, lines))
        warnings.warn(text, ModelWarning, stacklevel=level + 1)
    return model
