"""Standard output and error whose other end may disappear: a closed terminal, a pipe without a
reader, a log daemon that is restarted."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any, TextIO


class TolerantStream:
    """A text stream that drops text that cannot be written, so that no print of a library fails."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, ValueError):  # ValueError: it is closed
            return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def tolerate_lost_output() -> None:
    """Let this process drop prints that cannot be written."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:  # None: closed from the start, where print writes nothing
            setattr(sys, name, TolerantStream(stream))
