"""The shape of ros2_node: what is free of ROS stays free of it, and imports point one way."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "ros2_node"
MODULES = {path.stem: path for path in FOLDER.glob("*.py") if path.stem != "__init__"}
FREE = (
    "settings",
    "clock",
    "joint_states",
    "references",
    "torque_output",
    "dynamics",
    "robot",
    "report",
    "fleet",
    "models",
)
ORDER = (*FREE, "parameters", "topics", "display", "diagnostics", "node", "state_source", "plant", "processes", "demo")
"""Each may import those before it."""


def imports(name):
    """(modules of ros2_node, other packages) that a module imports, inside functions too."""
    ours, others = set(), set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            ours |= {node.module} if node.module else {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            others.add(str(node.module).split(".")[0])
        elif isinstance(node, ast.Import):
            others |= {alias.name.split(".")[0] for alias in node.names}
    return ours, others


def test_every_module_has_its_place():
    assert sorted(ORDER) == sorted(MODULES)


@pytest.mark.parametrize("name", ORDER)
def test_imports_point_one_way(name):
    ours, _ = imports(name)
    assert ours <= set(ORDER[: ORDER.index(name)]), ours


@pytest.mark.parametrize("name", FREE)
def test_the_core_needs_numpy_and_warpdyn_only(name):
    import sys

    _, others = imports(name)
    assert others - set(sys.stdlib_module_names) <= {"numpy", "warpdyn", "warp"}


@pytest.mark.parametrize("name", ORDER)
def test_modules_are_short(name):
    assert len(MODULES[name].read_text().splitlines()) <= 500
