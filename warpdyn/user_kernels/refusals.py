"""Errors for operations that a user's kernel cannot do, with the file and line of the user's
code."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from pathlib import Path
from types import CodeType
from typing import Any, NoReturn

import numpy as np

from ..recording.graph import UnknownError

OURS = tuple(str(Path(file).parent) for file in (__file__, np.__file__))
PACKAGE = str(Path(__file__).parents[1])
"""Folders whose stack frames are not the user's."""

RECORDED_MODEL: ContextVar[Any] = ContextVar("recorded_model", default=None)
"""The `Model` of the kernel that is recorded now, or None. For functions that receive only
arrays."""


class RecordingError(TypeError):
    """A user's kernel does something that cannot be recorded; the message names the line."""


def place() -> str:
    """File and line of the innermost frame in the user's code, as a prefix for errors."""
    frame = sys._getframe(1)
    while not _is_the_users(frame.f_code):
        assert frame.f_back is not None, "a text is recorded because somebody called it"
        frame = frame.f_back
    return _place(frame.f_code, frame.f_lineno)


def _is_the_users(code: CodeType) -> bool:
    return not code.co_filename.startswith((PACKAGE, *OURS, "<frozen", "<__array_function__"))


def _place(code: CodeType, line: int) -> str:
    file = code.co_filename
    return f"{Path(file).name if not file.startswith('<') else file}:{line}: "


UNKNOWN = (
    "a Python `if`, `while`, `and`, `or`, `not`, `max` or `min` looked at a value, which is known only "
    "when the kernel runs; use np.where(condition, a, b), np.maximum, np.minimum, join "
    "conditions by & | ~, or repeat a step with wd.kernels.repeat(..., until=...); arrays of single "
    "values that NumPy's functions are to take are made by np.stack([x, 1.0])"
)

OF_OBJECTS = "which has no callable", "not supported for the input types"
"""Words of NumPy's errors about arrays of Python objects."""

OF_VALUES = "must be Tensor, not Values", ".values.Values'>"
"""Words of Torch's and JAX's errors about values of a kernel."""


def with_place(error: Exception) -> Exception:
    """An error in a user's kernel; if NumPy or warpdyn raised it without a place, the place is
    added."""
    if isinstance(error, RecordingError):
        return error
    if isinstance(error.__cause__, RecordingError):  # NumPy has wrapped it in its own message
        return error.__cause__
    if isinstance(error, UnknownError):
        message = UNKNOWN
    elif isinstance(error, ValueError) and "read-only" in str(error):
        message = f"{error}: np.asarray of values cannot be written; use the values as they are, or x.copy()"
    elif isinstance(error, TypeError) and any(words in str(error) for words in OF_OBJECTS):
        message = (
            f"NumPy says: {error}. np.array or np.concatenate of lists of values makes an array of "
            "Python objects, which NumPy's functions cannot take; make arrays of values by "
            "np.stack([x, 1.0])"
        )
    elif isinstance(error, TypeError) and any(words in str(error) for words in OF_VALUES):
        message = (
            "a kernel's values go into NumPy's functions alone, such as np.sin, and not into those of "
            f"Torch or JAX, which say: {str(error).splitlines()[0]}"
        )
    elif isinstance(error, ArithmeticError) or "math domain error" in str(error):
        if not _trace(error)[-1][0].co_filename.startswith(PACKAGE):
            return error
        message = f"known numbers lead to {type(error).__name__}: {error}"
    else:
        return error
    places = [_place(code, line) for code, line in _trace(error) if _is_the_users(code)]
    return RecordingError((places[-1] if places else "") + message)


def _trace(error: Exception) -> list[tuple[CodeType, int]]:
    """Code and line of each frame of an error's traceback, the outermost first."""
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    return found


def refuse(message: str) -> NoReturn:
    """Raise a RecordingError whose message begins with the user's line."""
    raise RecordingError(place() + message)
