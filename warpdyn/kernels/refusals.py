"""What a user's text cannot do, said with the file and the line of that text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import numpy as np

OURS = tuple(str(Path(file).parent) for file in (__file__, np.__file__))
PACKAGE = str(Path(__file__).parents[1])
"""Folders whose frames are not the user's."""


class RecordingError(TypeError):
    """A user's text does what cannot be recorded; the message names the line."""


def place() -> str:
    """File and line of the innermost frame that is the user's, as errors begin."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((PACKAGE, *OURS, "<frozen", "<__array_function__")):
            return f"{Path(file).name if not file.startswith('<') else file}:{frame.f_lineno}: "
        assert frame.f_back is not None, "a text is recorded because somebody called it"
        frame = frame.f_back
    return ""


def refuse(message: str) -> NoReturn:
    """Raise a RecordingError that begins with the user's line."""
    raise RecordingError(place() + message)
