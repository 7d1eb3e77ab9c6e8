"""Numbers with a name in the modules of viewer: tolerances, bounds, sizes and times that were chosen."""

from __future__ import annotations

from module_numbers import module_numbers

NUMBERS = {
    "browser": {
        "PATIENCE": 240.0,
    },
    "contact_forces": {
        "TOUCHING": 0.0005,
    },
    "controls": {
        "DIGITS": 6,
        "LARGE": 0.35,
        "SMALL": 0.12,
        "MANY": 8,
    },
    "overlays": {
        "PLACES": 12,
    },
    "pages": {
        "SETTLING": 1.0,
    },
    "player": {
        "PICTURES": 60.0,
        "SLOWEST": 0.05,
        "FASTEST": 4.0,
    },
    "robot_view": {
        "INSET": 0.0015,
        "SHADOWS": 256,
    },
    "shapes": {
        "ENDLESS": 4.0,
        "THICK": 0.005,
    },
    "stage": {
        "PORT": 8080,
        "FADES": 8.0,
        "FILLED": 0.85,
    },
    "trajectory": {
        "RATE": 50.0,
    },
    "trajectory_files": {
        "LARGEST": 2147483648,
        "ROWS": 65536,
    },
}


def test_numbers_change_only_on_purpose() -> None:
    """Another value needs another measurement or another reason."""
    assert module_numbers("warpdyn/viewer") == NUMBERS
