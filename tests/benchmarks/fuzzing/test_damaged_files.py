"""python -m benchmarks.fuzzing files: how it damages files, and which errors it reports."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

import warpdyn as wd
from benchmarks.fuzzing.damaged_files import case, told
from benchmarks.fuzzing.seeds import SEEDS

pytest.importorskip("mujoco")

TEXTS = ["urdf", "floating", "mjcf", "sdf"]


@pytest.mark.parametrize("name", SEEDS)
def test_undamaged_files_are_valid(name: str, tmp_path: Path) -> None:
    """An error in them would hide all others."""
    if name.startswith("usd"):
        pytest.importorskip("pxr", reason="usd-core is not installed (pip install usd-core)")
    for file, data in SEEDS[name].items():
        (tmp_path / file).write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        assert wd.load(tmp_path / next(iter(SEEDS[name]))).nv >= 2


def test_a_seed_and_number_determine_the_damage() -> None:
    """So a finding can be reproduced from its seed and number."""
    damaged = [case(7, k, ["mjcf"])[1] for k in range(20)]
    assert damaged == [case(7, k, ["mjcf"])[1] for k in range(20)]
    assert SEEDS["mjcf"] not in damaged
    assert len({tuple(files.values()) for files in damaged}) > 15


def test_damaged_files_give_models_or_refusals(tmp_path: Path) -> None:
    """The test covers a few files, the command a hundred thousand."""
    for k in range(60):
        name, files = case(3, k, TEXTS)
        assert told(files, tmp_path, Random(k)) is None, (name, k)


def test_other_exceptions_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has the exception and its place. A refusal is one line, whatever it contains."""
    raised: list[Exception] = []

    def fails(*_: Any, **__: Any) -> wd.Model:
        raise raised[-1]

    monkeypatch.setattr(wd, "load", fails)
    raised.append(KeyError("x"))
    found = told(SEEDS["urdf"], tmp_path, Random(0))
    assert found is not None and found.kind.startswith("KeyError at test_damaged_files.py")
    raised.append(wd.ModelError("a\nb"))
    assert told(SEEDS["urdf"], tmp_path, Random(0)) is None
    assert str(raised[-1]) == r"a\x0ab"
