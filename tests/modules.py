"""The packages' files as modules: names, syntax trees and rooms."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from garbage import ignored_objects

ROOT = Path(__file__).resolve().parents[1]

FILES = sorted([*ROOT.glob("warpdyn/**/*.py"), *ROOT.glob("ros2_node/**/*.py")])

BENCHMARKS = sorted(ROOT.glob("benchmarks/**/*.py"))

NAMESPACES = ("convert", "description", "kernels", "loops", "random", "results", "runtime")
"""Modules of the face that only import public names from the rooms below."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def syntax_trees() -> dict[Path, tuple[ast.AST, ...]]:
    """The nodes of each file, first its module."""
    with ignored_objects():
        return {path: tuple(ast.walk(ast.parse(path.read_text()))) for path in FILES}


def syntax_nodes(path: Path) -> tuple[ast.AST, ...]:
    return syntax_trees()[path]


def parse(path: Path) -> ast.Module:
    module = syntax_nodes(path)[0]
    assert isinstance(module, ast.Module)
    return module


def room(module: str) -> str:
    """The room of a module, as FLOORS names it. Inner rooms belong to their room."""
    path = ROOT.joinpath(*module.split("."))
    folder = module if path.is_dir() else module.rpartition(".")[0]
    return ".".join(folder.split(".")[:2])


def in_each(paths: Sequence[Path]) -> Callable[[Callable[[Path], None]], Callable[[], None]]:
    """Turn a check of one file into one test of all files that names each file that fails."""

    def one_test(check: Callable[[Path], None]) -> Callable[[], None]:
        def test() -> None:
            failures = []
            for path in paths:
                try:
                    check(path)
                except AssertionError as failure:
                    failures.append(f"{module_name(path)}: {failure}")
            assert not failures, "\n".join(failures)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return one_test
