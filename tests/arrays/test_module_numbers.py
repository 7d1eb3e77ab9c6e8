"""Numbers with a name in the modules of arrays: tolerances, bounds, sizes and times that were chosen."""

from __future__ import annotations

from module_numbers import module_numbers

NUMBERS = {
    "layout": {
        "ALIGNMENT": 64,
        "ALIGNED_FROM": 8192,
        "UNTOLD": 16777216,
        "BLOCK": 16,
        "LOOP_BLOCK": 512,
    },
    "random_laws_on_host": {
        "LOG_UNIFORM": 1,
        "NORMAL": 2,
        "REACH": 3.0,
    },
    "random_on_host": {
        "ENTRIES": 16384,
    },
    "random_rows": {
        "PLAIN": 0,
        "QUATERNION": 1,
        "WITHIN": 2,
        "COLUMNS": 32,
    },
    "reused_memory": {
        "REUSED_FROM": 131072,
        "USUAL": 256,
        "SHARE": 16,
        "ENOUGH": 1024,
        "LOOKS": 8,
    },
    "row_writes": {
        "MOST": 16,
        "HEADER": 6,
        "FIELDS": 8,
    },
    "torch_arrays": {
        "REUSED_FROM": 8388608,
        "KEPT_AS_LIKENESS": 256,
    },
    "warp_arrays": {
        "DIMENSIONS": 4,
    },
}


def test_numbers_change_only_on_purpose() -> None:
    """Another value needs another measurement or another reason."""
    assert module_numbers("warpdyn/arrays") == NUMBERS
