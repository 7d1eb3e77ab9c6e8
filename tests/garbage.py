"""Garbage collection in test processes."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS_BEFORE_A_COLLECTION = 10_000
"""Python's own 700 cost 5 % of the time of tests that record programs."""


@contextmanager
def ignored_objects() -> Iterator[None]:
    """A block whose objects the collector never visits, nor any object before it.

    A visit of all collected tests and imported libraries takes 0.9 s, one of the syntax trees of
    all files 0.5 s. Recording visits the collector's objects often, and some tests call it.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()
