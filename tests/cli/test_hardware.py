"""The machine's name beside its figures."""

from __future__ import annotations

from pathlib import Path

import pytest

import warpdyn as wd
from warpdyn.cli import hardware


@pytest.mark.parametrize(("threads", "text"), [(1, "1 thread"), (2, "2 threads")])
def test_the_cpu_is_named_with_its_threads(threads, text):
    """Figures of one thread and of two are told apart."""
    wd.runtime.set_num_threads(threads)
    try:
        assert hardware.hardware("cpu") == f"{hardware.processor()}, {text}"
    finally:
        wd.runtime.set_num_threads(None)


def test_a_processor_has_a_name_without_linux(monkeypatch):
    """Where there is no /proc/cpuinfo, Python's name of the machine does."""

    def missing(self):
        raise FileNotFoundError(self)

    monkeypatch.setattr(Path, "read_text", missing)
    assert hardware.processor()
