"""Versions whose private structures the C functions read, and that were tested.

`c_functions` and `torch_native` also probe each structure that they read. Both must agree.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import warp as wp

Version = tuple[int, int]

TESTED: dict[str, tuple[Version, Version]] = {
    "cpython": ((3, 11), (3, 13)),  # 3.10 does not export PyObject_CallOneArg
    "numpy": ((2, 2), (2, 5)),
    "warp": ((1, 19), (1, 19)),
    "torch": ((2, 11), (2, 14)),
}
"""First and last minor version of each. Torch's is checked where tensors are first read."""


def version_of(text: Any) -> Version:
    """Major and minor version; (0, 0) if they cannot be read."""
    try:
        major, minor = str(text).split(".")[:2]
        return int(major), int(minor)
    except ValueError:
        return 0, 0


def is_tested(name: str, version: Version) -> bool:
    """True if the version of a package is one of those tested."""
    first, last = TESTED[name]
    return first <= version <= last


def are_tested() -> bool:
    """True if the versions of CPython, NumPy and Warp were tested."""
    return (
        sys.implementation.name == "cpython"
        and is_tested("cpython", (sys.version_info.major, sys.version_info.minor))
        and is_tested("numpy", version_of(np.__version__))
        and is_tested("warp", version_of(wp.config.version))
    )
