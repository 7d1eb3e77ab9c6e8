"""The benchmark of long chains: its chains, and one small measurement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from fresh_caches import lend_header

import warpdyn as wd
from benchmarks import long_chains


def test_chains_have_their_axes() -> None:
    """They have two directions, three, or any, all with unit length."""
    for name, number in (("snake", 2), ("spiral", 3), ("random", 9)):
        axes = long_chains.CHAINS[name](9)
        assert len(np.unique(axes, axis=0)) == number
        assert np.linalg.norm(axes, axis=1) == pytest.approx(np.ones(9))
        model = wd.load(long_chains.chain(name, axes))
        assert model.nv == 9 and model.link_names == tuple(f"l{k}" for k in range(10))


def test_a_measurement_agrees_with_pinocchio(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Accelerations are Pinocchio's, and the ratio is that of the times."""

    @contextmanager
    def cache_with_header() -> Iterator[str]:
        lend_header(tmp_path / "cache")
        yield str(tmp_path / "cache")

    monkeypatch.setattr(long_chains.tempfile, "TemporaryDirectory", cache_with_header)
    monkeypatch.setattr(long_chains, "CHAINS", {"snake": long_chains.snake})
    monkeypatch.setattr(long_chains, "SECONDS", 0.001)
    monkeypatch.setattr(long_chains, "BATCH", 16)
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path / "before"))
    threads = wd.runtime.get_num_threads()
    try:
        assert long_chains.main(["2", "--json", str(tmp_path / "out.json")]) == 0
    finally:
        wd.runtime.set_num_threads(threads)
    written = json.loads((tmp_path / "out.json").read_text())
    assert "pin" in written["about"]["versions"]
    (record,) = written["chains"]
    assert record["chain"] == "snake" and record["joints"] == 2
    assert record["difference"] < 1e-5
    assert record["times_pinocchio"] == pytest.approx(
        record["pinocchio_ns"] / record["ns"], rel=0.02
    )
    assert record["first_crba_s"] > 0.0 and record["first_aba_s"] > 0.0
    assert "snake" in capsys.readouterr().out
