"""python -m benchmarks.fuzzing files: what it damages, and what it sees."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

import warpdyn as wd
from benchmarks.fuzzing.damaged_files import case, check_files
from benchmarks.fuzzing.seeds import SEEDS

pytest.importorskip("mujoco")

TEXTS = ["urdf", "floating", "mjcf", "sdf"]


@pytest.mark.parametrize("name", SEEDS)
def test_seeds_are_sound(name: str, tmp_path: Path) -> None:
    """Else the first error would hide all others."""
    if name.startswith("usd"):
        pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    for file, data in SEEDS[name].items():
        (tmp_path / file).write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        assert wd.load(tmp_path / next(iter(SEEDS[name]))).nv >= 2


def test_damage_is_the_same_each_time_and_another_for_each_number() -> None:
    """So that a finding can be made again by its seed and number."""
    damaged = [case(7, k, ["mjcf"])[1] for k in range(20)]
    assert damaged == [case(7, k, ["mjcf"])[1] for k in range(20)]
    assert SEEDS["mjcf"] not in damaged
    assert len({tuple(files.values()) for files in damaged}) > 15


def test_damaged_files_are_models_or_refused(tmp_path: Path) -> None:
    """A few here; a hundred thousand by the command."""
    for k in range(60):
        name, files = case(3, k, TEXTS)
        assert check_files(files, tmp_path, Random(k)) is None, (name, k)


def test_what_is_neither_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exception with its place. A refusal is one line, whatever it says."""
    raised: list[Exception] = []

    def fails(*_: Any, **__: Any) -> wd.Model:
        raise raised[-1]

    monkeypatch.setattr(wd, "load", fails)
    raised.append(KeyError("x"))
    found = check_files(SEEDS["urdf"], tmp_path, Random(0))
    assert found is not None and found.kind.startswith("KeyError at test_damaged_files.py")
    raised.append(wd.ModelError("a\nb"))
    assert check_files(SEEDS["urdf"], tmp_path, Random(0)) is None
    assert str(raised[-1]) == r"a\x0ab"
