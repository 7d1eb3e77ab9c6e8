"""The rule of the memory layout: rows are padded so that they do not share cache sets, in all
memory that warpdyn allocates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from array_kinds import make_array, usable
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.arrays import layout
from warpdyn.arrays.layout import (
    ALIGNMENT,
    BLOCK,
    LINES_OF_PAGE,
    LOOP_BLOCK,
    ROWS_FROM,
    STREAM_FROM,
    UNTOLD,
    Cache,
    data_caches,
    last_level_cache,
    padded_count,
)
from warpdyn.arrays.libraries import library_of


def test_padding_avoids_shared_cache_sets() -> None:
    """A row has an odd number of cache lines. Long rows are no multiple of eight pages, so that all
    sets of the caches and of the page table are used. Rows are never shorter than requested, and
    only a little longer."""
    for single in (True, False):
        size, per_line = (4, 16) if single else (8, 8)
        for count in (
            1,
            15,
            16,
            17,
            255,
            256,
            1000,
            1024,
            4096,
            16384,
            32768,
            65408,
            65536,
            100_000,
            1 << 20,
        ):
            lead = padded_count(count, single)
            assert count <= lead < 1.1 * count + 2 * per_line and (lead * size) % 128 == 64
            assert lead * size < 32 * 4096 or lead * size // 4096 % 8


@pytest.mark.parametrize("name", ["numpy", "torch", "warp"])
def test_all_memory_uses_the_padding_rule(
    name: str, monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    """If the rule is changed in its one place, results, draws and varying parameters use the
    changed one."""
    usable(name, device=device)
    monkeypatch.setattr(layout, "padded_count", lambda count, single: 3 * count)
    model = by_name("cartpole").model
    library = library_of(make_array(name, np.zeros(2), device=device))
    q = make_array(name, states(model, 10).q, layout="environments_last", device=device)
    masses = {model.link_names[-1]: make_array(name, np.linspace(1.0, 2.0, 10), device=device)}
    drawn = wd.randomise(model, 10, mass=wd.random.scale(0.5, 2.0), like=q)["mass"]
    stacked = model.params(mass=masses)["mass"]
    for array, rows in ((wd.crba(model, q), 4), (drawn, drawn.shape[1]), (stacked, 1)):
        v = library.view("array", array)
        assert v.strides[0] == 1 and (rows == 1 or v.strides[-1] == 30)
    assert library.view("array", stacked).strides[1] == 30


def test_thresholds_depend_on_cache_sizes() -> None:
    """Blocks are complete cache lines of the smaller type. Stores bypass the cache from about the
    size of its last level."""
    assert BLOCK * 4 == ALIGNMENT and LOOP_BLOCK % BLOCK == 0
    assert LINES_OF_PAGE * ALIGNMENT == 4096
    size = last_level_cache() or UNTOLD
    assert size // 16 <= STREAM_FROM < ROWS_FROM <= size


def write_caches(folder: Path, *caches: tuple[str, str, str]) -> Path:
    for k, words in enumerate(caches):
        place = folder / f"index{k}"
        place.mkdir()
        for name, word in zip(("level", "type", "size"), words, strict=True):
            (place / name).write_text(f"{word}\n")
    return folder


def test_data_caches_are_sorted_by_level(tmp_path: Path) -> None:
    of_instructions = ("1", "Instruction", "32K")
    folder = write_caches(
        tmp_path,
        ("3", "Unified", "36M"),
        of_instructions,
        ("1", "Data", "48K"),
        ("2", "Unified", "1024K"),
    )
    assert data_caches(folder) == (Cache(1, 48 << 10), Cache(2, 1 << 20), Cache(3, 36 << 20))


def test_unreadable_caches_are_left_out(tmp_path: Path) -> None:
    folder = write_caches(
        tmp_path, ("1", "Data", "32K"), ("2", "Unified", "much"), ("3", "Unified", "")
    )
    (tmp_path / "index7").mkdir()
    assert data_caches(folder) == (Cache(1, 32 << 10),)
    assert data_caches(tmp_path / "nowhere") == ()


def test_the_last_level_cache_is_the_largest() -> None:
    """The system may also report no caches."""
    found = data_caches()
    assert last_level_cache() == (max(x.size for x in found) if found else None)
