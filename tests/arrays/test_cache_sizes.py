"""Sizes of caches, read from files as Linux has them."""

from __future__ import annotations

from pathlib import Path

from warpdyn.arrays.cache_sizes import Cache, data_caches, last_level_cache


def written(folder: Path, *caches: tuple[str, str, str]) -> Path:
    for k, words in enumerate(caches):
        place = folder / f"index{k}"
        place.mkdir()
        for name, word in zip(("level", "type", "size"), words, strict=True):
            (place / name).write_text(f"{word}\n")
    return folder


def test_caches_that_hold_data_come_by_their_level(tmp_path: Path) -> None:
    of_instructions = ("1", "Instruction", "32K")
    folder = written(
        tmp_path,
        ("3", "Unified", "36M"),
        of_instructions,
        ("1", "Data", "48K"),
        ("2", "Unified", "1024K"),
    )
    assert data_caches(folder) == (Cache(1, 48 << 10), Cache(2, 1 << 20), Cache(3, 36 << 20))


def test_what_cannot_be_read_is_left_out(tmp_path: Path) -> None:
    folder = written(tmp_path, ("1", "Data", "32K"), ("2", "Unified", "much"), ("3", "Unified", ""))
    (tmp_path / "index7").mkdir()
    assert data_caches(folder) == (Cache(1, 32 << 10),)
    assert data_caches(tmp_path / "nowhere") == ()


def test_the_last_level_is_the_largest_here() -> None:
    """Or the system says nothing."""
    found = data_caches()
    assert last_level_cache() == (max(x.size for x in found) if found else None)
