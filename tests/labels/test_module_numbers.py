"""Numbers with a name in the modules of labels: tolerances, bounds, sizes and times that were chosen."""

from __future__ import annotations

from module_numbers import module_numbers

NUMBERS = {
    "dry_run": {
        "MOST_OPENED": 1000,
    },
    "labelled_file": {
        "ROWS": 131072,
        "PART": 134217728,
    },
    "labelling": {
        "MOST_COUNTED": 1000,
    },
    "on_ray": {
        "TRIES": 5,
        "AHEAD": 4,
        "WAIT": 10.0,
        "STORE": 104857600,
    },
    "savitzky_golay": {
        "BLOCK": 4096,
        "EVEN": 0.01,
    },
}


def test_numbers_change_only_on_purpose() -> None:
    """Another value needs another measurement or another reason."""
    assert module_numbers("warpdyn/labels") == NUMBERS
