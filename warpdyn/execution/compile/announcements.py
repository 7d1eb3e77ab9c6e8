"""Messages on stderr about long operations and caches that cannot be written, and the switch that
turns them off."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ...model.names import printable
from ..config import config

WORTH_A_LINE = 1.0
"""An operation is announced if it takes at least this long [s]."""

REFRESH = 0.2
"""Time between two updates of a progress bar [s]."""


def say(text: str) -> None:
    """Print one line on stderr, unless messages are switched off."""
    if config.compile_messages:
        # A single write, because other threads may print too.
        line = printable(text, kept="\n")  # it may have names from files
        print(f"warpdyn: {line}\n", file=sys.stderr, flush=True, end="")


@contextmanager
def silent() -> Iterator[None]:
    """A block without messages, for callers that show progress in another way."""
    before, config.compile_messages = config.compile_messages, False
    try:
        yield
    finally:
        config.compile_messages = before


@contextmanager
def announcement(text: str, seconds: float | None) -> Iterator[None]:
    """Announce an operation that will take `seconds`, if that is long. None: unknown; the operation
    is announced."""
    if seconds is not None and seconds < WORTH_A_LINE:
        yield
    elif seconds is not None and config.compile_messages and sys.stderr.isatty():
        with _bar(text, seconds):
            yield
    else:
        say(text if seconds is None else f"{text}, about {seconds:.0f} s")
        yield


@contextmanager
def announced_late(text: str) -> Iterator[None]:
    """Announce an operation of unknown duration once it has taken long."""
    line = threading.Timer(WORTH_A_LINE, say, (text,))
    line.daemon = True
    line.start()
    try:
        yield
    finally:
        line.cancel()


@contextmanager
def _bar(text: str, seconds: float) -> Iterator[None]:
    """A progress bar on the terminal that moves with the clock and is full when the work is
    done."""
    from tqdm import tqdm

    layout = "{desc} {bar} {n:.0f} of about {total:.0f} s"
    start, done = time.monotonic(), threading.Event()
    with tqdm(desc=f"warpdyn: {text}", total=seconds, bar_format=layout, leave=True) as bar:

        def move() -> None:
            while not done.wait(REFRESH):
                bar.n = min(time.monotonic() - start, seconds)
                bar.refresh()

        clock = threading.Thread(target=move, name="warpdyn bar", daemon=True)
        clock.start()
        try:
            yield
        finally:
            done.set()
            clock.join()
        bar.n = seconds
        bar.refresh()
