"""The name of the machine that measurements report."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

import warpdyn as wd
from warpdyn.cli import hardware


@pytest.mark.parametrize(("threads", "text"), [(1, "1 thread"), (2, "2 threads")])
def test_the_cpu_is_named_with_its_threads(threads, text):
    """Measurements with one thread and with two are distinguished."""
    wd.runtime.set_num_threads(threads)
    try:
        assert hardware.hardware("cpu") == f"{hardware.processor()}, {text}"
    finally:
        wd.runtime.set_num_threads(None)


def test_a_processor_has_a_name_without_linux(monkeypatch):
    """Python's name of the machine is used if there is no /proc/cpuinfo."""

    def missing(self):
        raise FileNotFoundError(self)

    monkeypatch.setattr(Path, "read_text", missing)
    assert hardware.processor()


def test_a_gpu_is_named_without_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = {"cuda:0": SimpleNamespace(name="NVIDIA H100")}
    monkeypatch.setattr(hardware.wp, "get_device", gpu.__getitem__)
    assert hardware.hardware("cuda:0") == "NVIDIA H100"


def test_the_first_processor_name_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "processor\t: 0\nmodel name\t: Fast 3: x\nmodel name\t: Slow 1\n"
    monkeypatch.setattr(Path, "read_text", lambda self: text)
    assert hardware.processor() == "Fast 3: x"
    monkeypatch.setattr(Path, "read_text", lambda self: "processor\t: 0\n")
    monkeypatch.setattr(hardware.platform, "processor", lambda: "")
    monkeypatch.setattr(hardware.platform, "machine", lambda: "riscv64")
    assert hardware.processor() == "riscv64"
