"""Files of the packages as modules: their names, syntax trees and rooms."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

FILES = sorted([*ROOT.glob("warpdyn/**/*.py"), *ROOT.glob("ros2_node/**/*.py")])

BENCHMARKS = sorted(ROOT.glob("benchmarks/**/*.py"))

NAMESPACES = ("convert", "description", "kernels", "loops", "random", "results", "runtime")
"""Modules of the face that only import public names from the rooms below."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def room(module: str) -> str:
    """The room that a module is in, as FLOORS names it; inner rooms count as their room."""
    path = ROOT.joinpath(*module.split("."))
    folder = module if path.is_dir() else module.rpartition(".")[0]
    return ".".join(folder.split(".")[:2])


each_file = pytest.mark.parametrize("path", FILES, ids=module_name)
