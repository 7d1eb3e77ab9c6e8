"""Numbers with a name in the modules of a package: bounds, times and sizes that no other test need repeat."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def module_numbers(package: str) -> dict[str, dict[str, float]]:
    """The numbers of the modules below a folder, such as "ros2_node/control", by module and name.

    A number is what a module's text assigns to a name in capitals, as a literal or an expression of literals.
    """
    folder, found = ROOT / package, {}
    for file in sorted(folder.rglob("*.py")):
        numbers = dict(_numbers(ast.parse(file.read_text())))
        if numbers:
            name = ".".join(file.relative_to(folder).with_suffix("").parts)
            found[name] = numbers
    return found


def _numbers(module: ast.Module) -> Iterator[tuple[str, float]]:
    for node in module.body:
        if not isinstance(node, ast.Assign):
            continue
        (target,) = node.targets
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        for each, value in pairs:
            if isinstance(each, ast.Name) and each.id.isupper() and _is_number(value):
                yield each.id, eval(ast.unparse(value))


def _is_number(node: ast.AST) -> bool:
    """True for literals of numbers, and for sums, products, shifts and powers of such."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.BinOp) and _is_number(node.left) and _is_number(node.right)
