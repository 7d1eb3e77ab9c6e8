"""Lines on stderr about what takes long or cannot be kept, and the switch that turns them off."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ..config import config

WORTH_A_LINE = 1.0
"""Seconds from which on something is announced."""

REFRESH = 0.2
"""Seconds between two looks of a bar."""


def say(text: str) -> None:
    """One line on stderr, unless messages are switched off."""
    if config.compile_messages:
        # In one piece: other threads may have something to say too.
        print(f"warpdyn: {text}\n", file=sys.stderr, flush=True, end="")


@contextmanager
def silent() -> Iterator[None]:
    """A block without messages, for who shows progress in another way."""
    before, config.compile_messages = config.compile_messages, False
    try:
        yield
    finally:
        config.compile_messages = before


@contextmanager
def announced(text: str, seconds: float | None) -> Iterator[None]:
    """Say what is about to take `seconds`, if that is long; None: unknown, and announced."""
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
    """Say what is going on once it has taken long, where nobody can tell beforehand."""
    line = threading.Timer(WORTH_A_LINE, say, (text,))
    line.daemon = True
    line.start()
    try:
        yield
    finally:
        line.cancel()


@contextmanager
def _bar(text: str, seconds: float) -> Iterator[None]:
    """A bar on the terminal that moves with the clock, full when the work is done."""
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
            bar.n = seconds
        finally:
            done.set()
            clock.join()
            bar.refresh()
